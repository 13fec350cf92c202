//! How many attempts a lane may have under way: grows while it answers, shrinks when it does not.

use crate::Timestamp;

/// A lane's window over its far end. One message makes the acquaintance; then it starts small, doubles with success up to
/// the lane's concurrency, and halves on a failure of the far end as a whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    size: f64,
    standing: Standing,
}

/// What is known of a far end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing yet.
    New,
    /// It answered last time.
    Answering,
    /// It did not.
    Failing,
}

const INITIAL_WINDOW: f64 = 4.0;

impl Default for Window {
    fn default() -> Self {
        Self {
            size: INITIAL_WINDOW,
            standing: Standing::New,
        }
    }
}

impl Window {
    pub fn size(&self, concurrency: u32) -> usize {
        match self.standing {
            Standing::New => 1,
            Standing::Answering | Standing::Failing => {
                (self.size as usize).clamp(1, concurrency.max(1) as usize)
            }
        }
    }

    pub fn standing(&self) -> Standing {
        self.standing
    }

    pub fn answered(&mut self, concurrency: u32) {
        self.standing = Standing::Answering;
        self.size = (self.size + 1.0).min(f64::from(concurrency.max(1)));
    }

    pub fn did_not_answer(&mut self) {
        self.standing = Standing::Failing;
        self.size = (self.size / 2.0).max(1.0);
    }
}

/// A token bucket on the clock it is given: `per_second` on average, bursts of at most one second's worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    per_second: f64,
    available: f64,
    at: Timestamp,
}

impl Rate {
    pub fn new(per_second: f64, now: Timestamp) -> Self {
        Self {
            per_second,
            available: per_second.max(1.0),
            at: now,
        }
    }

    /// Nothing is left, and not until now has any been gained.
    pub fn empty(&mut self, now: Timestamp) {
        (self.available, self.at) = (0.0, now);
    }

    pub fn per_second(&self) -> f64 {
        self.per_second
    }

    /// How many may start now.
    pub fn available(&mut self, now: Timestamp) -> usize {
        let gained = now.since(self.at).as_secs_f64() * self.per_second;
        self.available = (self.available + gained).min(self.per_second.max(1.0));
        self.at = self.at.max(now);
        self.available as usize
    }

    pub fn take(&mut self, n: usize) {
        self.available -= n as f64;
    }

    /// What was taken and not used.
    pub fn give_back(&mut self, n: usize) {
        self.available = (self.available + n as f64).min(self.per_second.max(1.0));
    }

    /// When the next one may start.
    pub fn next(&self) -> Timestamp {
        let missing = (1.0 - self.available).max(0.0) / self.per_second;
        self.at
            + std::time::Duration::from_secs_f64(missing.min(86_400.0))
            + std::time::Duration::from_millis(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_window_grows_with_answers_and_halves_without() {
        let mut window = Window::default();
        assert_eq!(window.size(32), 1, "one makes the acquaintance");
        window.answered(32);
        assert_eq!(window.size(32), 5);
        (0..100).for_each(|_| window.answered(32));
        assert_eq!(window.size(32), 32);
        window.did_not_answer();
        assert_eq!(window.size(32), 16);
        (0..10).for_each(|_| window.did_not_answer());
        assert_eq!(window.size(32), 1);
    }

    #[test]
    fn a_rate_gives_out_no_more_than_its_average_and_one_seconds_burst() {
        let start = Timestamp::from_millis(0);
        let mut rate = Rate::new(10.0, start);
        assert_eq!(rate.available(start), 10);
        rate.take(10);
        assert_eq!(rate.available(start), 0);
        assert!(rate.next() > start && rate.next() <= start + Duration::from_millis(101));
        assert_eq!(rate.available(start + Duration::from_millis(500)), 5);
        assert_eq!(rate.available(start + Duration::from_secs(60)), 10);
    }

    #[test]
    fn a_rate_below_one_a_second_still_lets_one_through_in_time() {
        let mut rate = Rate::new(0.5, Timestamp::from_millis(0));
        assert_eq!(rate.available(Timestamp::from_millis(0)), 1);
        rate.take(1);
        assert_eq!(rate.available(Timestamp::from_millis(1_000)), 0);
        assert_eq!(rate.available(rate.next()), 1);
    }
}
