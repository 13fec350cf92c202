//! Events, in and out.

use super::names::{EventStatusName, Id, Time};
use crate::fields::Fields;
use domain::{EventId, EventStatus, FieldError, Timestamp};
use serde::Serialize;
use serde_json::Value;
use store::events::{Event, NewEvent};
use utoipa::ToSchema;

/// Something that happened, from a program that cannot write the outbox table. The whole request has at most 4 MiB.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct EventRequest {
    #[schema(max_length = 100)]
    pub event_type: String,
    /// What it happened to: a booking, an order. Text or a number.
    #[schema(max_length = 255)]
    pub entity_id: String,
    /// What the event type says if left out.
    pub entity_type: Option<String>,
    /// What fills the templates; an object.
    #[schema(value_type = Option<Object>)]
    pub payload: Option<Value>,
    pub topic: Option<String>,
    /// Chosen by the sender; the same id again is the same event.
    #[schema(value_type = Option<Id>)]
    pub event_id: Option<String>,
    pub correlation_id: Option<String>,
    /// 1 if left out.
    pub schema_version: Option<i32>,
    /// Not before; what the event type says if left out.
    #[schema(value_type = Option<Time>)]
    pub due_at: Option<Timestamp>,
}

/// The event is on disk; what becomes of it is seen in `/api/events`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventAnswer {
    #[schema(value_type = Id)]
    pub event_id: EventId,
    /// It was known already.
    pub duplicate: bool,
}

/// An event as it stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventView {
    #[schema(value_type = Id)]
    pub event_id: EventId,
    pub tenant: String,
    pub topic: Option<String>,
    pub event_type: String,
    pub entity_type: Option<String>,
    pub entity_id: String,
    pub schema_version: i32,
    pub correlation_id: Option<String>,
    #[schema(value_type = Option<Time>)]
    pub due_at: Option<Timestamp>,
    /// The event source it was read from.
    pub source: Option<String>,
    #[schema(value_type = EventStatusName)]
    pub status: EventStatus,
    /// Of one that is Pending after a failed try.
    #[schema(value_type = Option<Time>)]
    pub next_attempt_at: Option<Timestamp>,
    pub attempts: u32,
    pub last_error: Option<String>,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<Time>)]
    pub published_at: Option<Timestamp>,
    /// Its JSON as text; null in lists.
    pub payload: Option<String>,
}

impl EventView {
    /// With what it says.
    pub fn whole(event: Event) -> Self {
        let payload = Some(event.payload.clone());
        Self {
            payload,
            ..Self::from(event)
        }
    }
}

impl From<Event> for EventView {
    fn from(event: Event) -> Self {
        let waits = event.status == EventStatus::Pending && event.last_error.is_some();
        Self {
            event_id: event.id,
            tenant: event.tenant_name,
            topic: event.topic,
            event_type: event.event_type,
            entity_type: event.entity_type,
            entity_id: event.entity_id,
            schema_version: event.schema_version,
            correlation_id: event.correlation_id,
            due_at: event.due_at,
            source: Some(event.source).filter(|source| !source.is_empty()),
            status: event.status,
            next_attempt_at: waits.then_some(event.next_attempt_at),
            attempts: event.attempts,
            last_error: event.last_error,
            created_at: event.created_at,
            published_at: event.published_at,
            payload: None,
        }
    }
}

/// Reads an event. `payload` is its JSON as it was written.
pub fn read_event(
    mut fields: Fields,
    tenant: String,
    payload: Option<&str>,
) -> Result<NewEvent, Vec<FieldError>> {
    let event_type = fields.text("eventType");
    let event_type = fields.require("eventType", event_type);
    let entity_id = text_or_number(&mut fields, "entityId");
    let entity_id = fields.require("entityId", entity_id);
    fields.object("payload");
    let event = NewEvent {
        id: fields.uuid("eventId").map_or_else(EventId::mint, EventId),
        tenant,
        topic: fields.text("topic"),
        event_type: event_type.unwrap_or_default(),
        entity_type: fields.text("entityType"),
        entity_id: entity_id.unwrap_or_default(),
        payload: payload.filter(|text| *text != "null").unwrap_or("{}").to_owned(),
        schema_version: fields.integer("schemaVersion").unwrap_or(1),
        correlation_id: fields.text("correlationId"),
        due_at: fields.timestamp("dueAt"),
        source: String::new(),
    };
    let problems = fields.finish();
    match problems.is_empty() {
        true => Ok(event),
        false => Err(problems),
    }
}

fn text_or_number(fields: &mut Fields, name: &str) -> Option<String> {
    match fields.any(name)? {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => {
            fields.problem(name, "must be text or a number");
            None
        }
    }
}
