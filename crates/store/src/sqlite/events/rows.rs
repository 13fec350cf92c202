//! Events and schedules, read.

use crate::{
    Result,
    events::{Event, Schedule, sound_due},
    sqlite::rows::{from_json, optional_time, parse, time},
};
use domain::{EventId, TenantId};
use rusqlite::Row;
use uuid::Uuid;

pub(super) fn event(row: &Row<'_>) -> Result<Event> {
    Ok(Event {
        seq: row.get("seq")?,
        id: EventId(Uuid::from_bytes(row.get("event_id")?)),
        tenant: row.get::<_, Option<i32>>("tenant")?.map(TenantId),
        tenant_name: row.get("tenant_name")?,
        topic: row.get("topic")?,
        event_type: row.get("event_type")?,
        entity_type: row.get("entity_type")?,
        entity_id: row.get("entity_id")?,
        payload: row.get("payload")?,
        schema_version: row.get("schema_version")?,
        correlation_id: row.get("correlation_id")?,
        due_at: optional_time(row, "due_at")?.map(sound_due),
        source: row.get("source")?,
        status: parse("outbox_messages", &row.get::<_, String>("status")?)?,
        next_attempt_at: time(row, "next_attempt_at")?,
        attempts: row.get("attempts")?,
        last_error: row.get("last_error")?,
        created_at: time(row, "created_at")?,
        published_at: optional_time(row, "published_at")?,
    })
}

pub(super) fn schedule(row: &Row<'_>) -> Result<Schedule> {
    let (status, messages): (String, String) = (row.get("status")?, row.get("messages")?);
    Ok(Schedule {
        seq: row.get("seq")?,
        tenant: TenantId(row.get("tenant")?),
        event: EventId(Uuid::from_bytes(row.get("event_id")?)),
        event_type: row.get("event_type")?,
        entity_type: row.get("entity_type")?,
        entity_id: row.get("entity_id")?,
        status: parse("schedules", &status)?,
        due_at: time(row, "due_at")?,
        next_look_at: optional_time(row, "next_look_at")?,
        attempts: row.get("attempts")?,
        last_error: row.get("last_error")?,
        messages: from_json("schedules", &messages)?,
        created_at: time(row, "created_at")?,
        published_at: optional_time(row, "published_at")?,
        settled_at: optional_time(row, "settled_at")?,
    })
}
