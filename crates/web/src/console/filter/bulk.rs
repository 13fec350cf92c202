//! What can be done to everything that a filter leaves.

use super::ListQuery;
use central::jobs::{Action, BulkFilter};
use domain::{Status, Timestamp};

impl ListQuery {
    /// The actions that can be done to all that match: those that would not be refused.
    pub fn actions(&self, now: Timestamp) -> Vec<Action> {
        let all = [Action::Retry, Action::Discard, Action::Cancel, Action::Resend];
        all.into_iter()
            .filter(|action| self.bulk(*action, now).is_ok())
            .collect()
    }

    fn leaves_for(&self, action: Action) -> bool {
        let asks = |status: Status| self.status.contains(&status);
        let any = self.status.is_empty();
        match action {
            Action::Retry | Action::Discard => !self.stuck && (any || asks(Status::Parked)),
            Action::Cancel => self.stuck || any || asks(Status::Pending) || asks(Status::Retrying),
            // Everything that was ever delivered is never meant by saying nothing.
            Action::Resend => {
                let ended = [Status::Delivered, Status::Parked, Status::Discarded];
                !self.stuck && ended.into_iter().any(asks)
            }
        }
    }

    /// The same for a bulk action; or why there can be none.
    pub fn bulk(&self, action: Action, now: Timestamp) -> Result<BulkFilter, String> {
        if !self.leaves_for(action) {
            return Err(match action {
                Action::Retry | Action::Discard => {
                    "Only parked notifications can be retried or discarded; the filter leaves them out."
                }
                Action::Cancel => "Only what still waits can be cancelled; the filter leaves it out.",
                Action::Resend => {
                    "Only what has ended can be sent again: choose Delivered, Parked or Discarded in the filter."
                }
            }
            .into());
        }
        if self.stuck {
            return Err("Stuck ones cannot be acted on as a whole; select rows instead.".into());
        }
        if let Some((one, _)) = self.by.given().find(|(one, _)| !one.bulk) {
            let by = one.label.to_lowercase();
            return Err(format!(
                "A filter by {by} cannot be acted on as a whole; select rows instead."
            ));
        }
        let ended =
            |status: &Status| matches!(status, Status::Delivered | Status::Parked | Status::Discarded);
        Ok(BulkFilter {
            ended_as: match action {
                Action::Resend => self.status.iter().copied().filter(ended).collect(),
                _ => vec![],
            },
            channel: self.channel,
            from: self.times.start(now),
            to: self.times.end(),
            keyword: self.q.clone(),
            id: None,
            by: self.by.clone(),
            as_of: None,
        })
    }
}
