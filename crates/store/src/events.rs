//! Events on their way to notifications: the outbox that applications write to, the schedules made of it, and what a
//! tenant says about each type of event.
//!
//! Leaves to others: what an event becomes (`central::events`), delays (`domain::retry`), other databases
//! ([`crate::sources`]).
//! Always true: publishing is the fence. One statement turns what is `Pending` into `Published`; for the rows it
//! returns, and only for those, the schedule and the notifications are written in the same transaction, by the one way
//! there is to take notifications in. Who was slower finds out and has written nothing.

mod columns;

pub(crate) use columns::{NextLook, as_ingested, extended, kept_error, next_place, sound_due};

use crate::{
    Result,
    outbox::{Ingested, NewNotification},
    query::{Cursor, Page},
};
use async_trait::async_trait;
use domain::{
    Actor, EventId, EventStatus, EventType, LeaseToken, NotificationId, ScheduleStatus, TenantId, Timestamp,
    event::ScheduledMessage,
};
use std::{fmt::Debug, time::Duration};

/// So many bytes of payloads are read at once, and one payload more.
pub(crate) const READ_BYTES: usize = 8 << 20;

#[async_trait]
pub trait Events: Debug + Send + Sync {
    /// Puts events into the outbox. One answer per event, in order; an id that is known, also one whose row was purged,
    /// is a duplicate. When this returns, each of them survives a crash.
    async fn emit(&self, batch: Vec<NewEvent>) -> Result<Vec<Emitted>>;

    /// Becomes or stays the one node that reads this outbox. Answers whether it is `node`.
    async fn own_reader(&self, name: &str, node: &str, ttl: Duration) -> Result<bool>;

    /// What is due, in order of arrival; claims nothing. With `after` it begins behind that place: a hint, since
    /// what others commit late stands before it.
    async fn due_events(&self, after: Option<EventPlace>, limit: u32) -> Result<EventsDue>;

    /// Publishes what is still `Pending`, with schedule and notifications, all of an event or nothing. One answer per
    /// event, in order: none for one that somebody else has had.
    async fn publish_events(&self, batch: Vec<PublishEvent>) -> Result<Vec<Option<Vec<Ingested>>>>;

    /// Writes down what kept events from being published, where they are still `Pending`.
    async fn settle_events(&self, batch: Vec<SettleEvent>) -> Result<()>;

    /// Claims schedules that are due or to be looked at again, oldest first, no more at once than have [`READ_BYTES`] of payloads.
    async fn claim_schedules(&self, token: LeaseToken, lease: Duration, limit: u32) -> Result<SchedulesDue>;

    /// Publishes claimed schedules with their notifications. None for one whose claim was lost.
    async fn publish_schedules(&self, batch: Vec<PublishSchedule>) -> Result<Vec<Option<Vec<Ingested>>>>;

    /// Writes down what became of claimed schedules that were not published.
    async fn settle_schedules(&self, batch: Vec<SettleSchedule>) -> Result<()>;

    /// Cancels pending schedules of an entity for these event types, of events that came before; answers with their notifications
    /// that still wait, for whoever calls them off.
    async fn cancel_schedules(&self, cancel: CancelSchedules) -> Result<Vec<NotificationId>>;

    /// Of these events, those of whose entity a later event was worked on first that calls them off.
    async fn overtaken(&self, candidates: Vec<MayBeOvertaken>) -> Result<Vec<Overtaken>>;

    /// Adds what a replay made to a published schedule, with its notifications: only what is new or takes the place of one
    /// that was missing, those with a notification first, in the order of the notifications.
    async fn extend_schedule(
        &self,
        schedule: (TenantId, EventId),
        messages: Vec<ScheduledMessage>,
        notifications: Vec<NewNotification>,
        actor: &Actor,
    ) -> Result<Option<Vec<Ingested>>>;

    /// A page of the outbox, newest first and without payloads; of one tenant, or with none of all, also of tenants there are not.
    async fn events(&self, tenant: Option<TenantId>, filter: &EventFilter, page: Page) -> Result<EventPage>;
    async fn event(&self, tenant: TenantId, id: EventId) -> Result<Option<Event>>;
    /// Whoever's it is, also of tenants there are not. Several tenants may have events of one id.
    async fn events_by_id(&self, id: EventId, limit: u32) -> Result<Vec<Event>>;

