//! Why a notification waits, and until when. Said the same way by the API, the command line and the console.

use crate::{Hold, Timestamp, code};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// What keeps a notification from going out just now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub reason: WaitReason,
    /// The far end's words, the operator's or this node's.
    pub detail: Option<String>,
    /// When it is tried next; none when that is up to a person, or to what stands before it.
    pub until: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitReason {
    /// Its sender said when.
    Scheduled,
    /// An attempt failed; the next one has its time.
    Retry,
    /// Its provider is held.
    Held,
    /// The far end asked for a pause.
    Throttled,
    /// Such messages go out at certain hours only.
    Hours,
    /// The service does not send its template for the time being.
    Template,
    /// This node cannot open its provider's secrets.
    Secrets,
    /// It is being sent.
    Sending,
    /// It is due and goes out when its turn comes.
    Queued,
}

impl WaitReason {
    pub const ALL: [WaitReason; 9] = [
        WaitReason::Scheduled,
        WaitReason::Retry,
        WaitReason::Held,
        WaitReason::Throttled,
        WaitReason::Hours,
        WaitReason::Template,
        WaitReason::Secrets,
        WaitReason::Sending,
        WaitReason::Queued,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            WaitReason::Scheduled => "scheduled",
            WaitReason::Retry => "retry",
            WaitReason::Held => "held",
            WaitReason::Throttled => "throttled",
            WaitReason::Hours => "hours",
            WaitReason::Template => "template",
            WaitReason::Secrets => "secrets",
            WaitReason::Sending => "sending",
            WaitReason::Queued => "queued",
        }
    }

    /// For people, as the end of "It waits: …".
    pub fn in_words(self) -> &'static str {
        match self {
            WaitReason::Scheduled => "its sender asked for a later time",
            WaitReason::Retry => "the last attempt failed",
            WaitReason::Held => "its provider is held",
            WaitReason::Throttled => "the far end asked for a pause",
            WaitReason::Hours => "such messages go out at certain hours only",
            WaitReason::Template => "the service has paused its template",
            WaitReason::Secrets => "the provider's secrets cannot be opened",
            WaitReason::Sending => "it is being sent",
            WaitReason::Queued => "it goes out when its turn comes",
        }
    }
}

impl fmt::Display for WaitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for WaitReason {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|r| r.as_str() == text)
            .ok_or_else(|| format!("unknown reason to wait {text:?}"))
    }
}

/// What is known about a row that has not ended, and about its lane.
#[derive(Debug, Clone, Copy)]
pub struct WaitFacts<'a> {
    pub now: Timestamp,
    pub due_at: Timestamp,
    /// Present while it is claimed.
    pub leased_until: Option<Timestamp>,
    pub attempts: u32,
    pub last_code: Option<&'a str>,
    pub hold: Option<&'a Hold>,
    /// Nothing is claimed from the lane before this.
    pub not_before: Option<Timestamp>,
    /// Why this node cannot open the provider's secrets, if it cannot.
    pub sealed: Option<&'a str>,
}

