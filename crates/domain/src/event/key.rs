//! The keys under which the messages of an event are taken in.
//!
//! Always true: the id is hashed from parts that carry their lengths, under a tag of its own, so that neither a `:` in an
//! entity's id nor a key that a caller made up can meet it. The text beside it is for people.

use super::{Dedupe, EventId};
use crate::{Channel, NotificationId, TenantId, submission::limit};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// What one message of one event is about.
#[derive(Debug, Clone, Copy)]
pub struct MessageOf<'a> {
    pub tenant: TenantId,
    pub entity_type: &'a str,
    pub entity_id: &'a str,
    pub event_type: &'a str,
    pub event: EventId,
    pub channel: Channel,
    /// The template's id; not its variant, which may differ the next time.
    pub template: &'a str,
}

impl MessageOf<'_> {
    /// The id and the key of the message an event causes.
    pub fn key(&self, dedupe: Dedupe) -> (NotificationId, String) {
        let event = self.event.to_string();
        let once = (dedupe == Dedupe::Event).then_some(event.as_str());
        let parts = [
            self.entity_type,
            self.entity_id,
            self.event_type,
            self.channel.as_str(),
            self.template,
            once.unwrap_or_default(),
        ];
        let (entity, event_type) = (self.entity_id, self.event_type);
        let text = format!("{entity}:{event_type}:{}:{}", self.channel, self.template);
        let text = match once {
            Some(event) => format!("{text}:{event}"),
            None => text,
        };
        (hashed(b"waypost event message\0", self.tenant, &parts), cut(text))
    }

    /// The id and the key of a message that a person asks for once more. Templates of two event types may have one name, so the
    /// id is made of the event type too; the text leaves it out.
    pub fn manual_key(&self, request: &str) -> (NotificationId, String) {
        let parts = [
            self.entity_type,
            self.entity_id,
            self.event_type,
            self.channel.as_str(),
            self.template,
            request,
        ];
        let (entity, template) = (self.entity_id, self.template);
        let text = format!("manual:{entity}:{}:{template}:{request}", self.channel);
        (
            hashed(b"waypost manual message\0", self.tenant, &parts),
            cut(text),
        )
    }
}

fn hashed(tag: &[u8], tenant: TenantId, parts: &[&str]) -> NotificationId {
    let mut hash = Sha256::new();
    hash.update(tag);
    hash.update(tenant.0.to_be_bytes());
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&hash.finalize()[..16]);
    NotificationId(Uuid::new_v8(bytes))
}

/// The column is so wide; the id is made from the whole.
fn cut(text: String) -> String {
    match text.chars().count() > limit::KEY {
        true => text.chars().take(limit::KEY - 1).chain(['…']).collect(),
        false => text,
    }
}

#[cfg(test)]
#[path = "key_tests.rs"]
mod tests;
