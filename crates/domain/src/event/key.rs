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
mod tests {
    use super::*;

    fn message<'a>(entity: &'a str, event_type: &'a str) -> MessageOf<'a> {
        MessageOf {
            tenant: TenantId::DEFAULT,
            entity_type: "booking",
            entity_id: entity,
            event_type,
            event: EventId(Uuid::from_u128(7)),
            channel: Channel::WhatsApp,
            template: "7",
        }
    }

    #[test]
    fn the_same_booking_confirmed_twice_has_one_key_and_an_alarm_has_one_each_time() {
        let first = message("12345", "booking.confirmed");
        let again = MessageOf {
            event: EventId(Uuid::from_u128(8)),
            ..first
        };
        assert_eq!(first.key(Dedupe::Entity), again.key(Dedupe::Entity));
        assert_eq!(first.key(Dedupe::Entity).1, "12345:booking.confirmed:WhatsApp:7");
        assert_ne!(first.key(Dedupe::Event).0, again.key(Dedupe::Event).0);
    }

    #[test]
    fn a_colon_in_an_entitys_id_meets_nobody_elses_key() {
        let one = message("a:b", "c");
        let other = message("a", "b:c");
        assert_eq!(one.key(Dedupe::Entity).1, other.key(Dedupe::Entity).1);
        assert_ne!(one.key(Dedupe::Entity).0, other.key(Dedupe::Entity).0);
        let text = one.key(Dedupe::Entity).1;
        assert_ne!(
            one.key(Dedupe::Entity).0,
            NotificationId::from_key(one.tenant, &text)
        );
    }

    #[test]
    fn a_request_of_a_person_has_a_key_of_its_own_and_asked_twice_it_is_one() {
        let message = message("12345", "booking.confirmed");
        let (id, key) = message.manual_key("r1");
        assert_eq!(key, "manual:12345:WhatsApp:7:r1");
        assert_eq!(message.manual_key("r1").0, id);
        assert_ne!(message.manual_key("r2").0, id);
        assert_ne!(message.key(Dedupe::Entity).0, id);
    }

    #[test]
    fn templates_of_one_name_of_two_event_types_are_two_messages_of_one_request() {
        let confirmed = message("12345", "booking.confirmed").manual_key("r1");
        let cancelled = message("12345", "booking.cancelled").manual_key("r1");
        assert_ne!(confirmed.0, cancelled.0);
    }

    #[test]
    fn a_long_key_is_cut_for_people_and_whole_for_the_id() {
        let (one, two) = ("x".repeat(254), "x".repeat(253) + "y");
        let (one, two) = (
            message(&one, "t").key(Dedupe::Entity),
            message(&two, "t").key(Dedupe::Entity),
        );
        assert!(one.1.chars().count() <= limit::KEY);
        assert_ne!(one.0, two.0);
    }
}
