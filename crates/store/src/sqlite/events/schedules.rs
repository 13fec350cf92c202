//! Schedules that wait for their time, and what people do to them.

use super::{rows, sql};
use crate::{
    Error, Result,
    audit::Entry,
    events::{
        CancelSchedules, DueSchedule, MayBeOvertaken, NextLook, Overtaken, PublishSchedule, READ_BYTES,
        Schedule, SchedulesDue, SettleSchedule, as_ingested, extended, kept_error,
    },
    outbox::{Ingested, NewNotification},
    sqlite::{
        audit,
        outbox::ingest::{self, Hashed},
        rows::{all, json, parse},
        writer::WriteSession,
    },
};
use domain::{
    Actor, AuditKind, AuditStatus, EventId, EventStatus, LeaseToken, NotificationId, TenantId,
    event::ScheduledMessage,
};
use rusqlite::{Connection, OptionalExtension, params};
use std::time::Duration;
use uuid::Uuid;

pub(super) fn claim(
    s: &WriteSession<'_>,
    token: LeaseToken,
    lease: Duration,
    limit: u32,
) -> Result<SchedulesDue> {
    let until = (s.now + lease).as_millis();
    let due = params![s.now.as_millis(), limit];
    let marked = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?));
    let due: Vec<(i64, Option<i64>)> = all(s.conn, sql::due_schedules, due, marked)?;
    let (mut rows, mut bytes) = (vec![], 0);
    for (seq, held_by) in &due {
        if bytes >= READ_BYTES {
            break;
        }
        let claim = params![seq, token.0, until];
        s.conn.prepare_cached(sql::claim_schedules)?.execute(claim)?;
        let schedule = all(s.conn, sql::claimed_schedules, [seq], rows::schedule)?.pop();
        let event = all(s.conn, sql::event_of_schedule, [seq], rows::event)?.pop();
        if let (Some(schedule), Some(event)) = (schedule, event) {
            bytes += event.payload.len();
            rows.push(DueSchedule {
                schedule,
                event,
                held_by: held_by.map(LeaseToken),
            });
        }
    }
    rows.sort_unstable_by_key(|due| due.schedule.seq);
    Ok(SchedulesDue {
        more: due.len() >= limit as usize || bytes >= READ_BYTES,
        rows,
    })
}

/// A schedule with what can be worked out before the writer's turn.
pub(super) struct Prepared {
    publish: PublishSchedule,
    notifications: Vec<Hashed>,
}

impl From<PublishSchedule> for Prepared {
    fn from(mut publish: PublishSchedule) -> Self {
        let notifications = std::mem::take(&mut publish.notifications);
        Self {
            publish,
            notifications: notifications.into_iter().map(Hashed::from).collect(),
        }
    }
}

impl Prepared {
    pub fn weight(&self) -> usize {
        self.notifications.len() + 1
    }

    pub fn publish(&self, s: &mut WriteSession<'_>) -> Result<Option<Vec<Ingested>>> {
        let new = &self.publish;
        let fence = params![
            new.seq,
            new.token.0,
            new.status.as_str(),
            s.now.as_millis(),
            new.last_error,
            json(&new.messages),
        ];
        if s.conn.prepare_cached(sql::publish_schedule)?.execute(fence)? == 0 {
            return Ok(None);
        }
        let answers = ingest::ingest(s, &self.notifications)?;
        let messages = as_ingested(new.messages.clone(), &answers);
        let params = params![new.seq, new.status.as_str(), json(&messages)];
        s.conn.prepare_cached(sql::schedule_messages)?.execute(params)?;
        Ok(Some(answers))
    }
}

pub(super) fn settle(s: &WriteSession<'_>, batch: &[SettleSchedule]) -> Result<()> {
    let mut settle = s.conn.prepare_cached(sql::settle_schedule)?;
    for one in batch {
        let to = one.to.columns();
        let next_look = match to.next_look {
            NextLook::Never => None,
            NextLook::At(at) => Some(at),
            NextLook::After(wait) => Some(s.now + wait),
        };
        settle.execute(params![
            one.seq,
            one.token.0,
            to.status.as_str(),
            to.due_at.map(|at| at.as_millis()),
            next_look.map(|at| at.as_millis()),
            to.counted,
            to.error,
            s.now.as_millis(),
            to.keeps_token,
        ])?;
    }
    Ok(())
}

