//! How often somebody may get a password wrong. Counted on each node, by name, by address and by both together.
//!
//! Always true: a try counts from when it begins, so that a hundred at once are not a hundred for nothing; who guesses is
//! stopped soon; guesses under a name, from however many addresses, only make sign-ins under it slower, because nobody
//! may keep somebody else out; what is remembered has a size, whatever is sent.

use domain::{Timestamp, lock::lock, places::network};
use std::{
    collections::{HashMap, VecDeque, hash_map::RandomState},
    hash::BuildHasher,
    net::IpAddr,
    sync::{Mutex, MutexGuard},
    time::Duration,
};

/// Wrong tries count for this long.
pub const COUNTING_WINDOW: Duration = Duration::from_secs(5 * 60);
/// Wrong tries of one name from one address.
pub const PER_PAIR: usize = 5;
/// Wrong tries from one address, whatever the name.
pub const PER_ADDRESS: usize = 20;
/// Wrong tries of one name, wherever they come from, before each further one is made to wait.
pub const PER_NAME: usize = 50;
/// By so much longer each, up to [`SLOWEST`].
const SLOWED_BY: Duration = Duration::from_millis(100);
const SLOWEST: Duration = Duration::from_secs(5);
/// Tries of one name that are told apart.
const COUNTED_PER_NAME: usize = 2 * PER_NAME;
/// Whom to remember at once; beyond it those who tried least are forgotten.
const THROTTLE_ENTRIES: usize = 20_000;

/// Who tries. Names are kept as hashes that only this process can make: they have a size, and no stranger can make two
/// names look the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Who {
    Pair(u64, Option<IpAddr>),
    Address(IpAddr),
    Name(u64),
}

impl Who {
    fn counted(self) -> usize {
        match self {
            Self::Pair(..) => PER_PAIR,
            Self::Address(_) => PER_ADDRESS,
            Self::Name(_) => COUNTED_PER_NAME,
        }
    }
}

#[derive(Debug, Default)]
pub struct Throttle {
    names: RandomState,
    tries: Mutex<HashMap<Who, VecDeque<Timestamp>>>,
}

/// A try that may be made, and counts as wrong unless it is told otherwise.
#[derive(Debug)]
pub struct Try {
    name: u64,
    address: Option<IpAddr>,
    at: Timestamp,
    /// How long to wait before it is answered.
    pub delay: Duration,
}

impl Throttle {
    /// Reserves a try, or says how long to wait for one.
    pub fn begin(&self, name: &str, address: Option<IpAddr>, now: Timestamp) -> Result<Try, Duration> {
        let name = self.names.hash_one(name.to_lowercase());
        let address = address.map(network);
        let mut tries = self.lock();
        let mut wait = None;
        for who in everyone(name, address) {
            let Some(times) = tries.get_mut(&who) else {
                continue;
            };
            times.retain(|at| now.since(*at) < COUNTING_WINDOW);
            let most = who.counted();
            let oldest = times.len().checked_sub(most).and_then(|first| times.get(first));
            if let (Who::Pair(..) | Who::Address(_), Some(oldest)) = (who, oldest) {
                wait = wait.max(Some((*oldest + COUNTING_WINDOW).since(now)));
            }
        }
        if let Some(wait) = wait {
            return Err(wait);
        }
        let before = tries.get(&Who::Name(name)).map_or(0, VecDeque::len);
        for who in everyone(name, address) {
            make_room(&mut tries, &who, now);
            let times = tries.entry(who).or_default();
            if times.len() >= who.counted() {
                times.pop_front();
            }
            times.push_back(now);
        }
        let beyond = (before + 1).saturating_sub(PER_NAME);
        let delay = SLOWED_BY.saturating_mul(u32::try_from(beyond).unwrap_or(u32::MAX));
        Ok(Try {
            name,
            address,
            at: now,
            delay: delay.min(SLOWEST),
        })
    }

    /// Who got in is no longer suspected; the address still is, for the other names it tried.
    pub fn succeeded(&self, one: &Try) {
        self.lock().remove(&Who::Pair(one.name, one.address));
        self.unmade(one);
    }

