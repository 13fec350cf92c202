//! The results of one attempt, recipient by recipient, and how the notification ends with them.

use super::{Cause, Ended, PARTIAL, RecipientUpdate, Targets};
use crate::{
    code::{AMBIGUOUS, TIMEOUT},
    hold::HoldReason,
    outcome::{Accepted, Failure, FailureKind, RecipientReport},
    recipient::RecipientState,
    retry::{AttemptFacts, Jitter, ParkReason, RetryPolicy, Verdict, human},
};
use std::time::Duration;

/// What the results of an attempt's recipients come to together.
#[derive(Default)]
pub(super) struct Tally {
    accepted: Option<Accepted>,
    /// With the number of the try that was the last.
    failed: Option<(ParkReason, Failure, AttemptFacts)>,
    ambiguous: bool,
    retry: Option<(Duration, Failure)>,
    unknown: bool,
    postpone: Option<(Duration, Failure)>,
    wait: Option<(HoldReason, Failure)>,
    /// After a failure of the whole far end the others were not asked for.
    rest_is_open: bool,
}

/// The earliest of the wanted times: who asked for more patience keeps a time of its own.
fn earliest(known: &mut Option<(Duration, Failure)>, after: Duration, failure: Failure) {
    if known.as_ref().is_none_or(|(earlier, _)| after < *earlier) {
        *known = Some((after, failure));
    }
}

impl Tally {
    pub fn new(rest_is_open: bool) -> Self {
        Self {
            rest_is_open,
            ..Self::default()
        }
    }

    /// What the lane is to be held for.
    pub fn hold(&self) -> Option<HoldReason> {
        self.wait.as_ref().map(|(reason, _)| *reason)
    }

    pub fn add(
        &mut self,
        policy: &RetryPolicy,
        facts: AttemptFacts,
        report: RecipientReport,
        jitter: Jitter,
    ) -> RecipientUpdate {
        let RecipientReport { address, result } = report;
        let mut update = RecipientUpdate {
            address,
            state: RecipientState::Accepted,
            provider_message_id: None,
            cause: None,
            tried: true,
            wait: None,
        };
        let failure = match result {
            Ok(accepted) => {
                update.provider_message_id = accepted.provider_message_id.clone();
                self.accepted.get_or_insert(accepted);
                return update;
            }
            Err(failure) => failure,
        };
        update.cause = Some(failure.clone().into());
        update.state = RecipientState::Open;
        match policy.decide(facts, &failure, jitter) {
            Verdict::Park(reason) => {
                let ambiguous = reason == ParkReason::Ambiguous;
                self.ambiguous |= ambiguous;
                self.failed.get_or_insert((reason, failure, facts));
                update.state = match ambiguous {
                    true => RecipientState::Ambiguous,
                    false => RecipientState::Failed,
                };
            }
            Verdict::Retry { after } => {
                self.unknown |= failure.kind == FailureKind::Unknown;
                update.wait = Some(after);
                earliest(&mut self.retry, after, failure);
            }
            Verdict::Postpone { after } => {
                (update.tried, update.wait) = (false, Some(after));
                earliest(&mut self.postpone, after, failure);
            }
            Verdict::Wait { reason } => {
                update.tried = false;
                self.wait.get_or_insert((reason, failure));
            }
        }
        update
    }

    pub fn conclude(mut self, policy: &RetryPolicy, targets: Targets<'_>) -> Ended {
        if let Some((_, failure)) = self.wait {
            let cause = failure.into();
            return Ended::Wait { cause };
        }
        let later = targets.later.map(|(after, _)| *after);
        let postponed = self.postpone.as_ref().map(|(after, _)| *after);
        if let Some((after, failure)) = self.retry {
            return Ended::Retry {
                after: [later, postponed]
                    .into_iter()
                    .flatten()
                    .fold(after, Duration::min),
                unknown: self.unknown,
                cause: failure.into(),
            };
        }
        if let Some((after, failure)) = self.postpone {
            return Ended::Postpone {
                after: later.map_or(after, |later| later.min(after)),
                cause: failure.into(),
            };
        }
        if self.rest_is_open {
            return self.rest(policy);
        }
        if let Some((after, cause)) = targets.later {
            return Ended::Postpone {
                after: *after,
                cause: cause.clone(),
            };
        }
        let failed = self.failed.take();
        self.end(failed, targets)
    }

    /// For those who were not asked for: as soon as one who was would be asked again.
    fn rest(self, policy: &RetryPolicy) -> Ended {
        match self.failed {
            Some((_, failure, _)) => Ended::Postpone {
                after: policy.after_stop(&failure),
                cause: failure.into(),
            },
            None => Ended::Postpone {
                after: Duration::ZERO,
                cause: Cause::new(TIMEOUT, "it was broken off before everybody's turn"),
            },
        }
    }

    /// Nobody is open any more.
    pub fn end(self, failed: Option<(ParkReason, Failure, AttemptFacts)>, targets: Targets<'_>) -> Ended {
        let some_accepted = self.accepted.is_some() || targets.any_accepted_before();
        let ambiguous = self.ambiguous || targets.any_ambiguous_before();
        let code = |own: &str| match (some_accepted, ambiguous) {
            (true, _) => PARTIAL.to_owned(),
            (false, true) => AMBIGUOUS.to_owned(),
            (false, false) => own.to_owned(),
        };
        if let Some((reason, failure, facts)) = failed {
            let error = explain(reason, facts, &failure);
            let code = code(&failure.code);
            // What is no longer the code is the closest thing to the far end's own.
            let own = Some(failure.code).filter(|known| *known != code);
            let cause = Cause {
                code,
                provider_code: failure.provider_code.or(own).map(Into::into),
                error,
            };
            return Ended::Park { cause };
        }
        if let Some(earlier) = targets.given_up().next() {
            let error = earlier.error.clone();
            let error = error.unwrap_or_else(|| "a recipient failed for good".into());
            let cause = Cause {
                code: code(PARTIAL),
                provider_code: earlier.provider_code.clone().or_else(|| earlier.code.clone()),
                error,
            };
            return Ended::Park { cause };
        }
        Ended::Delivered {
            provider_message_id: self.accepted.unwrap_or_default().provider_message_id,
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
                human(Duration::from_secs(facts.age.as_secs()))
            )
        }
        ParkReason::UnknownAnswer => {
            format!("no rule for this answer, and another try did not help: {detail}")
        }
        ParkReason::Ambiguous => format!("it is not known whether the far end took it: {detail}"),
    }
}
