//! Turns what an attempt taught us into what happens to the notification and to each of its recipients.
//!
//! Always true: a recipient who accepted stays accepted, whatever happens to the others; a notification with an
//! open recipient is never terminal; one without is.

mod tally;

use crate::{
    hold::HoldReason,
    outcome::{Accepted, Failure, Outcome, RecipientReport},
    recipient::{RecipientResult, RecipientState},
    retry::{AttemptFacts, Jitter, RetryPolicy},
    status::Status,
};
use std::time::Duration;
use tally::Tally;

/// The code of a notification that some recipients got and others never will.
pub const PARTIAL: &str = "PARTIAL";

/// The code of a notification whose place a newer one with the same key has taken.
pub const SUPERSEDED: &str = "SUPERSEDED";
pub const SUPERSEDED_IN_WORDS: &str =
    "a newer one with the same key came while it was being sent, and it failed";

pub const EXPIRED_IN_WORDS: &str = "its time had passed before it could be delivered";

/// Why a notification, or one of its recipients, is where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    pub code: String,
    /// The far end's own code.
    pub provider_code: Option<String>,
    /// In words.
    pub error: String,
}

impl Cause {
    pub fn new(code: impl Into<String>, error: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            provider_code: None,
            error: error.into(),
        }
    }
}

impl Cause {
    /// Why a recipient is where it is.
    pub fn of_result(result: &RecipientResult) -> Self {
        Self {
            code: result.code.clone().unwrap_or_default(),
            provider_code: result.provider_code.clone(),
            error: result.error.clone().unwrap_or_default(),
        }
    }
}

impl From<Failure> for Cause {
    fn from(failure: Failure) -> Self {
        Self {
            code: failure.code.into(),
            provider_code: failure.provider_code.map(Into::into),
            error: failure.detail,
        }
    }
}

/// What an attempt comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    pub ended: Ended,
    /// The lane is to be held for this, before the row goes back into it.
    pub hold: Option<HoldReason>,
    /// What became of each target of the attempt; empty where the notification has only one recipient.
    pub recipients: Vec<RecipientUpdate>,
}

/// How an attempt ended for its notification. Settled here, kept by the store.
#[derive(Debug, Clone, PartialEq)]
pub enum Ended {
    Delivered {
        provider_message_id: Option<String>,
    },
    Retry {
        after: Duration,
        unknown: bool,
        cause: Cause,
    },
    /// Comes again then, uncounted, with the reason shown: nobody was asked, or the far end only wanted less.
    Postpone {
        after: Duration,
        cause: Cause,
    },
    /// Back into its lane, due at once, uncounted, with the reason shown. The lane is held by another call.
    Wait {
        cause: Cause,
    },
    Park {
        cause: Cause,
    },
    /// Nobody is left to whom it may go, or a newer one has taken its place.
    Discard {
        cause: Cause,
    },
}

impl Ended {
    /// The status the row ends with, if it ends.
    pub fn status(&self) -> Option<Status> {
        match self {
            Self::Delivered { .. } => Some(Status::Delivered),
            Self::Park { .. } => Some(Status::Parked),
            Self::Discard { .. } => Some(Status::Discarded),
            Self::Retry { .. } | Self::Postpone { .. } | Self::Wait { .. } => None,
        }
    }

