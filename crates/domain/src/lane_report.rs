//! What a lane is doing, in words. Made here and nowhere else: the API, the command line, the console and `doctor` pass it on.
//!
//! Leaves to others: how times are shown, each surface in its own way.

mod advice;
mod last_attempts;

use crate::{Hold, HoldReason, Timestamp};
use advice::{failing_advice, hold_advice, unsealing};
pub use last_attempts::{LAST_ATTEMPTS, LastAttempts};
use std::fmt;

/// Our own code for a far end whose address we do not connect to.
pub const ADDRESS_REFUSED: &str = "ADDRESS_REFUSED";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LaneState {
    /// Nothing waits, and nothing is known to be wrong.
    Idle,
    Sending,
    /// Most of the last attempts failed.
    Failing,
    /// The far end asked for less.
    Throttled,
    /// This node cannot open its provider's secrets.
    Sealed,
    Held,
    /// Its provider is switched off.
    Disabled,
}

impl LaneState {
    pub const ALL: [LaneState; 7] = [
        LaneState::Idle,
        LaneState::Sending,
        LaneState::Failing,
        LaneState::Throttled,
        LaneState::Sealed,
        LaneState::Held,
        LaneState::Disabled,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            LaneState::Idle => "idle",
            LaneState::Sending => "sending",
            LaneState::Failing => "failing",
            LaneState::Throttled => "throttled",
            LaneState::Sealed => "sealed",
            LaneState::Held => "held",
            LaneState::Disabled => "disabled",
        }
    }
}

impl fmt::Display for LaneState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is known about a lane.
#[derive(Debug, Clone, Copy)]
pub struct LaneFacts<'a> {
    pub now: Timestamp,
    /// Empty where there was none to route to.
    pub provider: &'a str,
    pub waiting: u64,
    pub hold: Option<&'a Hold>,
    /// Why this node cannot open the provider's secrets, if it cannot.
    pub sealed: Option<&'a str>,
    /// Nothing is claimed from it before this.
    pub not_before: Option<Timestamp>,
    pub last: &'a LastAttempts,
    /// The rate its settings allow.
    pub per_second: Option<f64>,
}

/// What a lane is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneReport {
    pub state: LaneState,
    /// Why it is so, for people, without a full stop: what follows the state.
    pub words: String,
    /// The far end's words, the operator's or this node's.
    pub detail: Option<String>,
    pub since: Option<Timestamp>,
    /// When it goes on, or is tried; none when that is up to a person.
    pub until: Option<Timestamp>,
    /// What helps; none where nothing is wrong.
    pub advice: Option<String>,
}

impl LaneReport {
    pub fn of(facts: LaneFacts<'_>) -> Self {
        if let Some(hold) = facts.hold {
            return held(facts.provider, hold);
        }
        let plain = |state, words: String| Self {
            state,
            words,
            detail: None,
            since: None,
            until: None,
            advice: None,
        };
        if let Some(why) = facts.sealed {
            return Self {
                detail: Some(why.to_owned()),
                advice: Some(unsealing(facts.provider)),
                ..plain(
                    LaneState::Sealed,
                    "this node cannot open the provider's secrets".into(),
                )
            };
        }
        if let Some(until) = facts.not_before.filter(|until| *until > facts.now) {
            return Self {
                until: Some(until),
                advice: Some(
                    "It goes on by itself. If it comes often, a limit helps (limits.perSecond of the provider)."
                        .into(),
                ),
                ..plain(LaneState::Throttled, throttled(facts.last))
            };
        }
        if facts.last.is_failing() {
            return Self {
                advice: Some(failing_advice(facts.provider)),
                ..plain(LaneState::Failing, failing(facts.last))
            };
        }
        match (facts.waiting, facts.per_second) {
            (0, _) => plain(LaneState::Idle, "nothing waits".into()),
            (_, Some(rate)) => plain(
                LaneState::Sending,
                format!("what is due goes out, at most {rate} per second, as its settings say"),
            ),
            (_, None) => plain(LaneState::Sending, "what is due goes out".into()),
        }
    }