    /// Nobody can say whether it was wrong: it does not count.
    pub fn unmade(&self, one: &Try) {
        let mut tries = self.lock();
        for who in everyone(one.name, one.address) {
            let Some(times) = tries.get_mut(&who) else {
                continue;
            };
            if let Some(at) = times.iter().rposition(|at| *at == one.at) {
                times.remove(at);
            }
            if times.is_empty() {
                tries.remove(&who);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Who, VecDeque<Timestamp>>> {
        lock(&self.tries)
    }
}

fn everyone(name: u64, address: Option<IpAddr>) -> impl Iterator<Item = Who> {
    [Who::Pair(name, address), Who::Name(name)]
        .into_iter()
        .chain(address.map(Who::Address))
}

/// Forgets whoever tried least, and of those whoever did so first: a flood of new names does not wash out the one that
/// somebody is working on.
fn make_room(tries: &mut HashMap<Who, VecDeque<Timestamp>>, who: &Who, now: Timestamp) {
    if tries.len() < THROTTLE_ENTRIES || tries.contains_key(who) {
        return;
    }
    tries.retain(|_, times| times.back().is_some_and(|at| now.since(*at) < COUNTING_WINDOW));
    if tries.len() < THROTTLE_ENTRIES {
        return;
    }
    // Many at once, so that looking through all of them is seldom.
    let mut all: Vec<_> = tries
        .iter()
        .map(|(who, times)| (times.len(), times.back().copied(), *who))
        .collect();
    let (least, ..) = all.select_nth_unstable_by_key(THROTTLE_ENTRIES / 8, |(n, last, _)| (*n, *last));
    for (_, _, who) in least {
        tries.remove(who);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const HERE: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)));
    const THERE: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 2)));
    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    /// How long to wait for a try that is not made.
    fn wait(throttle: &Throttle, name: &str, address: Option<IpAddr>, now: Timestamp) -> Option<Duration> {
        let begun = throttle.begin(name, address, now);
        begun.map(|one| throttle.unmade(&one)).err()
    }

    fn v4(n: u32) -> Option<IpAddr> {
        Some(IpAddr::V4(Ipv4Addr::from_bits(n)))
    }

    #[test]
    fn a_few_wrong_tries_stop_the_guesser_and_not_the_guessed() {
        let throttle = Throttle::default();
        for n in 0..PER_PAIR {
            assert!(throttle.begin("Ann", HERE, NOW).is_ok(), "{n}");
        }
        assert_eq!(wait(&throttle, "ann", HERE, NOW), Some(COUNTING_WINDOW));
        assert_eq!(wait(&throttle, "ann", THERE, NOW), None);
        assert_eq!(wait(&throttle, "bob", HERE, NOW), None);
        let later = NOW + Duration::from_secs(60);
        let left = COUNTING_WINDOW - Duration::from_secs(60);
        assert_eq!(wait(&throttle, "ann", HERE, later), Some(left));
        assert_eq!(wait(&throttle, "ann", HERE, NOW + COUNTING_WINDOW), None);
    }

    #[test]
    fn tries_that_are_made_at_once_count_before_any_of_them_is_answered() {
        let throttle = Throttle::default();
        let begun = (0..100).filter(|_| throttle.begin("ann", HERE, NOW).is_ok());
        assert_eq!(begun.count(), PER_PAIR);
    }

    #[test]
    fn one_address_cannot_try_every_name() {
        let throttle = Throttle::default();
        for n in 0..PER_ADDRESS {
            throttle.begin(&format!("name {n}"), HERE, NOW).unwrap();
        }
        assert!(wait(&throttle, "ann", HERE, NOW).is_some());
        assert_eq!(wait(&throttle, "ann", THERE, NOW), None);
    }

    #[test]
    fn an_ipv6_network_is_one_address_and_a_mapped_ipv4_address_is_itself() {
        let throttle = Throttle::default();
        for n in 0..PER_ADDRESS {
            let one_of_many: IpAddr = format!("2001:db8:0:7::{n:x}").parse().unwrap();
            throttle
                .begin(&format!("name {n}"), Some(one_of_many), NOW)
                .unwrap();
        }
        let same: IpAddr = "2001:db8:0:7:ffff:ffff:ffff:ffff".parse().unwrap();
        let next: IpAddr = "2001:db8:0:8::1".parse().unwrap();
        assert!(wait(&throttle, "ann", Some(same), NOW).is_some());
        assert_eq!(wait(&throttle, "ann", Some(next), NOW), None);
        let mapped: IpAddr = "::ffff:192.0.2.1".parse().unwrap();
        (0..PER_PAIR).for_each(|_| drop(throttle.begin("bob", HERE, NOW)));
        assert!(wait(&throttle, "bob", Some(mapped), NOW).is_some());
    }

    #[test]
    fn guesses_from_everywhere_make_a_name_slow_and_never_keep_its_owner_out() {
        let throttle = Throttle::default();
        for n in 0..10_000 {
            let one = throttle.begin("ann", v4(n), NOW).unwrap();
            assert_eq!(one.delay.is_zero(), n < PER_NAME as u32, "{n}");
        }
        let own = throttle.begin("ann", HERE, NOW).unwrap();
        assert_eq!(own.delay, SLOWEST);
        throttle.succeeded(&own);
        assert!(
            throttle
                .begin("ann", HERE, NOW + COUNTING_WINDOW)
                .unwrap()
                .delay
                .is_zero()
        );
    }

    #[test]
    fn who_gets_in_starts_afresh() {
        let throttle = Throttle::default();
        for _ in 0..PER_PAIR - 1 {
            throttle.begin("ann", HERE, NOW).unwrap();
        }
        let right = throttle.begin("ANN", HERE, NOW).unwrap();
        throttle.succeeded(&right);
        throttle.begin("ann", HERE, NOW).unwrap();
        assert_eq!(wait(&throttle, "ann", HERE, NOW), None);
    }

    #[test]
    fn a_flood_of_names_and_addresses_takes_little_room_and_washes_nobody_out() {
        let throttle = Throttle::default();
        (0..PER_PAIR).for_each(|_| drop(throttle.begin("ann", HERE, NOW)));
        let long = "x".repeat(1 << 10);
        for n in 0..THROTTLE_ENTRIES as u32 {
            throttle.begin(&format!("{long}{n}"), v4(n), NOW).unwrap();
        }
        let tries = throttle.lock();
        let bytes: usize = tries
            .values()
            .map(|times| size_of::<Who>() + size_of_val(times) + times.capacity() * size_of::<Timestamp>())
            .sum();
        assert!(
            tries.len() <= THROTTLE_ENTRIES && bytes < 8 << 20,
            "{bytes} bytes"
        );
        drop(tries);
        assert!(wait(&throttle, "ann", HERE, NOW).is_some());
    }
}
