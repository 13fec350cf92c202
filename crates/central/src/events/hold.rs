//! A source that does not answer is left alone until its next probe.
//!
//! Always true: several questions that fail together are one failure. The one that finds out sets the hold; the others were asked
//! before it.

use domain::{Timestamp, retry};
use std::time::Duration;

#[derive(Debug, Default)]
pub(super) struct Hold {
    failures: u32,
    until: Option<Timestamp>,
    why: String,
    /// How many were set before.
    number: u64,
}

impl Hold {
    /// Remembered by whoever asks: what was asked before the next hold tells nothing about the time after it.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// For how much longer, and why.
    pub fn rest(&self, now: Timestamp) -> Option<(Duration, String)> {
        let until = self.until.filter(|until| *until > now)?;
        Some((until.since(now), self.why.clone()))
    }

    /// Whether it is not known yet that the source answers again: then one question is enough to find out.
    pub fn is_probed(&self) -> bool {
        self.failures > 0
    }

    pub fn answered(&mut self) {
        self.failures = 0;
        self.until = None;
    }

    /// Answers with whether that was news. `now` is when it failed, not when it was asked.
    pub fn failed(&mut self, asked_in: u64, now: Timestamp, why: &str) -> bool {
        if asked_in != self.number {
            return false;
        }
        self.number += 1;
        self.failures = self.failures.saturating_add(1);
        self.until = Some(now + retry::probe_source(self.failures));
        why.clone_into(&mut self.why);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    #[test]
    fn questions_that_fail_together_are_one_failure() {
        let mut hold = Hold::default();
        let asked_in = hold.number();
        assert!(hold.failed(asked_in, at(10), "gone"));
        for _ in 0..15 {
            assert!(!hold.failed(asked_in, at(10), "gone"));
        }
        assert_eq!(hold.rest(at(10)), Some((Duration::from_secs(1), "gone".into())));
        assert_eq!(hold.rest(at(11)), None);
        assert!(hold.is_probed(), "nothing has answered yet");
        assert!(hold.failed(hold.number(), at(11), "gone"));
        let longer = hold.rest(at(11)).unwrap().0;
        assert_eq!(longer, retry::probe_source(2), "the probe counts");
        hold.answered();
        assert!(!hold.is_probed() && hold.rest(at(11)).is_none());
        assert!(!hold.failed(asked_in, at(12), "gone"), "old news");
    }
}
