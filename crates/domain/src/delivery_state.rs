//! Where a notification stands in the five words that outboxes elsewhere use, beside our own [`Status`].

use crate::{AuditKind, AuditStatus, Status, WaitReason};
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryState {
    /// It waits.
    Pending,
    /// An attempt is under way.
    Sending,
    /// A far end took it.
    Sent,
    /// An attempt failed; said of attempts only, because the notification itself waits for the next one or is dead.
    Failed,
    /// Parked or discarded: nothing more happens by itself.
    Dead,
}

impl DeliveryState {
    pub const ALL: [Self; 5] = [Self::Pending, Self::Sending, Self::Sent, Self::Failed, Self::Dead];

    /// Of a notification, and what it waits for while it does.
    pub fn of(status: Status, waiting: Option<WaitReason>) -> Self {
        match status {
            Status::Delivered => Self::Sent,
            Status::Parked | Status::Discarded => Self::Dead,
            Status::Forwarding | Status::Pending | Status::Retrying => match waiting {
                Some(WaitReason::Sending) => Self::Sending,
                _ => Self::Pending,
            },
        }
    }

    /// Of a line in the log; none where it is not an attempt.
    pub fn of_logged(kind: AuditKind, status: AuditStatus, code: Option<&str>) -> Option<Self> {
        match (kind, status, code) {
            (AuditKind::NotifyDeliver, AuditStatus::Attempted, None) => Some(Self::Sent),
            (AuditKind::NotifyDeliver, AuditStatus::Attempted, Some(_)) => Some(Self::Failed),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Failed => "failed",
            Self::Dead => "dead",
        }
    }
}

impl fmt::Display for DeliveryState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_and_every_attempt_has_one_of_the_five_words() {
        for (status, waiting, state) in [
            (Status::Pending, Some(WaitReason::Queued), DeliveryState::Pending),
            (Status::Pending, Some(WaitReason::Sending), DeliveryState::Sending),
            (Status::Retrying, Some(WaitReason::Retry), DeliveryState::Pending),
            (
                Status::Retrying,
                Some(WaitReason::Sending),
                DeliveryState::Sending,
            ),
            (Status::Delivered, None, DeliveryState::Sent),
            (Status::Parked, None, DeliveryState::Dead),
            (Status::Discarded, None, DeliveryState::Dead),
        ] {
            assert_eq!(DeliveryState::of(status, waiting), state, "{status} {waiting:?}");
        }
        let logged = |status, code| DeliveryState::of_logged(AuditKind::NotifyDeliver, status, code);
        assert_eq!(
            logged(AuditStatus::Attempted, Some("TIMEOUT")),
            Some(DeliveryState::Failed)
        );
        assert_eq!(logged(AuditStatus::Attempted, None), Some(DeliveryState::Sent));
        assert_eq!(logged(AuditStatus::Parked, Some("TIMEOUT")), None);
        for state in DeliveryState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        }
    }
}