pub(super) fn cancel(s: &WriteSession<'_>, cancel: &CancelSchedules) -> Result<Vec<NotificationId>> {
    let mut waiting = vec![];
    for event_type in &cancel.event_types {
        let entity = params![
            cancel.tenant.0,
            cancel.entity_type,
            cancel.entity_id,
            event_type,
            kept_error(&cancel.reason),
            s.now.as_millis(),
            cancel.before,
        ];
        s.conn.prepare_cached(sql::cancel_schedules)?.execute(entity)?;
        let entity = params![
            cancel.tenant.0,
            cancel.entity_type,
            cancel.entity_id,
            event_type,
            cancel.before,
        ];
        let id = |row: &rusqlite::Row<'_>| Ok(NotificationId(Uuid::from_bytes(row.get(0)?)));
        waiting.extend(all(s.conn, sql::waiting_of_entity, entity, id)?);
    }
    Ok(waiting)
}

pub(super) fn overtaken(conn: &Connection, candidates: &[MayBeOvertaken]) -> Result<Vec<Overtaken>> {
    let mut found = vec![];
    for one in candidates {
        for by in &one.cancelled_by {
            let params = params![one.tenant.0, one.entity_type, one.entity_id, by, one.seq];
            let later = all(conn, sql::overtaken, params, |row| {
                Ok(Overtaken {
                    seq: one.seq,
                    by_type: row.get(0)?,
                    by: EventId(Uuid::from_bytes(row.get(1)?)),
                })
            })?;
            if let Some(later) = later.into_iter().next() {
                found.push(later);
                break;
            }
        }
    }
    Ok(found)
}

pub(super) fn by_id(conn: &Connection, tenant: TenantId, id: EventId) -> Result<Option<Schedule>> {
    let params = params![tenant.0, id.0.as_bytes()];
    Ok(all(conn, sql::schedule, params, rows::schedule)?.pop())
}

/// What a replay adds to a schedule.
pub(super) struct Extension {
    schedule: (TenantId, EventId),
    messages: Vec<ScheduledMessage>,
    notifications: Vec<Hashed>,
    actor: Actor,
}

impl Extension {
    pub fn new(
        schedule: (TenantId, EventId),
        messages: Vec<ScheduledMessage>,
        notifications: Vec<NewNotification>,
        actor: &Actor,
    ) -> Self {
        Self {
            schedule,
            messages,
            notifications: notifications.into_iter().map(Hashed::from).collect(),
            actor: actor.clone(),
        }
    }

    pub fn write(&self, s: &mut WriteSession<'_>) -> Result<Option<Vec<Ingested>>> {
        let (tenant, id) = self.schedule;
        let Some(schedule) = by_id(s.conn, tenant, id)? else {
            return Ok(None);
        };
        let answers = ingest::ingest(s, &self.notifications)?;
        let messages = extended(schedule.messages, as_ingested(self.messages.clone(), &answers));
        let params = params![schedule.seq, json(&messages)];
        if s.conn.prepare_cached(sql::extend_schedule)?.execute(params)? == 0 {
            return Err(Error::Conflict("the schedule was never published".into()));
        }
        audit(s, tenant, &self.actor, id)?;
        Ok(Some(answers))
    }
}

pub(super) fn replay(s: &WriteSession<'_>, tenant: TenantId, id: EventId, actor: &Actor) -> Result<bool> {
    let params = params![tenant.0, id.0.as_bytes(), s.now.as_millis()];
    let done = s.conn.prepare_cached(sql::replay_schedule)?.execute(params)? > 0;
    if done {
        audit(s, tenant, actor, id)?;
    }
    Ok(done)
}

pub(super) fn replay_event(s: &WriteSession<'_>, seq: i64, actor: &Actor) -> Result<Option<EventStatus>> {
    let standing = s
        .conn
        .prepare_cached(sql::event_standing)?
        .query_row([seq], |row| {
            let id = EventId(Uuid::from_bytes(row.get(1)?));
            Ok((row.get::<_, String>(0)?, id, row.get::<_, Option<i32>>(2)?))
        })
        .optional()?;
    let Some((status, id, tenant)) = standing else {
        return Ok(None);
    };
    if s.conn.prepare_cached(sql::replay_event)?.execute([seq])? > 0
        && let Some(tenant) = tenant
    {
        audit(s, TenantId(tenant), actor, id)?;
    }
    Ok(Some(parse("outbox_messages", &status)?))
}

fn audit(s: &WriteSession<'_>, tenant: TenantId, actor: &Actor, id: EventId) -> Result<()> {
    let target = id.to_string();
    let entry = Entry {
        status: AuditStatus::Done,
        target: Some(&target),
        ..Entry::new(tenant, AuditKind::EventReplayed, actor)
    };
    audit::insert(s, &entry)
}
