//! Times for people: how long ago, and exactly when.

use client::Timestamp;
use domain::{Clock, SystemClock};
use std::time::Duration;

/// `3m ago (2026-01-31T12:00:00.000Z)`, or `in 40s (…)`.
pub fn full(at: Timestamp) -> String {
    format!("{} ({at})", short(at))
}

/// `3m ago`, or `in 40s`.
pub fn short(at: Timestamp) -> String {
    relative(at, SystemClock.now())
}

fn relative(at: Timestamp, now: Timestamp) -> String {
    match at > now {
        true => format!("in {}", roughly(at.since(now))),
        false => format!("{} ago", roughly(now.since(at))),
    }
}

/// A duration to its largest unit: `45s`, `3m`, `2h`, `5d`.
pub fn roughly(d: Duration) -> String {
    match d.as_secs() {
        0..=119 => format!("{}s", d.as_secs()),
        seconds @ 120..=7_199 => format!("{}m", seconds / 60),
        seconds @ 7_200..=172_799 => format!("{}h", seconds / 3_600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_told_in_their_largest_unit() {
        let now = Timestamp::from_millis(1_000_000_000);
        for (seconds, said) in [
            (5, "5s ago"),
            (300, "5m ago"),
            (10_000, "2h ago"),
            (400_000, "4d ago"),
        ] {
            assert_eq!(relative(now - Duration::from_secs(seconds), now), said);
        }
        assert_eq!(relative(now + Duration::from_secs(40), now), "in 40s");
    }
}
