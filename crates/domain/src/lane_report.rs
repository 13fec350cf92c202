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
mod tests;
