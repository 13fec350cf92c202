//! How often somebody may get a password wrong. Counted on each node, by name, by address and by both together: who
//! guesses is stopped soon, and nobody can keep somebody else out by guessing under their name.

use domain::Timestamp;
use std::{
    collections::{HashMap, VecDeque},
    net::IpAddr,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Wrong tries count for this long.
pub const WINDOW: Duration = Duration::from_secs(5 * 60);
/// Wrong tries of one name from one address.
pub const PER_PAIR: usize = 5;
/// Wrong tries from one address, whatever the name.
pub const PER_ADDRESS: usize = 20;
/// Wrong tries of one name, wherever they come from.
pub const PER_NAME: usize = 50;
/// Whom to remember at once; beyond it the oldest are forgotten.
const REMEMBERED: usize = 20_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Who {
    Pair(String, Option<IpAddr>),
    Address(IpAddr),
    Name(String),
}

#[derive(Debug, Default)]
pub struct Throttle(Mutex<HashMap<Who, VecDeque<Timestamp>>>);

impl Throttle {
    /// None: go ahead. Otherwise how long to wait.
    pub fn wait(&self, name: &str, address: Option<IpAddr>, now: Timestamp) -> Option<Duration> {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut longest = None;
        for (who, most) in all(name, address) {
            let Some(times) = tries.get_mut(&who) else {
                continue;
            };
            times.retain(|at| now.since(*at) < WINDOW);
            if times.len() >= most
                && let Some(first) = times.get(times.len() - most)
            {
                longest = longest.max(Some((*first + WINDOW).since(now)));
            }
        }
        longest
    }

    pub fn failed(&self, name: &str, address: Option<IpAddr>, now: Timestamp) {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tries.len() >= REMEMBERED {
            tries.retain(|_, times| times.back().is_some_and(|at| now.since(*at) < WINDOW));
        }
        if tries.len() >= REMEMBERED {
            tries.clear();
        }
        for (who, most) in all(name, address) {
            let times = tries.entry(who).or_default();
            if times.len() >= most {
                times.pop_front();
            }
            times.push_back(now);
        }
    }

    /// Who got in is no longer suspected; the address still is, for the other names it tried.
    pub fn succeeded(&self, name: &str, address: Option<IpAddr>) {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tries.remove(&Who::Pair(name.to_lowercase(), address));
    }
}

fn all(name: &str, address: Option<IpAddr>) -> Vec<(Who, usize)> {
    let name = name.to_lowercase();
    let mut all = vec![
        (Who::Pair(name.clone(), address), PER_PAIR),
        (Who::Name(name), PER_NAME),
    ];
    all.extend(address.map(|address| (Who::Address(address), PER_ADDRESS)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1)));
    const THERE: Option<IpAddr> = Some(IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2)));

    #[test]
    fn a_few_wrong_tries_stop_the_guesser_and_not_the_guessed() {
        let (throttle, now) = (Throttle::default(), Timestamp::from_millis(1_000_000));
        for n in 0..PER_PAIR {
            assert_eq!(throttle.wait("ann", HERE, now), None, "{n}");
            throttle.failed("Ann", HERE, now);
        }
        assert_eq!(throttle.wait("ann", HERE, now), Some(WINDOW));
        assert_eq!(throttle.wait("ann", THERE, now), None);
        assert_eq!(throttle.wait("bob", HERE, now), None);
        let later = now + Duration::from_secs(60);
        assert_eq!(
            throttle.wait("ann", HERE, later),
            Some(WINDOW - Duration::from_secs(60))
        );
        assert_eq!(throttle.wait("ann", HERE, now + WINDOW), None);
    }

    #[test]
    fn one_address_cannot_try_every_name() {
        let (throttle, now) = (Throttle::default(), Timestamp::EPOCH);
        for n in 0..PER_ADDRESS {
            throttle.failed(&format!("name {n}"), HERE, now);
        }
        assert!(throttle.wait("ann", HERE, now).is_some());
        assert_eq!(throttle.wait("ann", THERE, now), None);
    }

    #[test]
    fn who_gets_in_starts_afresh() {
        let (throttle, now) = (Throttle::default(), Timestamp::EPOCH);
        for _ in 0..PER_PAIR - 1 {
            throttle.failed("ann", HERE, now);
        }
        throttle.succeeded("ANN", HERE);
        throttle.failed("ann", HERE, now);
        assert_eq!(throttle.wait("ann", HERE, now), None);
    }
}