    /// A page of schedules, newest first.
    async fn schedules(&self, tenant: TenantId, filter: &ScheduleFilter, page: Page) -> Result<SchedulePage>;
    async fn schedule(&self, tenant: TenantId, id: EventId) -> Result<Option<Schedule>>;

    /// Makes a Failed or Deferred event due again, its tries from zero. Audited, where its tenant exists.
    async fn replay_event(&self, seq: i64, actor: &Actor) -> Result<Option<EventStatus>>;
    /// The numbers of events that may be replayed and have been so since `by` or longer, newest first.
    async fn stuck_events(
        &self,
        tenant: Option<TenantId>,
        filter: &EventFilter,
        by: Timestamp,
        page: Page,
    ) -> Result<StuckEvents>;
    /// Makes a Failed or Cancelled schedule that was never published due again.
    async fn replay_schedule(&self, tenant: TenantId, id: EventId, actor: &Actor) -> Result<bool>;

    /// Lets a role of the database put in events for a tenant, in its own transactions. Only where applications reach the
    /// database (`Refused` elsewhere).
    async fn grant_emit(&self, role: &str, tenant: &str) -> Result<()>;

    /// Whether producers' own transactions wake the nodes as they commit, at a price for every commit of the database. Means
    /// nothing where applications do not reach the database.
    async fn notify_emits(&self, on: bool) -> Result<()>;

    async fn event_types(&self, tenant: TenantId) -> Result<Vec<EventTypeRow>>;
    async fn event_type(&self, tenant: TenantId, name: &str) -> Result<Option<EventTypeRow>>;
    /// Creates or replaces the type. Audited; raises the directory version.
    async fn put_event_type(
        &self,
        tenant: TenantId,
        name: &str,
        definition: &EventType,
        actor: &Actor,
    ) -> Result<EventTypeRow>;
    /// Answers whether there was one.
    async fn delete_event_type(&self, tenant: TenantId, name: &str, actor: &Actor) -> Result<bool>;
}

/// An event to be put into the outbox.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    pub id: EventId,
    /// By its name, as applications say it; whether there is one is found out later, where nobody's transaction fails.
    pub tenant: String,
    pub topic: Option<String>,
    pub event_type: String,
    pub entity_type: Option<String>,
    pub entity_id: String,
    /// JSON text; looked into later.
    pub payload: String,
    pub schema_version: i32,
    pub correlation_id: Option<String>,
    pub due_at: Option<Timestamp>,
    /// The event source it was read from; empty for what came here by itself.
    pub source: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emitted {
    pub id: EventId,
    pub duplicate: bool,
}

/// A place in the order in which events are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct EventPlace {
    pub next_attempt_at: Timestamp,
    pub seq: i64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EventsDue {
    /// The store's clock when it looked.
    pub now: Timestamp,
    pub directory_version: i64,
    pub rows: Vec<Event>,
    /// Of these the numbers of those whose ids were there before and are purged.
    pub spent: Vec<i64>,
    /// There may be more: as many were found as were asked for, or they are long.
    pub more: bool,
    /// Transactions that were under way when it looked, whoever's: what they wrote is not among the rows. None where commits come
    /// in the order of their numbers.
    pub running: Vec<i64>,
    /// How long the database worked on it; waiting for a session is no part of it.
    pub took: Duration,
}

/// An event as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    pub seq: i64,
    pub id: EventId,
    /// None where there is no tenant of its name.
    pub tenant: Option<TenantId>,
    pub tenant_name: String,
    pub topic: Option<String>,
    pub event_type: String,
    pub entity_type: Option<String>,
    pub entity_id: String,
    /// As much of it as shows whether it is too long; empty in pages.
    pub payload: String,
    pub schema_version: i32,
    pub correlation_id: Option<String>,
    pub due_at: Option<Timestamp>,
    pub source: String,
    pub status: EventStatus,
    pub next_attempt_at: Timestamp,
    /// Tries that failed.
    pub attempts: u32,
    pub last_error: Option<String>,
    pub created_at: Timestamp,
    pub published_at: Option<Timestamp>,
}

impl Event {
    pub fn place(&self) -> EventPlace {
        EventPlace {
            next_attempt_at: self.next_attempt_at,
            seq: self.seq,
        }
    }
}

