//! What a site buffers, and what can become of it.

use super::event::cut;
use domain::{NotificationId, Timestamp, TrackedOperationId, site::Category};
use std::{fmt, str::FromStr, time::Duration};
use uuid::Uuid;

/// The longest description of a message, in bytes.
const SUMMARY_BYTES: usize = 200;

/// Names one message of the buffer: a notification's id, or a tracked operation's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(pub Uuid);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for MessageId {
    type Err = uuid::Error;
    /// With hyphens or without.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::try_parse(text).map(Self)
    }
}

impl From<NotificationId> for MessageId {
    fn from(id: NotificationId) -> Self {
        Self(id.0)
    }
}

impl From<TrackedOperationId> for MessageId {
    fn from(id: TrackedOperationId) -> Self {
        Self(id.0)
    }
}

/// A message to be taken in.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMessage {
    pub id: MessageId,
    pub category: Category,
    /// The list, system or connection.
    pub target: String,
    pub payload: String,
    /// What is asked of the target in a few words, without secrets.
    pub summary: Option<String>,
    /// 0: no limit.
    pub max_retries: u32,
    pub retry_interval: Duration,
    pub origin: Origin,
    /// Same content, same number: tells a harmless repeat from an id used for two things.
    pub content_hash: i64,
}

/// Who asked for it. Kept with the message, so that it can be told even after the instance is gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    pub instance: Option<String>,
    pub script: Option<String>,
    pub execution: Option<String>,
    pub parent_execution: Option<String>,
}

/// Who makes the first attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// The sweep or the forwarder, when they get to it.
    Queued,
    /// The caller, now. It has begun when the message is in.
    Attempted,
}

/// What became of a message that was to be taken in.
#[derive(Debug, Clone, PartialEq)]
pub enum Enqueued {
    /// It survives power loss from here on.
    New(Ticket),
    /// The same id was taken in before; nothing was changed.
    Known(Known),
    /// There is no room, and why, in words. Nothing was written.
    NoRoom(String),
}

/// Proof of an attempt that has begun. What comes of it names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket {
    pub seq: i64,
    pub attempt: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    pub same_content: bool,
    /// Where it stands, in the words of the tracking table; none for a notification that waits.
    pub status: Option<domain::site::OperationStatus>,
    /// Whether it is in the buffer.
    pub buffered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MessageStatus {
    Pending,
    Parked,
}

impl MessageStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Parked => "Parked",
        }
    }
}

impl fmt::Display for MessageStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A message in the buffer.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub seq: i64,
    pub id: MessageId,
    pub category: Category,
    pub target: String,
    pub payload: String,
    pub summary: Option<String>,
    /// Tries of the sweep that failed; the immediate attempt does not count.
    pub retry_count: u32,
    pub max_retries: u32,
    pub retry_interval: Duration,
    pub created_at: Timestamp,
    pub last_attempt_at: Option<Timestamp>,
    pub status: MessageStatus,
    pub last_error: Option<String>,
    pub origin: Origin,
    pub due_at: Timestamp,
    /// When it began to wait; none during its immediate attempt.
    pub queued_at: Option<Timestamp>,
    pub attempt: i64,
    pub interruptions: u32,
    pub parked_at: Option<Timestamp>,
    /// Why its texts are not what was accepted, if they are not. It must not be sent; its bytes stay in the file.
    pub damaged: Option<String>,
    /// How long the payload is in the file, which of a damaged one cannot be told from its text.
    pub payload_bytes: usize,
}

impl Message {
    /// What it is in a few words, without secrets: what is asked of the target, or a notification's subject.
    pub fn described(&self) -> Option<String> {
        #[derive(serde::Deserialize)]
        struct Subject {
            subject: String,
        }
        if self.summary.is_some() || !self.category.is_forwarded() {
            return self.summary.clone();
        }
        let Subject { subject } = serde_json::from_str(&self.payload).ok()?;
        Some(cut(&subject, SUMMARY_BYTES).to_owned()).filter(|text| !text.is_empty())
    }

    pub fn ticket(&self) -> Ticket {
        Ticket {
            seq: self.seq,
            attempt: self.attempt,
        }
    }
}

/// A notification that waits, as much of it as central is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiting {
    pub seq: i64,
    pub id: MessageId,
    pub payload: String,
    pub created_at: Timestamp,
    pub origin: Origin,
    /// Why it must not be sent; see [`Message::damaged`].
    pub damaged: Option<String>,
}

/// Whose turn it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetDue {
    pub category: Category,
    pub target: String,
    /// When its earliest message is due.
    pub due_at: Timestamp,
}

/// What an attempt came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempted {
    pub ticket: Ticket,
    pub step: Step,
    pub started_at: Timestamp,
    pub took: Duration,
    pub http_status: Option<u16>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Delivered,
    /// The immediate attempt was refused for good; nothing stays in the buffer.
    Failed {
        error: String,
    },
    Retry {
        after: Duration,
        error: String,
        count: Count,
    },
    Park {
        error: String,
        count: Count,
        /// The budget is used up, as opposed to a refusal for good.
        exhausted: bool,
    },
    /// The agent stops before the attempt came to anything.
    Released,
}

/// What a failed attempt is booked as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// A try of the sweep.
    Try,
    /// The immediate attempt: free.
    Immediate,
    /// The process ended during a try of the sweep.
    Interrupted,
    /// The process ended during the immediate attempt.
    InterruptedImmediate,
}

impl Count {
    pub(super) fn tries(self) -> u32 {
        u32::from(matches!(self, Self::Try | Self::Interrupted))
    }

    pub(super) fn interrupted(self) -> bool {
        matches!(self, Self::Interrupted | Self::InterruptedImmediate)
    }

    pub(super) fn immediate(self) -> bool {
        matches!(self, Self::Immediate | Self::InterruptedImmediate)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    Done,
    /// The message is no longer where the attempt left it: somebody else acted on it first.
    Lost,
}

/// What came of an operator's action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acted {
    Done,
    NotFound,
    WrongState(MessageStatus),
    /// It is being tried right now.
    UnderWay,
}

/// What is left of a notification that is gone from the buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    pub id: MessageId,
    pub end: End,
    pub at: Timestamp,
    pub by: Option<String>,
    pub target: String,
    /// Of one that was discarded: what it was, and why it was parked.
    pub summary: Option<String>,
    pub last_error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Handed over to central.
    Delivered,
    Discarded,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_in_either_spelling_and_nothing_else() {
        let id = MessageId(Uuid::now_v7());
        assert_eq!(id.0.simple().to_string().parse::<MessageId>().unwrap(), id);
        assert_eq!(id.to_string().to_uppercase().parse::<MessageId>().unwrap(), id);
        for bad in ["", "7", "{}", "0190-0000", "zz90a0e0-0000-7000-8000-000000000000"] {
            assert!(bad.parse::<MessageId>().is_err(), "{bad:?}");
        }
    }
}