/// The reason that has to go first for the row to be tried.
pub fn why(facts: WaitFacts<'_>) -> Waiting {
    let WaitFacts { now, due_at, .. } = facts;
    if let Some(until) = facts.leased_until.filter(|until| *until > now) {
        return Waiting {
            reason: WaitReason::Sending,
            detail: None,
            until: Some(until),
        };
    }
    if let Some(hold) = facts.hold {
        let detail = match &hold.detail {
            Some(words) => format!("{}: {words}", hold.in_words()),
            None => hold.in_words().into_owned(),
        };
        return Waiting {
            reason: WaitReason::Held,
            detail: Some(detail),
            // What is not due is not what the lane is probed with.
            until: hold.next_probe.map(|probe| probe.max(due_at)),
        };
    }
    if let Some(why) = facts.sealed {
        return Waiting {
            reason: WaitReason::Secrets,
            detail: Some(why.to_owned()),
            until: None,
        };
    }
    if let Some(paused) = facts.not_before.filter(|at| *at > now && *at >= due_at) {
        return Waiting {
            reason: WaitReason::Throttled,
            detail: facts.last_code.map(str::to_owned),
            until: Some(paused),
        };
    }
    if due_at > now {
        let reason = match (facts.last_code, facts.attempts) {
            (Some(code::RATE_LIMITED), _) => WaitReason::Throttled,
            (Some(code::OUTSIDE_HOURS), _) => WaitReason::Hours,
            (Some(code::TEMPLATE), _) => WaitReason::Template,
            // A failure that is not counted leaves its code all the same: with one, it is not the sender who asked for later.
            (None, 0) => WaitReason::Scheduled,
            _ => WaitReason::Retry,
        };
        return Waiting {
            reason,
            detail: facts.last_code.map(str::to_owned),
            until: Some(due_at),
        };
    }
    Waiting {
        reason: WaitReason::Queued,
        detail: None,
        until: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HoldReason;
    use std::time::Duration;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
    const MINUTE: Duration = Duration::from_secs(60);

    fn due() -> WaitFacts<'static> {
        WaitFacts {
            now: NOW,
            due_at: NOW,
            leased_until: None,
            attempts: 0,
            last_code: None,
            hold: None,
            not_before: None,
            sealed: None,
        }
    }

    fn hold() -> Hold {
        Hold {
            reason: HoldReason::Auth,
            detail: Some("535".into()),
            since: NOW,
            next_probe: Some(NOW + MINUTE),
            probes: 0,
            by: None,
            code: None,
        }
    }

    #[test]
    fn whatever_is_in_the_way_is_named_with_its_time() {
        let hold = hold();
        let later = Some(NOW + MINUTE);
        let cases = [
            (due(), WaitReason::Queued, None),
            (
                WaitFacts {
                    due_at: NOW + MINUTE,
                    ..due()
                },
                WaitReason::Scheduled,
                later,
            ),
            (
                WaitFacts {
                    due_at: NOW + MINUTE,
                    attempts: 1,
                    ..due()
                },
                WaitReason::Retry,
                later,
            ),
            (
                WaitFacts {
                    hold: Some(&hold),
                    ..due()
                },
                WaitReason::Held,
                later,
            ),
            (
                WaitFacts {
                    not_before: later,
                    ..due()
                },
                WaitReason::Throttled,
                later,
            ),
            (
                WaitFacts {
                    not_before: Some(NOW),
                    ..due()
                },
                WaitReason::Queued,
                None,
            ),
            (
                WaitFacts {
                    sealed: Some("key 2"),
                    ..due()
                },
                WaitReason::Secrets,
                None,
            ),
            (
                WaitFacts {
                    leased_until: later,
                    ..due()
                },
                WaitReason::Sending,
                later,
            ),
            (
                WaitFacts {
                    leased_until: Some(NOW),
                    ..due()
                },
                WaitReason::Queued,
                None,
            ),
        ];
        for (facts, reason, until) in cases {
            let waiting = why(facts);
            assert_eq!((waiting.reason, waiting.until), (reason, until), "{facts:?}");
        }
    }

    #[test]
    fn only_what_nothing_has_happened_to_waits_for_the_time_its_sender_asked_for() {
        let reason = |last_code, attempts| {
            let facts = WaitFacts {
                due_at: NOW + MINUTE,
                attempts,
                last_code,
                ..due()
            };
            why(facts).reason
        };
        assert_eq!(reason(None, 0), WaitReason::Scheduled);
        for (code, expected) in [
            (code::TEMPLATE, WaitReason::Template),
            (code::RATE_LIMITED, WaitReason::Throttled),
            (code::OUTSIDE_HOURS, WaitReason::Hours),
            (code::AUTH_FAILED, WaitReason::Retry),
            (code::PROVIDER_ERROR, WaitReason::Retry),
        ] {
            assert_eq!(reason(Some(code), 0), expected, "{code}, which counted nothing");
            assert_eq!(reason(Some(code), 1), expected, "{code}");
        }
    }

    #[test]
    fn a_row_in_a_paused_lane_waits_for_the_later_of_its_two_times() {
        let facts = WaitFacts {
            due_at: NOW + 2 * MINUTE,
            attempts: 1,
            not_before: Some(NOW + MINUTE),
            ..due()
        };
        assert_eq!(why(facts).until, Some(NOW + 2 * MINUTE));
        assert_eq!(why(facts).reason, WaitReason::Retry);
    }

    #[test]
    fn a_row_in_a_held_lane_is_not_tried_before_it_is_due() {
        let hold = hold();
        let until = |due_at| {
            let facts = WaitFacts {
                due_at,
                hold: Some(&hold),
                ..due()
            };
            why(facts).until
        };
        assert_eq!(until(NOW + 2 * MINUTE), Some(NOW + 2 * MINUTE));
        assert_eq!(until(NOW), Some(NOW + MINUTE), "the probe");
    }

    #[test]
    fn the_words_of_a_hold_are_passed_on() {
        let hold = hold();
        let waiting = why(WaitFacts {
            hold: Some(&hold),
            ..due()
        });
        assert_eq!(
            waiting.detail.as_deref(),
            Some("the provider refuses our credentials: 535")
        );
    }
}
