//! Events: something that happened in an application, and what a tenant says follows from it.
//!
//! Leaves to others: what a message says (`template`), when a civil time is ([`crate::schedule`]), rows (`store`).
//! Always true: the id of a message is made from the entity, the event type, the channel and the template, so that an
//! event that comes twice is one message ([`key`]).

pub mod event_type;
pub mod key;
mod message;
mod status;

pub use event_type::{Dedupe, EventType};
pub use message::{CameTo, ScheduledMessage};
pub use status::{EventStatus, ScheduleStatus};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::{fmt, str::FromStr};
use uuid::Uuid;

/// Names one event within its tenant, for ever. A UUID and never a serial: a source that is restored from a backup
/// gives out its serials a second time.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(pub Uuid);

impl EventId {
    pub fn mint() -> Self {
        Self(Uuid::now_v7())
    }

    /// The id a source's text means: the UUID it spells, or else one that is always the same for that text.
    pub fn of_text(source: &str, text: &str) -> Self {
        text.parse().unwrap_or_else(|_| {
            let mut hash = Sha256::new();
            hash.update(b"waypost event id\0");
            hash.update((source.len() as u64).to_be_bytes());
            hash.update(source.as_bytes());
            hash.update(text.as_bytes());
            let mut bytes = [0u8; 16];
            bytes.copy_from_slice(&hash.finalize()[..16]);
            Self(Uuid::new_v8(bytes))
        })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for EventId {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::try_parse(text).map(Self)
    }
}

/// What a notification that an event caused carries with it, for the communication log and for the attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventOrigin {
    pub event_type: String,
    pub event_id: EventId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// The template's id, its name and the version that was rendered.
    pub template: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_name: Option<String>,
    pub template_version: i64,
    /// Goes out even to who asked not to be written to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub critical: bool,
}

impl EventOrigin {
    /// What its messages are about, for who wants no more of them: the topic, or the event type where there is none. A blank
    /// one is none: nobody could name it on the list.
    pub fn about(&self) -> &str {
        let topic = self.topic.as_deref().filter(|topic| !topic.trim().is_empty());
        topic.unwrap_or(&self.event_type)
    }
}

/// The longest values accepted, in characters.
pub mod limit {
    pub const EVENT_TYPE: usize = 100;
    pub const TOPIC: usize = 255;
    pub const ENTITY: usize = 255;
    pub const CORRELATION: usize = 255;
    /// What one event type may list: addresses, required keys, cancelled types.
    pub const LISTED: usize = 50;
}

/// What the entity of an event is called, unless its type says otherwise: the event type up to its first dot.
pub fn entity_type(event_type: &str) -> &str {
    event_type.split('.').next().unwrap_or(event_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entity_is_called_like_the_event_up_to_the_first_dot() {
        assert_eq!(entity_type("booking.confirmed"), "booking");
        assert_eq!(entity_type("booking.confirmed.late"), "booking");
        assert_eq!(entity_type("alarm"), "alarm");
    }
}
