//! Publishing events: the fence, the notifications and the schedule, in the writer's one transaction.

use super::sql;
use crate::{
    Result,
    events::{NewSchedule, PublishEvent, as_ingested},
    outbox::Ingested,
    sqlite::{
        outbox::ingest::{self, Hashed},
        rows::json,
        writer::WriteSession,
    },
};
use domain::ScheduleStatus;
use rusqlite::params;

/// An event with what can be worked out before the writer's turn.
pub(super) struct Prepared {
    seq: i64,
    schedule: NewSchedule,
    notifications: Vec<Hashed>,
}

impl From<PublishEvent> for Prepared {
    fn from(event: PublishEvent) -> Self {
        Self {
            seq: event.seq,
            schedule: event.schedule,
            notifications: event.notifications.into_iter().map(Hashed::from).collect(),
        }
    }
}

impl Prepared {
    pub fn weight(&self) -> usize {
        self.notifications.len() + 1
    }

    pub fn publish(&self, s: &mut WriteSession<'_>) -> Result<Option<Vec<Ingested>>> {
        let new = &self.schedule;
        let params = params![self.seq, s.now.as_millis(), new.tenant.0];
        if s.conn.prepare_cached(sql::publish_event)?.execute(params)? == 0 {
            return Ok(None);
        }
        let entity = params![new.tenant.0, new.entity_type, new.entity_id, s.now.as_millis()];
        s.conn.prepare_cached(sql::touch_schedules)?.execute(entity)?;
        let answers = ingest::ingest(s, &self.notifications)?;
        let messages = as_ingested(new.messages.clone(), &answers);
        let published = new.status != ScheduleStatus::Pending;
        s.conn.prepare_cached(sql::insert_schedule)?.execute(params![
            new.tenant.0,
            new.event.0.as_bytes(),
            self.seq,
            new.event_type,
            new.entity_type,
            new.entity_id,
            new.status.as_str(),
            new.due_at.as_millis(),
            new.next_look_at.map(|at| at.as_millis()),
            new.last_error,
            json(&messages),
            s.now.as_millis(),
            published.then(|| s.now.as_millis()),
        ])?;
        Ok(Some(answers))
    }
}
