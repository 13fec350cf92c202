//! The [`Events`] trait on SQLite.

mod event_types;
mod pages;
mod publish;
mod rows;
mod schedules;
mod sql;

use crate::{
    Error, Events, Result,
    events::{
        CancelSchedules, Emitted, Event, EventFilter, EventPage, EventPlace, EventTypeRow, EventsDue,
        MayBeOvertaken, NewEvent, Overtaken, PublishEvent, PublishSchedule, READ_BYTES, Schedule,
        ScheduleFilter, SchedulePage, SchedulesDue, SettleEvent, SettleSchedule, StuckEvents, kept_error,
    },
    outbox::{Ingested, NewNotification},
    query::Page,
    sqlite::{SqliteStore, directory, rows::all, writer::WriteSession},
};
use async_trait::async_trait;
use domain::{
    Actor, EventId, EventStatus, EventType, LeaseToken, NotificationId, TenantId, Timestamp,
    event::{ScheduledMessage, limit},
};
use rusqlite::{OptionalExtension, params};
use std::time::{Duration, Instant};

#[async_trait]
impl Events for SqliteStore {
    async fn emit(&self, batch: Vec<NewEvent>) -> Result<Vec<Emitted>> {
        self.write(batch.len(), move |s| emit(s, &batch)).await
    }

    async fn own_reader(&self, name: &str, node: &str, ttl: Duration) -> Result<bool> {
        let (name, node) = (name.to_owned(), node.to_owned());
        self.write(1, move |s| {
            let params = params![name, node, s.now.as_millis(), (s.now + ttl).as_millis()];
            Ok(s.conn.prepare_cached(sql::own_reader)?.execute(params)? > 0)
        })
        .await
    }

    async fn due_events(&self, after: Option<EventPlace>, limit: u32) -> Result<EventsDue> {
        let now = self.clock.now();
        self.read(move |conn| {
            let start = Instant::now();
            let (at, seq) = after.map_or((i64::MIN, i64::MIN), |a| (a.next_attempt_at.as_millis(), a.seq));
            let params = params![now.as_millis(), at, seq, limit];
            let (mut rows, mut bytes) = (vec![], 0);
            let mut statement = conn.prepare_cached(sql::due_events)?;
            let mut found = statement.query(params)?;
            while bytes < READ_BYTES
                && let Some(row) = found.next()?
            {
                let event = rows::event(row)?;
                bytes += event.payload.len();
                rows.push(event);
            }
            Ok(EventsDue {
                now,
                directory_version: directory::version(conn)?,
                more: rows.len() >= limit as usize || bytes >= READ_BYTES,
                // Nobody but nodes writes here, and they ask what is spent as they do.
                spent: vec![],
                rows,
                running: vec![],
                took: start.elapsed(),
            })
        })
        .await
    }

    async fn publish_events(&self, batch: Vec<PublishEvent>) -> Result<Vec<Option<Vec<Ingested>>>> {
        let batch: Vec<_> = batch.into_iter().map(publish::Prepared::from).collect();
        let weight = batch.iter().map(publish::Prepared::weight).sum();
        self.write(weight, move |s| {
            batch.iter().map(|event| event.publish(s)).collect()
        })
        .await
    }

    async fn settle_events(&self, batch: Vec<SettleEvent>) -> Result<()> {
        self.write(batch.len(), move |s| settle(s, &batch)).await
    }

    async fn claim_schedules(&self, token: LeaseToken, lease: Duration, limit: u32) -> Result<SchedulesDue> {
        self.write(limit as usize, move |s| schedules::claim(s, token, lease, limit))
            .await
    }

    async fn publish_schedules(&self, batch: Vec<PublishSchedule>) -> Result<Vec<Option<Vec<Ingested>>>> {
        let batch: Vec<_> = batch.into_iter().map(schedules::Prepared::from).collect();
        let weight = batch.iter().map(schedules::Prepared::weight).sum();
        self.write(weight, move |s| batch.iter().map(|one| one.publish(s)).collect())
            .await
    }

    async fn settle_schedules(&self, batch: Vec<SettleSchedule>) -> Result<()> {
        self.write(batch.len(), move |s| schedules::settle(s, &batch))
            .await
    }

    async fn cancel_schedules(&self, cancel: CancelSchedules) -> Result<Vec<NotificationId>> {
        self.write(1, move |s| schedules::cancel(s, &cancel)).await
    }

    async fn overtaken(&self, candidates: Vec<MayBeOvertaken>) -> Result<Vec<Overtaken>> {
        self.read(move |conn| schedules::overtaken(conn, &candidates))
            .await
    }

    async fn extend_schedule(
        &self,
        schedule: (TenantId, EventId),
        messages: Vec<ScheduledMessage>,
        notifications: Vec<NewNotification>,
        actor: &Actor,
    ) -> Result<Option<Vec<Ingested>>> {
        let extend = schedules::Extension::new(schedule, messages, notifications, actor);
        self.write(1, move |s| extend.write(s)).await
    }

    async fn events(&self, tenant: Option<TenantId>, filter: &EventFilter, page: Page) -> Result<EventPage> {
        let filter = filter.clone();
        self.read(move |conn| pages::events(conn, tenant, &filter, &page))
            .await
    }

