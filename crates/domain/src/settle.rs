//! Turns what an attempt taught us into what happens to the notification and to each of its recipients.
//!
//! Always true: a recipient who accepted stays accepted, whatever happens to the others; a notification with an
//! open recipient is never terminal; one without is.

use crate::{
    code::AMBIGUOUS,
    hold::HoldReason,
    outcome::{Accepted, Failure, FailureKind, Outcome, RecipientReport},
    recipient::{RecipientResult, RecipientState},
    retry::{AttemptFacts, Jitter, ParkReason, RetryPolicy, Verdict},
    status::Status,
};
use std::time::Duration;

/// The code of a notification that some recipients got and others never will.
pub const PARTIAL: &str = "PARTIAL";

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
    /// Back into its lane, due at once, uncounted, with the reason shown. The lane is held by another call.
    Wait {
        cause: Cause,
    },
    Park {
        cause: Cause,
    },
    /// Nobody is left to whom it may go.
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
            Self::Retry { .. } | Self::Wait { .. } => None,
        }
    }

    /// The same attempt, after which the row waits for its lane instead of for its next try.
    pub fn waiting(self) -> Self {
        match self {
            Self::Retry { cause, .. } => Self::Wait { cause },
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
}

/// Who an attempt was for, and what was known before it.
#[derive(Debug, Clone, Copy)]
pub struct Targets<'a> {
    /// Whom the attempt was made to.
    pub open: &'a [String],
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

    fn failed_before(&self) -> Option<&RecipientResult> {
        self.known
            .iter()
            .find(|r| r.state == RecipientState::Failed && r.generation == self.generation)
    }

    /// Results are kept per recipient only where there is more than one.
    fn tracked(&self) -> bool {
        self.open.len() + self.known.len() + self.suppressed > 1
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
    let mut tally = Tally::default();
    let mut recipients: Vec<RecipientUpdate> = reports
        .into_iter()
        .map(|report| tally.add(policy, facts, report, jitter))
        .collect();
    let hold = tally.wait.as_ref().map(|(reason, _)| *reason);
    let ended = tally.conclude(facts, targets);
    if let Ended::Park { .. } | Ended::Delivered { .. } = ended {
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

#[derive(Default)]
struct Tally {
    accepted: Option<Accepted>,
    failed: Option<(ParkReason, Failure)>,
    retry: Option<(Duration, Failure)>,
    wait: Option<(HoldReason, Failure)>,
}

impl Tally {
    fn add(
        &mut self,
        policy: &RetryPolicy,
        facts: AttemptFacts,
        report: RecipientReport,
        jitter: Jitter,
    ) -> RecipientUpdate {
        let RecipientReport { address, result } = report;
        let failure = match result {
            Ok(accepted) => {
                let provider_message_id = accepted.provider_message_id.clone();
                self.accepted.get_or_insert(accepted);
                let state = RecipientState::Accepted;
                return RecipientUpdate {
                    address,
                    state,
                    provider_message_id,
                    cause: None,
                };
            }
            Err(failure) => failure,
        };
        let cause = Some(failure.clone().into());
        let state = match policy.decide(facts, &failure, jitter) {
            Verdict::Park(reason) => {
                self.failed.get_or_insert((reason, failure));
                RecipientState::Failed
            }
            Verdict::Retry { after } => {
                // The latest of the wanted times, so that nobody who asked for patience is hurried.
                if self.retry.as_ref().is_none_or(|(known, _)| after > *known) {
                    self.retry = Some((after, failure));
                }
                RecipientState::Open
            }
            Verdict::Wait { reason } => {
                self.wait.get_or_insert((reason, failure));
                RecipientState::Open
            }
        };
        RecipientUpdate {
            address,
            state,
            provider_message_id: None,
            cause,
        }
    }

    fn conclude(self, facts: AttemptFacts, targets: Targets<'_>) -> Ended {
        if let Some((_, failure)) = self.wait {
            return Ended::Wait {
                cause: failure.into(),
            };
        }
        if let Some((after, failure)) = self.retry {
            let unknown = failure.kind == FailureKind::Unknown;
            return Ended::Retry {
                after,
                unknown,
                cause: failure.into(),
            };
        }
        let some_accepted = self.accepted.is_some() || targets.any_accepted_before();
        if let Some((reason, failure)) = self.failed {
            let error = explain(reason, facts, &failure);
            let code = match reason {
                _ if some_accepted => PARTIAL.to_owned(),
                ParkReason::Ambiguous => AMBIGUOUS.to_owned(),
                _ => failure.code.to_string(),
            };
            // What is no longer the code is the closest thing to the far end's own.
            let own = Some(failure.code).filter(|known| *known != code);
            let cause = Cause {
                code,
                provider_code: failure.provider_code.or(own).map(Into::into),
                error,
            };
            return Ended::Park { cause };
        }
        if let Some(earlier) = targets.failed_before() {
            let error = earlier
                .error
                .clone()
                .unwrap_or_else(|| "a recipient failed for good".into());
            let cause = Cause {
                provider_code: earlier.provider_code.clone().or_else(|| earlier.code.clone()),
                ..Cause::new(PARTIAL, error)
            };
            return Ended::Park { cause };
        }
        let accepted = self.accepted.unwrap_or_default();
        Ended::Delivered {
            provider_message_id: accepted.provider_message_id,
        }
    }
}

fn explain(reason: ParkReason, facts: AttemptFacts, failure: &Failure) -> String {
    let detail = &failure.detail;
    match reason {
        ParkReason::Permanent => detail.clone(),
        ParkReason::AttemptsExhausted => format!("gave up after {} attempts: {detail}", facts.number),
        ParkReason::TooOld => {
            format!(
                "gave up after {}: {detail}",
                crate::retry::human(Duration::from_secs(facts.age.as_secs()))
            )
        }
        ParkReason::UnknownAnswer => {
            format!("no rule for this answer, and another try did not help: {detail}")
        }
        ParkReason::Ambiguous => format!("it is not known whether the far end took it: {detail}"),
    }
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
        known,
        generation,
        suppressed: usize::from(suppressed.is_some()),
    };
    match targets.failed_before() {
        Some(_) => Tally::default().conclude(
            AttemptFacts {
                number: 0,
                unknowns: 0,
                age: Duration::ZERO,
                on_ambiguous: Default::default(),
            },
            targets,
        ),
        None => match suppressed.and_then(|update| update.cause.clone()) {
            Some(cause) if !targets.any_accepted_before() => Ended::Discard { cause },
            _ => Ended::Delivered {
                provider_message_id: None,
            },
        },
    }
}

#[cfg(test)]
#[path = "settle_tests.rs"]
mod tests;
