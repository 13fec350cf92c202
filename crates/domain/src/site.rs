//! What site and central both speak of: categories of buffered messages, where an operation stands, what a site
//! tells about it afterwards, and which database central keeps its rows in.
//!
//! Leaves to others: rows (`store`), the wire (`link`), when to try again (`retry`).

use crate::{AuditKind, Timestamp, TrackedOperationId, audit::names};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};
use uuid::Uuid;

names!(
    /// What a site buffers, told apart by where it goes. The facts about each are in `impl Category` below; whoever
    /// counts, lists or stores categories asks there.
    Category {
        /// An HTTP call to a named system.
        ExternalSystem,
        /// A notification on its way to central.
        Notification,
        /// A statement on a named database connection.
        CachedDbWrite,
    }
);

impl Category {
    /// Handed over to central, which delivers it. What is not is delivered from the site, by the handler that was
    /// registered for it, and tracked.
    pub fn is_forwarded(self) -> bool {
        self == Self::Notification
    }

    /// Those that handlers deliver.
    pub fn handled() -> impl Iterator<Item = Self> {
        Self::ALL
            .iter()
            .copied()
            .filter(|category| !category.is_forwarded())
    }

    /// The number in the column of a site's buffer: never another one, old files have it.
    pub fn number(self) -> usize {
        match self {
            Self::ExternalSystem => 0,
            Self::Notification => 1,
            Self::CachedDbWrite => 2,
        }
    }

    /// What news of it is called in central's audit log.
    pub fn audit_kind(self) -> AuditKind {
        match self {
            Self::ExternalSystem => AuditKind::CachedCall,
            Self::Notification => AuditKind::SiteParked,
            Self::CachedDbWrite => AuditKind::CachedWrite,
        }
    }
}

names!(
    /// Where a cached call or write stands. The last four are ends; an operator can send a parked one round again.
    OperationStatus {
        Submitted,
        Retrying,
        Delivered,
        Parked,
        /// Refused for good by the immediate attempt: nothing was buffered.
        Failed,
        Discarded,
    }
);

impl OperationStatus {
    pub fn is_terminal(self) -> bool {
        !matches!(self, Self::Submitted | Self::Retrying)
    }
}

names!(
    /// What happened to a cached call or write.
    OperationEvent {
        /// Accepted into the buffer without an attempt.
        Queued,
        Delivered,
        TransientFailure,
        PermanentFailure,
        /// The last try the budget allowed has failed.
        ParkedMaxRetries,
        /// Somebody sent a parked one round again.
        Retry,
        /// Somebody gave a parked one up.
        Discard,
    }
);

/// One thing that happened to a cached call or write at a site, and how it stands after that. Of a notification only
/// what central cannot know otherwise: that it was parked there, and what came of that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Telemetry {
    /// Names this piece of news within the site, for ever; news that arrives twice is written once.
    pub id: Uuid,
    pub operation: TrackedOperationId,
    /// Goes up with every piece of news of the same operation, whatever the clocks do: the highest one wins.
    pub revision: i64,
    pub category: Category,
    /// The system or connection.
    pub target: String,
    /// What was asked of it in a few words (`POST /orders`), without secrets.
    pub summary: Option<String>,
    pub event: OperationEvent,
    /// Where the operation stands after it.
    pub status: OperationStatus,
    pub retry_count: u32,
    pub error: Option<String>,
    pub http_status: Option<u16>,
    /// When the operation was accepted.
    pub created_at: Timestamp,
    pub occurred_at: Timestamp,
    pub duration_ms: Option<u32>,
    pub instance: Option<String>,
    pub script: Option<String>,
    pub node: Option<String>,
    pub execution: Option<String>,
    pub parent_execution: Option<String>,
    /// Who did it, when it was a person; otherwise the site itself.
    pub actor: Option<String>,
}

/// Which messages of a site's buffer. What is left out does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ParkedFilter {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    /// The list, system or connection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What the last error begins with, up to its colon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Parked at or after this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// Parked before this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Timestamp>,
    /// Not parked ones, but those that wait for a target the site no longer has.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
    /// As they were at this change of the site, which it names when it counts: what changed later is not meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

/// What to do with a parked message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParkedAction {
    Retry,
    Discard,
}

impl ParkedAction {
    pub fn word(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Discard => "discard",
        }
    }
}

/// What to do with a waiting message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitingAction {
    /// Attempt it now, whatever its due time says.
    Try,
    Discard,
}

impl WaitingAction {
    pub fn word(self) -> &'static str {
        match self {
            Self::Try => "try",
            Self::Discard => "discard",
        }
    }
}

names!(
    /// How a waiting message stands after somebody acted on it.
    WaitingStatus {
        Delivered,
        Retrying,
        Parked,
        /// A notification: it goes to central with the next batch.
        Forwarding,
        /// The attempt takes longer than whoever asked can be kept waiting; it goes on.
        Trying,
        Discarded,
    }
);

/// Which database central keeps its rows in. When it is not the one seen before (restored, failed over,
/// exchanged), what the earlier one acknowledged last may be missing and is sent again.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DatabaseIdentity {
    /// Minted once, when the database was made.
    pub id: Uuid,
    /// Changes whenever acknowledged rows may have been left behind: PostgreSQL's system, database and timeline;
    /// for the embedded file a fresh value every time it is opened for serving, because a copy that was put back
    /// looks like the original.
    pub epoch: String,
}

impl fmt::Display for DatabaseIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.id, self.epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back_in_any_case() {
        for c in Category::ALL {
            assert_eq!(c.as_str().to_lowercase().parse(), Ok(*c));
        }
        for s in OperationStatus::ALL {
            assert_eq!(s.as_str().parse(), Ok(*s));
        }
        for e in OperationEvent::ALL {
            assert_eq!(e.as_str().parse(), Ok(*e));
        }
        for s in WaitingStatus::ALL {
            assert_eq!(s.as_str().parse(), Ok(*s));
        }
        assert!(
            "Lost"
                .parse::<OperationStatus>()
                .unwrap_err()
                .contains("Submitted, Retrying")
        );
    }
}
