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
#[path = "recipients_tests.rs"]
mod tests;
