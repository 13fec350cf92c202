//! Where a notification stands, and the only place that allows or refuses a change of that.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The lifecycle. `Forwarding` is answered by a site for what is still in its buffer and is never stored centrally.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Status {
    Forwarding,
    Pending,
    Retrying,
    Delivered,
    Parked,
    Discarded,
}

/// What can happen to a notification at central.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// An attempt succeeded for every recipient.
    Deliver,
    /// An attempt failed and another one is due later.
    Retry,
    /// An attempt failed and no other one will be made.
    Park,
    /// A success that became known after its lease was lost, or by a receipt.
    DeliverLate,
    /// A receipt says that somebody who had accepted does not have it.
    FailLate,
    /// An operator sends a parked notification round again.
    Requeue,
    /// An operator gives a parked notification up.
    Discard,
    /// A person cancels, or a newer notification supersedes, one that still waits.
    Cancel,
    /// Everybody it was for has asked not to be written to.
    Suppress,
    /// Its provider is in trouble, and the next one of its channel has it from the start.
    Move,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a {from} notification cannot {change:?}")]
pub struct Illegal {
    pub from: Status,
    pub change: Change,
}

impl Status {
    /// The statuses a row at central can have.
    pub const CENTRAL: [Status; 5] = [
        Status::Pending,
        Status::Retrying,
        Status::Delivered,
        Status::Parked,
        Status::Discarded,
    ];

    /// The status after the change, or a refusal.
    ///
    /// The stores do not call it: a statement that changes many rows names the states it expects, and finds out by the
    /// rows it did not change. That those are the same states on both databases, the model test of `store` holds against
    /// this table, for all but [`Change::Move`]; that one, superseding and expiring have cases of their own. What a person is
    /// offered is decided by it ([`Status::allows`]).
    pub fn apply(self, change: Change) -> Result<Status, Illegal> {
        use Status::{Delivered, Discarded, Parked, Pending, Retrying};
        match (self, change) {
            (Pending | Retrying, Change::Deliver | Change::DeliverLate) => Ok(Delivered),
            (Pending | Retrying, Change::Retry) => Ok(Retrying),
            (Pending | Retrying, Change::Park) => Ok(Parked),
            (Pending | Retrying, Change::Cancel | Change::Suppress) => Ok(Discarded),
            (Pending | Retrying, Change::Move) => Ok(Pending),
            (Parked, Change::DeliverLate) => Ok(Delivered),
            (Delivered, Change::FailLate) => Ok(Parked),
            (Parked, Change::Requeue) => Ok(Pending),
            (Parked, Change::Discard) => Ok(Discarded),
            (from, change) => Err(Illegal { from, change }),
        }
    }

    /// Whether the change can be made now.
    pub fn allows(self, change: Change) -> bool {
        self.apply(change).is_ok()
    }

    /// Nothing more happens by itself. Only such rows are ever purged.
    pub fn is_terminal(self) -> bool {
        matches!(self, Status::Delivered | Status::Parked | Status::Discarded)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Status::Forwarding => "Forwarding",
            Status::Pending => "Pending",
            Status::Retrying => "Retrying",
            Status::Delivered => "Delivered",
            Status::Parked => "Parked",
            Status::Discarded => "Discarded",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown status {0:?}; known are Pending, Retrying, Delivered, Parked, Discarded")]
pub struct UnknownStatus(pub String);

impl FromStr for Status {
    type Err = UnknownStatus;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::CENTRAL
            .into_iter()
            .find(|s| s.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownStatus(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CHANGES: [Change; 10] = [
        Change::Deliver,
        Change::Retry,
        Change::Park,
        Change::DeliverLate,
        Change::FailLate,
        Change::Requeue,
        Change::Discard,
        Change::Cancel,
        Change::Suppress,
        Change::Move,
    ];

    #[test]
    fn discarded_never_changes_again_and_delivered_only_by_a_receipt() {
        for from in [Status::Delivered, Status::Discarded] {
            for change in CHANGES {
                let allowed = from == Status::Delivered && change == Change::FailLate;
                assert_eq!(from.allows(change), allowed, "{from} {change:?}");
            }
        }
    }

    #[test]
    fn only_a_parked_row_is_requeued_or_discarded() {
        for from in Status::CENTRAL {
            assert_eq!(from.apply(Change::Requeue).is_ok(), from == Status::Parked);
            assert_eq!(from.apply(Change::Discard).is_ok(), from == Status::Parked);
        }
    }

    proptest! {
        #[test]
        fn no_sequence_of_changes_leaves_the_five_statuses(steps in prop::collection::vec(0..CHANGES.len(), 0..40)) {
            let mut status = Status::Pending;
            for step in steps {
                let was = status;
                status = status.apply(CHANGES[step]).unwrap_or(status);
                prop_assert!(Status::CENTRAL.contains(&status));
                prop_assert!(was != Status::Discarded || was == status);
                let failed_late = CHANGES[step] == Change::FailLate;
                prop_assert!(was != Status::Delivered || was == status || failed_late);
            }
        }
    }
}
