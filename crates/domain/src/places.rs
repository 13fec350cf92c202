//! How many connections a server holds at once, in all and from one network: a program that is out of file descriptors can
//! neither deliver nor write.
//!
//! Leaves to others: taking connections, and who has no share because it speaks for others.
//! Always true: one network takes no more than its share; what is kept is no larger than what is connected.

use crate::lock::lock;
use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex},
};

/// Whom an address stands for. In IPv6 whoever has one address has 2^64 of them.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(four) => IpAddr::V4(four),
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() & (u128::MAX << 64))),
    }
}

/// The places there are.
#[derive(Debug)]
pub struct Places {
    all: usize,
    per_network: usize,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// By whose they are; who has none is not in it.
    by_network: HashMap<IpAddr, usize>,
}

impl Places {
    pub fn new(all: usize, per_network: usize) -> Arc<Self> {
        Arc::new(Self {
            all,
            per_network,
            taken: Mutex::default(),
        })
    }

    /// A place, if there is one. Without `from` no share is looked at: for the machine itself, and for proxies.
    pub fn enter(self: &Arc<Self>, from: Option<IpAddr>) -> Option<Place> {
        let share = from.map(network);
        let mut taken = lock(&self.taken);
        let here = share.map_or(0, |share| taken.by_network.get(&share).copied().unwrap_or(0));
        if taken.all >= self.all || here >= self.per_network {
            return None;
        }
        taken.all += 1;
        if let Some(share) = share {
            taken.by_network.insert(share, here + 1);
        }
        Some(Place {
            places: self.clone(),
            share,
        })
    }
}

/// A connection's place, as long as it is held.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    share: Option<IpAddr>,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = lock(&self.places.taken);
        taken.all = taken.all.saturating_sub(1);
        if let Some(share) = self.share
            && let Some(here) = taken.by_network.get_mut(&share)
        {
            *here = here.saturating_sub(1);
            if *here == 0 {
                taken.by_network.remove(&share);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_network_has_its_share_and_all_together_have_so_many() {
        let places = Places::new(8, 2);
        let mut held = vec![];
        for (from, there_is) in [
            (Some("203.0.113.7"), true),
            (Some("::ffff:203.0.113.7"), true),
            (Some("203.0.113.7"), false),
            (Some("203.0.113.8"), true),
            (Some("2001:db8::1"), true),
            (Some("2001:db8::2"), true),
            (Some("2001:db8::3"), false),
            (Some("2001:db8:0:1::3"), true),
            (None, true),
            (None, true),
            (None, false),
        ] {
            let place = places.enter(from.map(|text| text.parse().unwrap()));
            assert_eq!(place.is_some(), there_is, "{from:?}");
            held.extend(place);
        }
        drop(held);
        let taken = lock(&places.taken);
        assert_eq!((taken.all, taken.by_network.len()), (0, 0));
    }
}
