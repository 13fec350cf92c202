//! Events and schedules, read.

use super::emit::event_id;
use crate::{
    Result,
    events::{Event, Schedule, sound_due},
    postgres::{
        rows::{json_text, parsed, time, time_opt},
        types::{MINUS_INFINITY, small},
    },
};
use domain::{TenantId, Timestamp};
use tokio_postgres::Row;

/// What `-infinity` is read as: whoever wrote the row did not say when.
pub(super) const BEGINNING: Timestamp = MINUS_INFINITY;

pub(super) fn event(row: &Row) -> Result<Event> {
    Ok(Event {
        seq: row.get("seq"),
        id: event_id(row),
        tenant: row.get::<_, Option<i32>>("tenant").map(TenantId),
        tenant_name: row.get("tenant_name"),
        topic: row.get("topic"),
        event_type: row.get("event_type"),
        entity_type: row.get("entity_type"),
        entity_id: row.get("entity_id"),
        payload: row.get("payload"),
        schema_version: row.get("schema_version"),
        correlation_id: row.get("correlation_id"),
        due_at: time_opt(row, "due_at").map(sound_due),
        source: row.get("source"),
        status: parsed("outbox_messages", row.get("status"))?,
        next_attempt_at: time(row, "next_attempt_at"),
        attempts: small(row.get("attempts")),
        last_error: row.get("last_error"),
        created_at: time(row, "created_at"),
        published_at: time_opt(row, "published_at"),
    })
}

pub(super) fn schedule(row: &Row) -> Result<Schedule> {
    Ok(Schedule {
        seq: row.get("seq"),
        tenant: TenantId(row.get("tenant")),
        event: event_id(row),
        event_type: row.get("event_type"),
        entity_type: row.get("entity_type"),
        entity_id: row.get("entity_id"),
        status: parsed("schedules", row.get("status"))?,
        due_at: time(row, "due_at"),
        next_look_at: time_opt(row, "next_look_at"),
        attempts: small(row.get("attempts")),
        last_error: row.get("last_error"),
        messages: json_text(row, "schedules", "messages", "messages")?.unwrap_or_default(),
        created_at: time(row, "created_at"),
        published_at: time_opt(row, "published_at"),
        settled_at: time_opt(row, "settled_at"),
    })
}
