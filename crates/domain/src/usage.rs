//! What hangs on something that somebody is about to remove, in numbers and in words.

use crate::Timestamp;
use serde::{Deserialize, Serialize};

/// What would miss it if it were gone. Each is counted up to [`Usage::COUNTED`]; what it cannot have is 0.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    pub providers: u64,
    pub templates: u64,
    /// Of events, waiting for their time.
    pub schedules: u64,
    /// Notifications that wait, and that are parked.
    pub waiting: u64,
    pub parked: u64,
    /// As far as the newest rows tell.
    pub last_used_at: Option<Timestamp>,
}

impl Usage {
    /// Nobody counts further.
    pub const COUNTED: u64 = 1_000;

    /// "2 schedules that wait, 1 parked notification"; none where nothing hangs on it.
    pub fn words(&self) -> Option<String> {
        let counts = [
            (self.providers, "provider", "providers"),
            (self.templates, "template", "templates"),
            (self.schedules, "schedule that waits", "schedules that wait"),
            (self.waiting, "waiting notification", "waiting notifications"),
            (self.parked, "parked notification", "parked notifications"),
        ];
        let words = counts.into_iter().filter_map(|(n, one, several)| match n {
            0 => None,
            1 => Some(format!("1 {one}")),
            n if n >= Self::COUNTED => Some(format!("{} or more {several}", Self::COUNTED)),
            n => Some(format!("{n} {several}")),
        });
        let words: Vec<_> = words.collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_what_is_there_and_do_not_claim_to_have_counted_everything() {
        assert_eq!(Usage::default().words(), None);
        let some = Usage {
            templates: 1,
            schedules: 2,
            parked: Usage::COUNTED,
            ..Usage::default()
        };
        assert_eq!(
            some.words().as_deref(),
            Some("1 template, 2 schedules that wait, 1000 or more parked notifications")
        );
    }
}