    async fn event(&self, tenant: TenantId, id: EventId) -> Result<Option<Event>> {
        self.read(move |conn| {
            Ok(all(conn, sql::event, params![tenant.0, id.0.as_bytes()], rows::event)?.pop())
        })
        .await
    }

    async fn events_by_id(&self, id: EventId, limit: u32) -> Result<Vec<Event>> {
        self.read(move |conn| {
            all(
                conn,
                sql::events_by_id,
                params![id.0.as_bytes(), limit],
                rows::event,
            )
        })
        .await
    }

    async fn schedules(&self, tenant: TenantId, filter: &ScheduleFilter, page: Page) -> Result<SchedulePage> {
        let filter = filter.clone();
        self.read(move |conn| pages::schedules(conn, tenant, &filter, &page))
            .await
    }

    async fn schedule(&self, tenant: TenantId, id: EventId) -> Result<Option<Schedule>> {
        self.read(move |conn| schedules::by_id(conn, tenant, id)).await
    }

    async fn replay_event(&self, seq: i64, actor: &Actor) -> Result<Option<EventStatus>> {
        let actor = actor.clone();
        self.write(1, move |s| schedules::replay_event(s, seq, &actor))
            .await
    }

    async fn stuck_events(
        &self,
        tenant: Option<TenantId>,
        filter: &EventFilter,
        by: Timestamp,
        page: Page,
    ) -> Result<StuckEvents> {
        let filter = filter.clone();
        self.read(move |conn| pages::stuck(conn, tenant, &filter, by, &page))
            .await
    }

    async fn replay_schedule(&self, tenant: TenantId, id: EventId, actor: &Actor) -> Result<bool> {
        let actor = actor.clone();
        self.write(1, move |s| schedules::replay(s, tenant, id, &actor))
            .await
    }

    async fn grant_emit(&self, _: &str, _: &str) -> Result<()> {
        let why = "applications never write this file; give them a database of their own as [[event_source]]";
        Err(Error::Refused(why.into()))
    }

    async fn notify_emits(&self, _: bool) -> Result<()> {
        // Nobody but this process writes here, and it wakes itself.
        Ok(())
    }

    async fn event_types(&self, tenant: TenantId) -> Result<Vec<EventTypeRow>> {
        self.read(move |conn| all(conn, sql::event_types, [tenant.0], event_types::from_row))
            .await
    }

    async fn event_type(&self, tenant: TenantId, name: &str) -> Result<Option<EventTypeRow>> {
        let name = name.to_owned();
        self.read(move |conn| {
            Ok(all(
                conn,
                sql::event_type,
                params![tenant.0, name],
                event_types::from_row,
            )?
            .pop())
        })
        .await
    }

    async fn put_event_type(
        &self,
        tenant: TenantId,
        name: &str,
        definition: &EventType,
        actor: &Actor,
    ) -> Result<EventTypeRow> {
        let put = event_types::Put::new(tenant, name, definition, actor);
        self.write(1, move |s| put.write(s)).await
    }

    async fn delete_event_type(&self, tenant: TenantId, name: &str, actor: &Actor) -> Result<bool> {
        let (name, actor) = (name.to_owned(), actor.clone());
        self.write(1, move |s| event_types::delete(s, tenant, &name, &actor))
            .await
    }
}

fn emit(s: &WriteSession<'_>, batch: &[NewEvent]) -> Result<Vec<Emitted>> {
    let mut insert = s.conn.prepare_cached(sql::emit_event)?;
    let mut answers = Vec::with_capacity(batch.len());
    for event in batch {
        let written = insert.execute(params![
            event.id.0.as_bytes(),
            event.tenant,
            event.topic,
            event.event_type,
            event.entity_type,
            event.entity_id,
            event.payload,
            event.schema_version,
            event.correlation_id,
            event.due_at.map(|at| at.as_millis()),
            event.source,
            s.now.as_millis(),
        ])?;
        answers.push(Emitted {
            id: event.id,
            duplicate: written == 0,
        });
    }
    Ok(answers)
}

/// Whatever becomes of an event, it says that something happened to its entity: what waits of that is looked at again.
fn settle(s: &WriteSession<'_>, batch: &[SettleEvent]) -> Result<()> {
    let mut settle = s.conn.prepare_cached(sql::settle_event)?;
    let mut touch = s.conn.prepare_cached(sql::touch_schedules)?;
    for event in batch {
        let to = event.to.columns();
        let params = params![
            event.seq,
            to.status.as_str(),
            (s.now + to.due_after).as_millis(),
            to.counted,
            kept_error(&event.error),
            limit::ENTITY as i64,
        ];
        let told = settle.query_row(params, |row| {
            let entity: (String, String) = (row.get("entity_type")?, row.get("entity_id")?);
            Ok((row.get("is_told")?, row.get::<_, Option<i32>>("tenant")?, entity))
        });
        if let Some((true, Some(tenant), (kind, entity))) = told.optional()? {
            touch.execute(params![tenant, kind, entity, s.now.as_millis()])?;
        }
    }
    Ok(())
}
