//! What is not to be asked for in a lane just now, narrower than the lane: a recipient, a template.
//!
//! Leaves to others: how long (`domain::retry`), keeping it (`store`).
//! Always true: what is known here is as new as the claim it is used for, because every claim tells the version of its
//! lane's pauses; a lane that never had one costs nothing.

mod told;

pub(crate) use told::{lane_failure, narrow};

use domain::{LaneId, Scope, Timestamp, lock};
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    sync::{Arc, RwLock},
};
use store::Outbox;

/// What one lane's pauses were when it was last claimed from.
#[derive(Debug, Default)]
pub(crate) struct LanePauses {
    version: i64,
    until: HashMap<i64, Timestamp>,
}

impl From<store::outbox::Pauses> for LanePauses {
    fn from(found: store::outbox::Pauses) -> Self {
        Self {
            version: found.version,
            until: found.until.into_iter().collect(),
        }
    }
}

impl LanePauses {
    /// Until when this is not to be asked for, if it is paused now.
    pub fn until(&self, scope: Scope, name: &str, now: Timestamp) -> Option<Timestamp> {
        self.until
            .get(&key(scope, name))
            .copied()
            .filter(|until| *until > now)
    }
}

/// The pauses of all lanes this node has claimed from.
#[derive(Debug)]
pub(super) struct Pauses {
    store: Arc<dyn Outbox>,
    lanes: RwLock<HashMap<LaneId, Arc<LanePauses>>>,
}

impl Pauses {
    pub fn new(store: Arc<dyn Outbox>) -> Self {
        Self {
            store,
            lanes: RwLock::default(),
        }
    }

    /// The lane's pauses, as new as this version at least; none where there never was one.
    pub async fn of(&self, lane: LaneId, version: i64) -> store::Result<Option<Arc<LanePauses>>> {
        if version == 0 {
            return Ok(None);
        }
        let known = lock::read(&self.lanes).get(&lane).cloned();
        if let Some(known) = known.filter(|known| known.version >= version) {
            return Ok(Some(known));
        }
        let read = Arc::new(LanePauses::from(self.store.pauses(lane).await?));
        lock::write(&self.lanes).insert(lane, read.clone());
        Ok(Some(read))
    }
}

/// What stands for a recipient or a template in the store: its name may be long, and is nobody's business there.
fn key(scope: Scope, name: &str) -> i64 {
    let mut hash = Sha256::new();
    hash.update(match scope {
        Scope::Template => b"template\0".as_slice(),
        Scope::Message | Scope::Recipient | Scope::Lane => b"recipient\0",
    });
    hash.update(name.as_bytes());
    let digest = hash.finalize();
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_not_a_recipient_of_the_same_name() {
        assert_ne!(key(Scope::Template, "hot"), key(Scope::Recipient, "hot"));
    }
}
