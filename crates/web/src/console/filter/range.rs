//! Times to choose from without typing.

use domain::{Timestamp, Zone};
use std::time::Duration;

/// Times to choose from without typing.
pub const RANGES: [(&str, &str, Range); 6] = [
    ("1h", "Last hour", Range::Last(Duration::from_secs(3600))),
    ("24h", "Last 24 hours", Range::Last(Duration::from_secs(86_400))),
    ("today", "Today", Range::Today),
    ("week", "This week", Range::ThisWeek),
    ("7d", "Last 7 days", Range::Last(Duration::from_secs(7 * 86_400))),
    (
        "30d",
        "Last 30 days",
        Range::Last(Duration::from_secs(30 * 86_400)),
    ),
];

/// Since when, seen from now. Days and weeks are the viewer's.
#[derive(Debug, Clone, Copy)]
pub enum Range {
    Last(Duration),
    Today,
    ThisWeek,
}

impl Range {
    pub(super) fn start(self, now: Timestamp, zone: &Zone) -> Timestamp {
        match self {
            Range::Last(length) => now - length,
            Range::Today => zone.start_of_day(now),
            Range::ThisWeek => zone.start_of_week(now),
        }
    }
}

pub(super) fn range(asked: &str) -> Option<Range> {
    let found = RANGES.iter().find(|(name, ..)| *name == asked);
    found.map(|(.., range)| *range)
}

pub(super) fn range_word(asked: &str) -> Option<&'static str> {
    let found = RANGES.iter().find(|(name, ..)| *name == asked);
    found.map(|(_, word, _)| *word)
}
