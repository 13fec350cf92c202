//! How a lane's far end has been doing lately, as far as conclusions need it.

use domain::{
    Failure, Seq, Timestamp,
    retry::{DOWN_AFTER_FAILURES, DOWN_AFTER_ROWS, spread},
};
use std::{collections::BTreeSet, time::Duration};

/// Failures of the far end in a row, and over how many rows; how often in a row it wanted less; and how many rows were
/// postponed to the same moment.
#[derive(Debug, Default)]
pub(super) struct LaneHistory {
    failures: u32,
    rows: BTreeSet<Seq>,
    throttles: u32,
    postponed: Option<(Timestamp, u64)>,
}

impl LaneHistory {
    /// Answers how often it was throttled in a row before this, and whether it is to be held as down.
    pub fn failed(&mut self, seq: Seq, failure: &Failure) -> (u32, bool) {
        let throttles = self.throttles;
        if failure.is_throttled() {
            // It answers: that it wants less says nothing about whether it is well.
            self.throttles = throttles.saturating_add(1);
            return (throttles, false);
        }
        self.failures = self.failures.saturating_add(1);
        if self.rows.len() < DOWN_AFTER_ROWS {
            self.rows.insert(seq);
        }
        let down = self.failures >= DOWN_AFTER_FAILURES && self.rows.len() >= DOWN_AFTER_ROWS;
        if down {
            (self.failures, self.rows) = (0, BTreeSet::new());
        }
        (throttles, down)
    }

    /// It is well. Answers whether there is nothing else to remember.
    pub fn answered(&mut self) -> bool {
        *self = Self {
            postponed: self.postponed,
            ..Self::default()
        };
        self.postponed.is_none()
    }

    /// One more row comes back at this moment. Answers how much later.
    pub fn postponed(&mut self, until: Timestamp, per_second: Option<f64>) -> Duration {
        let number = match self.postponed {
            Some((known, number)) if known == until => number.saturating_add(1),
            _ => 0,
        };
        self.postponed = Some((until, number));
        spread(number, per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Scope;

    #[test]
    fn a_lane_is_down_after_five_failures_over_three_rows_and_throttling_is_none() {
        let silent = Failure::ambiguous(Scope::Lane, "TIMEOUT", "");
        let slow = Failure::transient(Scope::Lane, "RATE_LIMITED", "");
        let mut lane = LaneHistory::default();
        for n in 0..50 {
            assert_eq!(lane.failed(Seq(n), &slow), (n as u32, false));
        }
        let down: Vec<_> = [1, 2, 1, 2, 1, 2, 3]
            .map(|n| lane.failed(Seq(n), &silent).1)
            .to_vec();
        assert_eq!(down, [false, false, false, false, false, false, true]);
        assert!(!lane.failed(Seq(4), &silent).1, "it counts from the start again");
    }

    #[test]
    fn rows_that_come_back_at_one_moment_come_one_after_the_other() {
        let mut lane = LaneHistory::default();
        let at = Timestamp::from_millis(1_000);
        let waits: Vec<_> = (0..3)
            .map(|_| lane.postponed(at, Some(2.0)).as_millis())
            .collect();
        assert_eq!(waits, [0, 500, 1000]);
        assert_eq!(
            lane.postponed(Timestamp::from_millis(2_000), Some(2.0)),
            Duration::ZERO
        );
        assert_eq!(
            lane.postponed(Timestamp::from_millis(2_000), None),
            Duration::ZERO
        );
    }
}
