//! The [`Events`] trait on PostgreSQL. Here producers write the outbox themselves, in their own transactions.

mod emit;
mod event_types;
mod pages;
mod publish;
mod rows;
mod schedules;
mod sql;

use crate::{
    Events, Result,
    events::{
        CancelSchedules, Emitted, Event, EventFilter, EventPage, EventPlace, EventTypeRow, EventsDue,
        MayBeOvertaken, NewEvent, Overtaken, PublishEvent, PublishSchedule, Schedule, ScheduleFilter,
        SchedulePage, SchedulesDue, SettleEvent, SettleSchedule, StuckEvents,
    },
    outbox::{Ingested, NewNotification},
    postgres::{PgStore, failed::Failed, session::Session, types::millis},
    query::Page,
};
use async_trait::async_trait;
use domain::{
    Actor, EventId, EventStatus, EventType, LeaseToken, NotificationId, TenantId, Timestamp,
    event::ScheduledMessage,
};
use std::time::Duration;

#[async_trait]
impl Events for PgStore {
    async fn emit(&self, batch: Vec<NewEvent>) -> Result<Vec<Emitted>> {
        emit::emit(&self.db, &batch)
            .await
            .map_err(Failed::while_committing)
    }

    async fn own_reader(&self, name: &str, node: &str, ttl: Duration) -> Result<bool> {
        let session = self.db.general().await?;
        let owned = session
            .exec(sql::own_reader, &[&self.db.now(), &name, &node, &millis(ttl)])
            .await?;
        Ok(owned > 0)
    }

    async fn due_events(&self, after: Option<EventPlace>, limit: u32) -> Result<EventsDue> {
        Ok(emit::due(&self.db, after, limit).await?)
    }

    async fn publish_events(&self, batch: Vec<PublishEvent>) -> Result<Vec<Option<Vec<Ingested>>>> {
        publish::publish(&self.db, batch.into_iter().map(publish::Work::from).collect())
            .await
            .map_err(Failed::while_committing)
    }

    async fn settle_events(&self, batch: Vec<SettleEvent>) -> Result<()> {
        let settled = emit::settle(&self.db, &batch).await;
        settled.map_err(Failed::while_committing)
    }

    async fn claim_schedules(&self, token: LeaseToken, lease: Duration, limit: u32) -> Result<SchedulesDue> {
        Ok(schedules::claim(&self.db, token, lease, limit).await?)
    }

    async fn publish_schedules(&self, batch: Vec<PublishSchedule>) -> Result<Vec<Option<Vec<Ingested>>>> {
        publish::publish(&self.db, batch.into_iter().map(publish::Work::from).collect())
            .await
            .map_err(Failed::while_committing)
    }

    async fn settle_schedules(&self, batch: Vec<SettleSchedule>) -> Result<()> {
        Ok(schedules::settle(&self.db, &batch).await?)
    }

    async fn cancel_schedules(&self, cancel: CancelSchedules) -> Result<Vec<NotificationId>> {
        Ok(schedules::cancel(&self.db, &cancel).await?)
    }

    async fn overtaken(&self, candidates: Vec<MayBeOvertaken>) -> Result<Vec<Overtaken>> {
        Ok(schedules::overtaken(&self.db, &candidates).await?)
    }

    async fn extend_schedule(
        &self,
        schedule: (TenantId, EventId),
        messages: Vec<ScheduledMessage>,
        notifications: Vec<NewNotification>,
        actor: &Actor,
    ) -> Result<Option<Vec<Ingested>>> {
        schedules::extend(&self.db, schedule, messages, notifications, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn events(&self, tenant: Option<TenantId>, filter: &EventFilter, page: Page) -> Result<EventPage> {
        Ok(pages::events(&self.db, tenant, filter, &page).await?)
    }

    async fn event(&self, tenant: TenantId, id: EventId) -> Result<Option<Event>> {
        let session = self.db.general().await?;
        let found = session.opt(sql::event, &[&tenant.0, &id.0]).await?;
        found.as_ref().map(rows::event).transpose()
    }

    async fn events_by_id(&self, id: EventId, limit: u32) -> Result<Vec<Event>> {
        let session = self.db.general().await?;
        let found = session
            .rows(sql::events_by_id, &[&id.0, &i64::from(limit)])
            .await?;
        found.iter().map(rows::event).collect()
    }

    async fn schedules(&self, tenant: TenantId, filter: &ScheduleFilter, page: Page) -> Result<SchedulePage> {
        Ok(pages::schedules(&self.db, tenant, filter, &page).await?)
    }

    async fn schedule(&self, tenant: TenantId, id: EventId) -> Result<Option<Schedule>> {
        let session = self.db.general().await?;
        let found = session.opt(sql::schedule, &[&tenant.0, &id.0]).await?;
        found.as_ref().map(rows::schedule).transpose()
    }

    async fn replay_event(&self, seq: i64, actor: &Actor) -> Result<Option<EventStatus>> {
        schedules::replay_event(&self.db, seq, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn stuck_events(
        &self,
        tenant: Option<TenantId>,
        filter: &EventFilter,
        by: Timestamp,
        page: Page,
    ) -> Result<StuckEvents> {
        Ok(pages::stuck(&self.db, tenant, filter, by, &page).await?)
    }

    async fn replay_schedule(&self, tenant: TenantId, id: EventId, actor: &Actor) -> Result<bool> {
        schedules::replay(&self.db, tenant, id, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn grant_emit(&self, role: &str, tenant: &str) -> Result<()> {
        let session = self.db.general().await?;
        session.one(sql::grant_emit, &[&role, &tenant]).await?;
        Ok(())
    }

    async fn notify_emits(&self, on: bool) -> Result<()> {
        let channel = on.then(|| self.signals.channel());
        let session = self.db.general().await?;
        session.exec(sql::notify_emits, &[&channel]).await?;
        Ok(())
    }

    async fn event_types(&self, tenant: TenantId) -> Result<Vec<EventTypeRow>> {
        let session = self.db.general().await?;
        let found = session.rows(sql::event_types, &[&tenant.0]).await?;
        found.iter().map(event_types::from_row).collect()
    }

    async fn event_type(&self, tenant: TenantId, name: &str) -> Result<Option<EventTypeRow>> {
        let session = self.db.general().await?;
        let found = session.opt(sql::event_type, &[&tenant.0, &name]).await?;
        found.as_ref().map(event_types::from_row).transpose()
    }

    async fn put_event_type(
        &self,
        tenant: TenantId,
        name: &str,
        definition: &EventType,
        actor: &Actor,
    ) -> Result<EventTypeRow> {
        event_types::put(&self.db, tenant, name, definition, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn delete_event_type(&self, tenant: TenantId, name: &str, actor: &Actor) -> Result<bool> {
        event_types::delete(&self.db, tenant, name, actor)
            .await
            .map_err(Failed::while_committing)
    }
}
