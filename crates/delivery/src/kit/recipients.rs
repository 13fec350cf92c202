//! One attempt over several recipients, with a result for each.

use crate::adapter::{Attempt, Deadline, Stop};
use domain::{Accepted, Failure, Outcome, RecipientReport, Scope};
use std::time::Duration;

/// The results so far of an attempt that asks for one recipient after the other.
#[derive(Debug)]
pub(crate) struct PerRecipient {
    reports: Vec<RecipientReport>,
    /// A failure that would meet everybody else too.
    stopped: bool,
    stop: Stop,
    deadline: Deadline,
    /// What one request may take.
    of_one: Duration,
}

impl PerRecipient {
    /// A request that may take longer than half of the time is given half: otherwise one alone would be asked for.
    pub fn of(attempt: &Attempt, timeout: Duration) -> Self {
        Self {
            reports: vec![],
            stopped: false,
            stop: attempt.stop.clone(),
            deadline: attempt.deadline,
            of_one: timeout.min(attempt.deadline.left() / 2),
        }
    }

    /// Nobody else is to be asked for: the far end as a whole has failed, somebody says so, or there is less time left than a
    /// request may take, so that its end would look like the far end's silence. They stay as they are.
    pub fn is_over(&self) -> bool {
        let has_to_end = || self.stop.is_set() || self.deadline.left() < self.of_one;
        self.stopped || (!self.reports.is_empty() && has_to_end())
    }

    pub fn add(&mut self, address: &str, result: Result<Accepted, Failure>) {
        if let Err(failure) = &result {
            self.stopped |= failure.scope == Scope::Lane || failure.hold.is_some();
        }
        self.reports.push(RecipientReport {
            address: address.to_owned(),
            result,
        });
    }

    /// `of`: how many there were to ask for.
    pub fn conclude(self, of: usize) -> Outcome {
        match self.reports.len() < of {
            true => Outcome::Mixed(self.reports),
            false => conclude(self.reports),
        }
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

    fn long() -> Attempt {
        Deadline::after(Duration::from_secs(90)).into()
    }

    fn nobody_yet() -> PerRecipient {
        PerRecipient::of(&long(), Duration::from_secs(15))
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
        for failure in [silent, refused] {
            let mut results = nobody_yet();
            assert!(!results.is_over());
            results.add("a", Err(failure.clone()));
            assert!(results.is_over());
            let Outcome::Mixed(reports) = results.conclude(2) else {
                panic!("nothing is said about who was not asked for")
            };
            assert_eq!(reports.len(), 1);
        }
        let mut results = nobody_yet();
        results.add(
            "a",
            Err(Failure::permanent(Scope::Recipient, "RECIPIENT", "who?")),
        );
        assert!(!results.is_over());
    }

    #[tokio::test(start_paused = true)]
    async fn who_would_not_get_the_time_of_a_request_is_left_for_another_attempt() {
        let mut results = nobody_yet();
        tokio::time::advance(Duration::from_secs(80)).await;
        assert!(!results.is_over(), "one is always asked for");
        results.add("a", Ok(took("1")));
        assert!(results.is_over(), "ten seconds are left");
        let Outcome::Mixed(reports) = results.conclude(2) else {
            panic!("nothing is said about who was not asked for")
        };
        assert_eq!(reports.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_longer_than_an_attempt_does_not_leave_one_recipient_to_each() {
        let mut results = PerRecipient::of(&long(), Duration::MAX);
        results.add("a", Ok(took("1")));
        tokio::time::advance(Duration::from_secs(44)).await;
        assert!(!results.is_over());
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(results.is_over());
    }

    #[tokio::test]
    async fn nobody_else_is_asked_for_once_the_far_end_is_to_be_left_alone() {
        let attempt = long();
        let mut results = PerRecipient::of(&attempt, Duration::from_secs(15));
        results.add("a", Ok(took("1")));
        assert!(!results.is_over());
        attempt.stop.set();
        assert!(results.is_over());
        let Outcome::Mixed(reports) = results.conclude(2) else {
            panic!("nothing is said about who was not asked for")
        };
        assert_eq!(reports.len(), 1);
    }

    #[tokio::test]
    async fn everybody_keeps_an_id_of_their_own() {
        let mut results = nobody_yet();
        results.add("a", Ok(took("1")));
        results.add("b", Ok(took("2")));
        let Outcome::Mixed(reports) = results.conclude(2) else {
            panic!("two ids do not fit into one")
        };
        assert_eq!(reports[1].result, Ok(took("2")));
        let mut one = nobody_yet();
        one.add("a", Ok(took("1")));
        assert_eq!(one.conclude(1), Outcome::Delivered(took("1")));
    }
}
