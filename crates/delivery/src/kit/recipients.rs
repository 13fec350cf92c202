//! One attempt over several recipients, with a result for each.

use crate::adapter::Deadline;
use domain::{Accepted, Failure, FailureKind, Outcome, RecipientReport, Scope};

/// The results so far of an attempt that asks for one recipient after the other.
#[derive(Debug, Default)]
pub(crate) struct PerRecipient {
    reports: Vec<RecipientReport>,
    /// A failure that would meet everybody else too.
    stopped: Option<Failure>,
}

impl PerRecipient {
    /// Why the next one need not be asked for: the far end as a whole has failed, or the time is over.
    pub fn need_not_ask(&self, deadline: Deadline) -> Option<Failure> {
        if let Some(failure) = &self.stopped {
            let mut failure = failure.clone();
            if failure.kind == FailureKind::Ambiguous {
                // For the one before it is not known; this one was certainly not asked for.
                failure.kind = FailureKind::Transient;
            }
            return Some(failure);
        }
        deadline.left().is_zero().then(|| {
            let words = "the time was over before this recipient's turn";
            Failure::transient(Scope::Message, "TIMEOUT", words)
        })
    }

    pub fn add(&mut self, address: &str, result: Result<Accepted, Failure>) {
        if let Err(failure) = &result
            && self.stopped.is_none()
            && (failure.scope == Scope::Lane || failure.hold.is_some())
        {
            self.stopped = Some(failure.clone());
        }
        self.reports.push(RecipientReport {
            address: address.to_owned(),
            result,
        });
    }

    pub fn conclude(self) -> Outcome {
        conclude(self.reports)
    }
}

/// What an attempt comes to that has asked for everybody. Ids are told one by one as soon as there are two.
pub(crate) fn conclude(reports: Vec<RecipientReport>) -> Outcome {
    match reports.first().map(|r| &r.result) {
        None => Failure::permanent(Scope::Message, "VALIDATION", "there is nobody to send it to").into(),
        Some(Ok(accepted)) if reports.iter().all(|r| r.result.as_ref() == Ok(accepted)) => {
            Outcome::Delivered(accepted.clone())
        }
        Some(Err(failure)) if reports.iter().all(|r| r.result.as_ref().err() == Some(failure)) => {
            Outcome::Failed(failure.clone())
        }
        _ => Outcome::Mixed(reports),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::HoldReason;
    use std::time::Duration;

    fn soon() -> Deadline {
        Deadline::after(Duration::from_secs(5))
    }

    fn took(id: &str) -> Accepted {
        Accepted {
            provider_message_id: Some(id.into()),
            detail: None,
        }
    }

    #[tokio::test]
    async fn after_a_failure_of_the_whole_far_end_nobody_else_is_asked_for() {
        let silent = Failure::ambiguous(Scope::Lane, "TIMEOUT", "no answer");
        let refused = Failure::permanent(Scope::Lane, "AUTH_FAILED", "no").holding(HoldReason::Auth);
        for (failure, kind) in [
            (silent, FailureKind::Transient),
            (refused, FailureKind::Permanent),
        ] {
            let mut results = PerRecipient::default();
            assert_eq!(results.need_not_ask(soon()), None);
            results.add("a", Err(failure.clone()));
            let next = results.need_not_ask(soon()).unwrap();
            assert_eq!((next.kind, &next.code), (kind, &failure.code));
        }
        let mut results = PerRecipient::default();
        results.add(
            "a",
            Err(Failure::permanent(Scope::Recipient, "RECIPIENT", "who?")),
        );
        assert_eq!(results.need_not_ask(soon()), None);
    }

    #[tokio::test]
    async fn when_the_time_is_over_the_rest_is_left_for_another_attempt() {
        let over = Deadline::after(Duration::ZERO);
        let failure = PerRecipient::default().need_not_ask(over).unwrap();
        assert_eq!(
            (failure.kind, failure.scope),
            (FailureKind::Transient, Scope::Message)
        );
    }

    #[test]
    fn everybody_keeps_an_id_of_their_own() {
        let mut results = PerRecipient::default();
        results.add("a", Ok(took("1")));
        results.add("b", Ok(took("2")));
        let Outcome::Mixed(reports) = results.conclude() else {
            panic!("two ids do not fit into one")
        };
        assert_eq!(reports[1].result, Ok(took("2")));
        let mut one = PerRecipient::default();
        one.add("a", Ok(took("1")));
        assert_eq!(one.conclude(), Outcome::Delivered(took("1")));
    }
}