/// What an event becomes: a schedule that waits for its time, or one that is published at once.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishEvent {
    pub seq: i64,
    pub schedule: NewSchedule,
    pub notifications: Vec<NewNotification>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewSchedule {
    pub tenant: TenantId,
    pub event: EventId,
    pub event_type: String,
    pub entity_type: String,
    pub entity_id: String,
    /// Pending, Published, Failed or Cancelled.
    pub status: ScheduleStatus,
    pub due_at: Timestamp,
    /// While it is pending: when it is looked at next, at the latest when due.
    pub next_look_at: Option<Timestamp>,
    pub last_error: Option<String>,
    /// Those with a notification come first, in the order of the notifications.
    pub messages: Vec<ScheduledMessage>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettleEvent {
    pub seq: i64,
    pub to: EventEnd,
    pub error: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventEnd {
    Failed,
    Deferred,
    /// One more try counts; due again after this.
    Retry(Duration),
    /// Due again after this, uncounted: what failed was not the event's doing.
    Wait(Duration),
}

#[derive(Debug, Clone, PartialEq)]
pub struct SchedulesDue {
    pub rows: Vec<DueSchedule>,
    /// There may be more: as many were found as were asked for, or they are long.
    pub more: bool,
}

/// A schedule whose turn it is, with the event it was made of.
#[derive(Debug, Clone, PartialEq)]
pub struct DueSchedule {
    pub schedule: Schedule,
    pub event: Event,
    /// The claim before this one, where it ended as [`ScheduleEnd::Held`] or by its lease, and no event of the entity was
    /// published since: what was asked under it still holds.
    pub held_by: Option<LeaseToken>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PublishSchedule {
    pub seq: i64,
    pub token: LeaseToken,
    /// Published or Failed.
    pub status: ScheduleStatus,
    pub last_error: Option<String>,
    pub messages: Vec<ScheduledMessage>,
    pub notifications: Vec<NewNotification>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SettleSchedule {
    pub seq: i64,
    pub token: LeaseToken,
    pub to: ScheduleEnd,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ScheduleEnd {
    Cancelled(String),
    Failed(String),
    /// Still pending; due then, and looked at again then.
    Waits {
        due_at: Timestamp,
        next_look_at: Timestamp,
    },
    /// Its own trouble: one more try counts.
    Retry {
        after: Duration,
        error: String,
    },
    /// Trouble of others: uncounted. The next claim is told of this one, unless another event of the entity comes first.
    Held {
        after: Duration,
        error: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CancelSchedules {
    pub tenant: TenantId,
    pub entity_type: String,
    pub entity_id: String,
    pub event_types: Vec<String>,
    /// The number of the event that calls off: what came after it stays.
    pub before: i64,
    pub reason: String,
}

/// An event, and the types of events that call it off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MayBeOvertaken {
    pub seq: i64,
    pub tenant: TenantId,
    pub entity_type: String,
    pub entity_id: String,
    pub cancelled_by: Vec<String>,
}

/// An event that was called off before it was worked on, and by what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overtaken {
    pub seq: i64,
    pub by_type: String,
    pub by: EventId,
}

/// A schedule as it stands; what it derives from its notifications is looked up by whoever shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    pub seq: i64,
    pub tenant: TenantId,
    pub event: EventId,
    pub event_type: String,
    pub entity_type: String,
    pub entity_id: String,
    pub status: ScheduleStatus,
    pub due_at: Timestamp,
    pub next_look_at: Option<Timestamp>,
    pub attempts: u32,
    pub last_error: Option<String>,
    pub messages: Vec<ScheduledMessage>,
    pub created_at: Timestamp,
    pub published_at: Option<Timestamp>,
    /// When it was cancelled or failed while it waited.
    pub settled_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventFilter {
    pub status: Option<EventStatus>,
    pub event_type: Option<String>,
    pub entity_id: Option<String>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// Walks the events of all tenants, also where one is asked for: for ops, who see what the tenant itself cannot.
    pub across: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScheduleFilter {
    /// Type and id.
    pub entity: Option<(String, String)>,
    /// As stored: Completed is among Published.
    pub status: Option<ScheduleStatus>,
    pub event_type: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EventPage {
    pub rows: Vec<Event>,
    pub next: Option<Cursor>,
}

/// A page of the numbers of events.
#[derive(Debug, Clone, PartialEq)]
pub struct StuckEvents {
    pub seqs: Vec<i64>,
    pub next: Option<Cursor>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SchedulePage {
    pub rows: Vec<Schedule>,
    pub next: Option<Cursor>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EventTypeRow {
    pub name: String,
    pub definition: EventType,
    pub version: i64,
    pub updated_at: Timestamp,
}