    /// The same attempt, after which the row waits for its lane instead of for its next try.
    pub fn waiting(self) -> Self {
        match self {
            Self::Retry { cause, .. } | Self::Postpone { cause, .. } => Self::Wait { cause },
            other => other,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecipientUpdate {
    pub address: String,
    pub state: RecipientState,
    pub provider_message_id: Option<String>,
    /// None for one who accepted.
    pub cause: Option<Cause>,
    /// It counts as a try.
    pub tried: bool,
    /// How long it is not asked for again, while it is open.
    pub wait: Option<Duration>,
}

/// Who an attempt was for, and what was known before it.
#[derive(Debug, Clone, Copy)]
pub struct Targets<'a> {
    /// Whom the attempt was made to.
    pub open: &'a [String],
    /// Others are open too, and not to be asked for yet: when the first of them is, and why not before.
    pub later: Option<&'a (Duration, Cause)>,
    /// What earlier attempts taught.
    pub known: &'a [RecipientResult],
    pub generation: i32,
    /// How many were left out, because they asked not to be written to.
    pub suppressed: usize,
}

impl Targets<'_> {
    fn any_accepted_before(&self) -> bool {
        self.known.iter().any(|r| r.state == RecipientState::Accepted)
    }

    /// Who will not get it in this generation, as far as is known.
    fn given_up(&self) -> impl Iterator<Item = &RecipientResult> {
        let given_up = [RecipientState::Failed, RecipientState::Ambiguous];
        let of_now = self.known.iter().filter(|r| r.generation == self.generation);
        of_now.filter(move |r| given_up.contains(&r.state))
    }

    fn any_ambiguous_before(&self) -> bool {
        self.given_up().any(|r| r.state == RecipientState::Ambiguous)
    }

    /// Which try of its own this is for a recipient; the row's, where none was kept.
    fn number(&self, address: &str, of_row: u32) -> u32 {
        let known = self.known.iter().find(|r| r.address == address);
        match known {
            Some(r) if r.generation == self.generation => r.tries.saturating_add(1),
            None if self.known.is_empty() => of_row,
            Some(_) | None => 1,
        }
    }

    /// Results are kept per recipient only where there is more than one.
    fn tracked(&self) -> bool {
        self.open.len() + self.known.len() + self.suppressed > 1 || self.later.is_some()
    }
}

/// The conclusion from one attempt.
pub fn settle(
    policy: &RetryPolicy,
    facts: AttemptFacts,
    targets: Targets<'_>,
    outcome: Outcome,
    jitter: Jitter,
) -> Settlement {
    let reports = match outcome {
        Outcome::Mixed(reports) => reports,
        Outcome::Delivered(accepted) => same_for_all(targets, || Ok(accepted.clone())),
        Outcome::Failed(failure) => same_for_all(targets, || Err(failure.clone())),
    };
    let rest_is_open = !targets.open.is_empty() && reports.len() < targets.open.len();
    let mut tally = Tally::new(rest_is_open);
    let mut recipients: Vec<RecipientUpdate> = reports
        .into_iter()
        .map(|report| {
            let number = targets.number(&report.address, facts.number);
            tally.add(policy, AttemptFacts { number, ..facts }, report, jitter)
        })
        .collect();
    let hold = tally.hold();
    let ended = tally.conclude(policy, targets);
    if ended.status().is_some() {
        debug_assert!(recipients.iter().all(|r| r.state != RecipientState::Open));
    }
    if !targets.tracked() {
        recipients.clear();
    }
    Settlement {
        ended,
        hold,
        recipients,
    }
}

/// A channel without recipients still has one far end; it is settled as a single target without a name.
fn same_for_all(
    targets: Targets<'_>,
    result: impl Fn() -> Result<Accepted, Failure>,
) -> Vec<RecipientReport> {
    if targets.open.is_empty() {
        return vec![RecipientReport {
            address: String::new(),
            result: result(),
        }];
    }
    targets
        .open
        .iter()
        .map(|address| RecipientReport {
            address: address.clone(),
            result: result(),
        })
        .collect()
}

/// Where nobody is left to send to: everybody on the list now has accepted, or some have failed for good, or were left
/// out because they asked for that (`suppressed`: the first of them).
pub fn settle_without_targets(
    known: &[RecipientResult],
    generation: i32,
    suppressed: Option<&RecipientUpdate>,
) -> Ended {
    let targets = Targets {
        open: &[],
        later: None,
        known,
        generation,
        suppressed: usize::from(suppressed.is_some()),
    };
    let left_out = suppressed.and_then(|update| update.cause.clone());
    match left_out {
        Some(cause) if targets.given_up().next().is_none() && !targets.any_accepted_before() => {
            Ended::Discard { cause }
        }
        _ => Tally::default().end(None, targets),
    }
}

#[cfg(test)]
mod tests;