    /// Whether somebody has to look: something does not go out, or fails when it does.
    pub fn is_wrong(&self, waiting: u64) -> bool {
        match self.state {
            LaneState::Idle | LaneState::Sending => false,
            // One that somebody stopped and forgot is found before anything waits for it; one that is switched off is meant so.
            LaneState::Failing | LaneState::Held => true,
            LaneState::Throttled | LaneState::Sealed | LaneState::Disabled => waiting > 0,
        }
    }
}

fn held(provider: &str, hold: &Hold) -> LaneReport {
    LaneReport {
        state: match hold.reason {
            HoldReason::Disabled => LaneState::Disabled,
            _ => LaneState::Held,
        },
        words: hold.in_words().into_owned(),
        detail: hold.detail.clone(),
        since: Some(hold.since),
        until: hold.next_probe,
        advice: Some(hold_advice(provider, hold)),
    }
}

/// `4 of the last 5 attempts failed (HTTP_503)`
fn failing(last: &LastAttempts) -> String {
    let (failed, of) = (last.failed(), last.count());
    let code = last.code().unwrap_or_default();
    format!("{failed} of the last {of} attempts failed ({code})")
}

fn throttled(last: &LastAttempts) -> String {
    let asked = "the far end asked for less";
    match last.code() {
        Some(code) => format!("{asked} ({code})"),
        None => asked.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
    const MINUTE: Duration = Duration::from_secs(60);

    fn last(codes: &[Option<&str>]) -> LastAttempts {
        let mut last = LastAttempts::default();
        for code in codes {
            last.add(code.map(|_| "PROVIDER_ERROR".into()), code.map(str::to_owned));
        }
        last
    }

    fn hold(reason: HoldReason) -> Hold {
        Hold {
            reason,
            detail: Some("said so".into()),
            since: NOW,
            next_probe: reason.is_probed().then_some(NOW + MINUTE),
            probes: 0,
            by: None,
            code: None,
        }
    }

    fn facts(last: &LastAttempts) -> LaneFacts<'_> {
        LaneFacts {
            now: NOW,
            provider: "mail",
            waiting: 7,
            hold: None,
            sealed: None,
            not_before: None,
            last,
            per_second: None,
        }
    }

    fn words(facts: LaneFacts<'_>) -> (LaneState, String) {
        let report = LaneReport::of(facts);
        (report.state, report.words)
    }

    #[test]
    fn a_lane_without_trouble_sends_or_has_nothing_to_send() {
        let none = LastAttempts::default();
        assert_eq!(
            words(facts(&none)),
            (LaneState::Sending, "what is due goes out".into())
        );
        let slow = LaneFacts {
            per_second: Some(0.5),
            ..facts(&none)
        };
        assert_eq!(
            words(slow).1,
            "what is due goes out, at most 0.5 per second, as its settings say"
        );
        let idle = LaneFacts {
            waiting: 0,
            ..facts(&none)
        };
        assert_eq!(words(idle), (LaneState::Idle, "nothing waits".into()));
        assert!(!LaneReport::of(idle).is_wrong(0));
        let well_again = last(&[None, None, None, Some("HTTP_503"), Some("HTTP_503")]);
        assert_eq!(words(facts(&well_again)).0, LaneState::Sending);
    }

    #[test]
    fn a_lane_that_fails_says_how_often_and_with_what() {
        let down = Some("HTTP_503");
        let bad = last(&[down, Some("TIMEOUT"), None, down, down, None, None]);
        let failing = facts(&bad);
        assert_eq!(
            words(failing),
            (
                LaneState::Failing,
                "4 of the last 5 attempts failed (HTTP_503)".into()
            )
        );
        assert!(
            LaneReport::of(failing).is_wrong(0),
            "also when all of them are parked by now"
        );
        assert_eq!(
            words(facts(&last(&[down]))).0,
            LaneState::Sending,
            "once is nothing"
        );
    }

    #[test]
    fn what_is_wrong_with_messages_and_recipients_is_not_held_against_the_lane() {
        let mut wrong_numbers = LastAttempts::default();
        for _ in 0..LAST_ATTEMPTS {
            wrong_numbers.add(Some("RECIPIENT".into()), Some("SMTP_550_5.1.1".into()));
        }
        assert_eq!(words(facts(&wrong_numbers)).0, LaneState::Sending);
        assert_eq!((wrong_numbers.failed(), wrong_numbers.code()), (0, None));
    }

    #[test]
    fn a_lane_that_was_asked_for_less_says_until_when_and_no_longer_than_that() {
        let asked = last(&[Some("RATE_LIMITED"), None, None]);
        let paused = LaneFacts {
            not_before: Some(NOW + MINUTE),
            ..facts(&asked)
        };
        let report = LaneReport::of(paused);
        assert_eq!(
            (report.state, &*report.words, report.until),
            (
                LaneState::Throttled,
                "the far end asked for less (RATE_LIMITED)",
                Some(NOW + MINUTE)
            )
        );
        assert!(report.is_wrong(7) && !report.is_wrong(0));
        let over = LaneFacts {
            now: NOW + MINUTE,
            ..paused
        };
        assert_eq!(words(over).0, LaneState::Sending);
    }

    #[test]
    fn a_hold_says_why_by_whom_and_what_helps() {
        let none = LastAttempts::default();
        let told = |hold: &Hold| {
            LaneReport::of(LaneFacts {
                hold: Some(hold),
                sealed: Some("whatever else is wrong"),
                ..facts(&none)
            })
        };
        for reason in HoldReason::ALL {
            let report = told(&hold(reason));
            assert_eq!(report.words, reason.in_words());
            assert_eq!(
                (report.since, report.detail.as_deref()),
                (Some(NOW), Some("said so"))
            );
            assert_eq!(report.until, reason.is_probed().then_some(NOW + MINUTE));
            assert!(report.advice.is_some() && report.is_wrong(1), "{reason}");
            assert_eq!(report.is_wrong(0), reason != HoldReason::Disabled, "{reason}");
        }
        let by_ann = |reason| Hold {
            by: Some("user:ann".into()),
            ..hold(reason)
        };
        assert_eq!(told(&by_ann(HoldReason::Operator)).words, "stopped by user:ann");
        let off = told(&by_ann(HoldReason::Disabled));
        assert_eq!(
            (off.state, &*off.words),
            (LaneState::Disabled, "switched off by user:ann")
        );
    }

    #[test]
    fn an_address_that_we_refuse_is_our_refusal_and_not_the_providers() {
        let none = LastAttempts::default();
        let line = "address 10.0.0.1 is not public; to allow it, add this to the configuration: \
                    delivery.allow_addresses = [\"10.0.0.1/32\"]";
        let refused = Hold {
            detail: Some(line.into()),
            code: Some(ADDRESS_REFUSED.into()),
            ..hold(HoldReason::Config)
        };
        let report = LaneReport::of(LaneFacts {
            hold: Some(&refused),
            ..facts(&none)
        });
        assert_eq!(report.words, "waypost refuses to connect to its address");
        assert_eq!(report.detail.as_deref(), Some(line));
        assert!(report.advice.unwrap().contains("Add the line"));
    }

    #[test]
    fn secrets_that_cannot_be_opened_are_told_of_with_what_opens_them() {
        let none = LastAttempts::default();
        let report = LaneReport::of(LaneFacts {
            sealed: Some("sealed with key 9f3a"),
            ..facts(&none)
        });
        assert_eq!(report.state, LaneState::Sealed);
        assert_eq!(report.detail.as_deref(), Some("sealed with key 9f3a"));
        let advice = report.advice.unwrap();
        assert!(advice.contains("secrets.previous") && advice.contains("waypost provider set mail"));
    }
}
