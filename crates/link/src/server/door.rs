//! How many connections there may be at central's door: all together, and of strangers, who have not been let in yet.
//!
//! Always true: a stranger, or one address with many connections, takes no place from a site that has been let in, and
//! no more than its share from those that come.

use domain::{lock::lock, places::network};
use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

/// Connections in all.
const CONNECTIONS: usize = 4096;
/// Of those, by strangers; from one address, or network of IPv6 (a hundred sites behind one gateway come back together).
const STRANGERS: usize = 512;
const STRANGERS_PER_ADDRESS: usize = 128;

#[derive(Debug, Default)]
pub(super) struct Door(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    all: usize,
    strangers: usize,
    /// Strangers by where they come from; who has none is not in it.
    by_address: HashMap<IpAddr, usize>,
}

/// A connection's place, as long as it is held.
#[derive(Debug)]
pub(crate) struct Place {
    door: Arc<Door>,
    from: IpAddr,
    let_in: AtomicBool,
}

impl Door {
    /// A place for a stranger; none when there are too many.
    pub fn enter(self: &Arc<Self>, from: IpAddr) -> Option<Place> {
        let from = network(from);
        let mut counts = self.lock();
        let here = counts.by_address.get(&from).copied().unwrap_or(0);
        if counts.all >= CONNECTIONS || counts.strangers >= STRANGERS || here >= STRANGERS_PER_ADDRESS {
            return None;
        }
        counts.all += 1;
        counts.strangers += 1;
        counts.by_address.insert(from, here + 1);
        Some(Place {
            door: self.clone(),
            from,
            let_in: AtomicBool::new(false),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        lock(&self.0)
    }
}

impl Counts {
    fn stranger_gone(&mut self, from: IpAddr) {
        self.strangers = self.strangers.saturating_sub(1);
        if let Some(here) = self.by_address.get_mut(&from) {
            *here = here.saturating_sub(1);
            if *here == 0 {
                self.by_address.remove(&from);
            }
        }
    }
}

impl Place {
    /// It is no stranger any more.
    pub fn let_in(&self) {
        if !self.let_in.swap(true, Ordering::AcqRel) {
            self.door.lock().stranger_gone(self.from);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.door.lock();
        counts.all = counts.all.saturating_sub(1);
        if !*self.let_in.get_mut() {
            counts.stranger_gone(self.from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    fn from(n: usize) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from_bits(n as u32))
    }

    #[test]
    fn one_address_has_its_share_of_the_strangers_and_leaves_the_rest_to_others() {
        let door = Arc::new(Door::default());
        let mut places: Vec<_> = (0..STRANGERS_PER_ADDRESS)
            .map(|_| door.enter(from(1)).unwrap())
            .collect();
        assert!(door.enter(from(1)).is_none());
        places.extend((STRANGERS_PER_ADDRESS..STRANGERS).map(|n| door.enter(from(n)).unwrap()));
        assert!(door.enter(from(9_999)).is_none());
        places.iter().for_each(Place::let_in);
        assert!(
            door.enter(from(1)).is_some(),
            "who has been let in is no stranger"
        );
        places.clear();
        let counts = door.lock();
        assert_eq!((counts.all, counts.strangers, counts.by_address.len()), (0, 0, 0));
    }

    #[test]
    fn all_addresses_of_one_ipv6_network_have_one_share() {
        let door = Arc::new(Door::default());
        let of = |network: u128, n: usize| {
            IpAddr::V6(Ipv6Addr::from_bits(
                (0x2001_0db8 << 96) | (network << 64) | n as u128,
            ))
        };
        let places: Vec<_> = (0..STRANGERS_PER_ADDRESS)
            .map(|n| door.enter(of(1, n)).unwrap())
            .collect();
        assert!(door.enter(of(1, STRANGERS_PER_ADDRESS)).is_none());
        assert!(door.enter(of(2, 0)).is_some());
        drop(places);
        assert!(door.lock().by_address.is_empty());
    }

    #[test]
    fn there_are_so_many_connections_and_not_one_more() {
        let door = Arc::new(Door::default());
        let places: Vec<_> = (0..CONNECTIONS)
            .map(|n| {
                let place = door.enter(from(n)).unwrap();
                place.let_in();
                place
            })
            .collect();
        assert!(door.enter(from(0)).is_none());
        drop(places);
        assert!(door.enter(from(0)).is_some());
    }
}
