//! How many live streams there may be: a stream costs a connection and a look at its owner every few seconds.

use crate::problem::{Code, Problem, Result};
use domain::{TenantId, lock::lock};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

/// Of one key or one session: a few people with many pages open.
pub const PER_LISTENER: usize = 32;
/// Of one tenant.
pub const PER_TENANT: usize = 250;
/// On one node.
pub const ON_NODE: usize = 1000;

/// The streams of this node. Clones count the same ones.
#[derive(Debug, Clone, Default)]
pub struct Streams(Arc<Mutex<HashMap<Listener, usize>>>);

type Listener = (TenantId, Arc<str>);

/// A stream's place, as long as it is held.
#[derive(Debug)]
pub struct Place {
    streams: Streams,
    listener: Listener,
}

impl Streams {
    /// A place for one more stream of this key or session.
    pub fn enter(&self, tenant: TenantId, listener: &Arc<str>) -> Result<Place> {
        let mut open = self.lock();
        let listener = (tenant, listener.clone());
        let (mut on_node, mut of_tenant) = (0, 0);
        for ((of, _), n) in open.iter() {
            on_node += n;
            of_tenant += if *of == tenant { *n } else { 0 };
        }
        let own = open.get(&listener).copied().unwrap_or(0);
        if own >= PER_LISTENER || of_tenant >= PER_TENANT || on_node >= ON_NODE {
            return Err(Problem::new(
                Code::TooMany,
                format!(
                    "a key or session may have {PER_LISTENER} live streams, a tenant {PER_TENANT}, a node {ON_NODE}"
                ),
            ));
        }
        open.insert(listener.clone(), own + 1);
        drop(open);
        Ok(Place {
            streams: self.clone(),
            listener,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Listener, usize>> {
        lock(&self.0)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.streams.lock();
        if let Some(n) = open.get_mut(&self.listener) {
            *n = n.saturating_sub(1);
            if *n == 0 {
                open.remove(&self.listener);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_a_tenant_and_a_node_have_so_many_streams_and_not_one_more() {
        let streams = Streams::default();
        let enter = |tenant: i32, who: usize| streams.enter(TenantId(tenant), &format!("key {who}").into());
        let mut places: Vec<_> = (0..PER_LISTENER).map(|_| enter(1, 0).unwrap()).collect();
        assert_eq!(enter(1, 0).unwrap_err().code, Code::TooMany);
        places.extend((PER_LISTENER..PER_TENANT).map(|n| enter(1, n).unwrap()));
        assert!(enter(1, 5_000).is_err());
        for n in PER_TENANT..ON_NODE {
            places.push(enter(2 + (n / PER_TENANT) as i32, n).unwrap());
        }
        assert!(enter(99, 0).is_err());
        places.clear();
        assert!(streams.lock().is_empty(), "what has ended takes no room");
        assert!(enter(1, 0).is_ok());
    }
}
