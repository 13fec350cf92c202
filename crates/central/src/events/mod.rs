//! Events become notifications.
//!
//! In reading order: an event comes in ([`EventService::emit`], or by an application's own transaction), the
//! [`materializer`] makes a [`plan`] of it (events of applications' own databases are brought by [`pull`]), its [`messages`] are rendered, and publishing hands them to the one way
//! there is to take notifications in. What is due later is looked at again by the [`sender`]. People see it in
//! [`views`], try templates with [`past`] ones, and act in [`resend`], [`replay`] and, on many, [`bulk`].
//!
//! Leaves to others: rows and the fence (`store::events`), templates (`crate::templates`), delivery (the dispatcher), delays
//! (`domain::retry`), other
//! databases (`store::sources`).
//! Always true: nothing is locked while a lookup is on the network, and all lookups of a batch are waited for briefly, together; an event that
//! cannot become anything is a row that says why; what is not the event's own doing counts against nobody.

mod alone;
mod asking;
mod bring;
pub mod bulk;
mod hold;
mod looks;
mod lookup;
pub mod materializer;
mod messages;
mod overtaken;
mod past;
mod plan;
pub(crate) mod pull;
mod reader;
mod replay;
mod resend;
mod sender;
pub mod views;

pub(crate) use lookup::Lookups;
use messages::TenantStyle;
use overtaken::Cancellers;
pub use replay::{ReplayRequest, Replayed};
pub use resend::{Resend, ResendError, Resent};

use crate::{
    directory::{Directory, versioned::Versioned},
    ingest::Ingest,
    operator::OperatorService,
    templates::TemplateService,
};
use domain::{
    Actor, EventType, FieldError, LaneId, NotificationId, TenantId,
    event::{event_type, limit},
};
use std::{sync::Arc, time::Duration};
use store::{
    Events, Queries, Signals,
    events::{Emitted, EventTypeRow, NewEvent},
    outbox::{Ingested, NewNotification},
    signals::Signal,
    sources::EventSource,
};
use tokio::sync::Notify;

/// What a node is told about events by its configuration.
#[derive(Debug, Clone)]
pub struct EventSettings {
    /// The longest pause between two looks.
    pub poll_interval: Duration,
    pub batch_size: u32,
    /// Retries after errors of the event itself.
    pub max_attempts: u32,
    /// How often what waits for its time is computed again.
    pub recheck: Duration,
    /// The longest payload, in bytes.
    pub max_payload: usize,
    /// Whether producers in the store's own database wake this node, at a price for their commits.
    pub notify: bool,
    /// How long a loop waits for all lookups of a batch before it goes on with others and comes back for the answers.
    pub lookup_wait: Duration,
    /// Outboxes in applications' own databases.
    pub sources: Vec<Arc<EventSource>>,
}

impl Default for EventSettings {
    fn default() -> Self {
        Self {
            poll_interval: Duration::from_millis(200),
            batch_size: 50,
            max_attempts: 5,
            recheck: Duration::from_secs(3600),
            max_payload: 1 << 20,
            notify: false,
            lookup_wait: Duration::from_millis(500),
            sources: vec![],
        }
    }
}

/// So many events are planned beside each other: their lookups wait for the network.
const PLANNED_AT_ONCE: usize = 16;
/// So many tenants' styles are kept in memory.
const TENANT_STYLES: usize = 10_000;
/// Which types of events call off which: so many names are kept in memory.
const CANCELLERS: usize = 100_000;

#[derive(Debug, thiserror::Error)]
pub enum EventError {
    #[error("some fields are wrong")]
    Fields(Vec<FieldError>),
    #[error(transparent)]
    Store(#[from] store::Error),
}

/// Cheap to clone; clones are the same.
#[derive(Debug, Clone)]
pub struct EventService {
    store: Arc<dyn Events>,
    queries: Arc<dyn Queries>,
    tenants: Arc<dyn store::Directory>,
    signals: Arc<dyn Signals>,
    directory: Arc<Directory>,
    templates: TemplateService,
    ingest: Ingest,
    operator: OperatorService,
    lookups: Lookups,
    styles: Arc<Versioned<TenantId, TenantStyle>>,
    cancellers: Arc<Versioned<TenantId, Cancellers>>,
    settings: EventSettings,
    node: Arc<str>,
    woken: Arc<Notify>,
}

/// What the service stands on.
#[derive(Debug)]
pub struct EventParts {
    pub store: Arc<dyn Events>,
    pub queries: Arc<dyn Queries>,
    pub tenants: Arc<dyn store::Directory>,
    pub signals: Arc<dyn Signals>,
    pub directory: Arc<Directory>,
    pub templates: TemplateService,
    pub ingest: Ingest,
    pub operator: OperatorService,
    pub(crate) lookups: Lookups,
    pub settings: EventSettings,
    pub node: String,
}

impl EventService {
    pub fn new(parts: EventParts) -> Self {
        Self {
            store: parts.store,
            queries: parts.queries,
            tenants: parts.tenants,
            signals: parts.signals,
            directory: parts.directory,
            templates: parts.templates,
            ingest: parts.ingest,
            operator: parts.operator,
            lookups: parts.lookups,
            styles: Arc::new(Versioned::with_room(TENANT_STYLES)),
            cancellers: Arc::new(Versioned::with_room(CANCELLERS)),
            settings: parts.settings,
            node: parts.node.into(),
            woken: Arc::default(),
        }
    }

    /// Puts one event into the outbox. When this returns, it survives a crash.
    pub async fn emit(&self, event: NewEvent) -> Result<Emitted, EventError> {
        let problems = self.problems(&event);
        if !problems.is_empty() {
            return Err(EventError::Fields(problems));
        }
        let mut emitted = self.store.emit(vec![event]).await?;
        self.woken.notify_one();
        self.signals.announce(Signal::Events);
        emitted
            .pop()
            .ok_or_else(|| store::Error::unavailable("the store gave no answer").into())
    }

    /// What a tenant is called, as applications say it.
    pub async fn tenant_name(&self, tenant: TenantId) -> store::Result<Option<String>> {
        let all = self.tenants.tenants().await?;
        Ok(all.into_iter().find(|one| one.id == tenant).map(|one| one.name))
    }

    /// Another node put something into the outbox.
    pub fn wake(&self) {
        self.woken.notify_one();
    }

    pub(crate) async fn woken(&self) {
        self.woken.notified().await;
    }

    fn problems(&self, event: &NewEvent) -> Vec<FieldError> {
        let mut bad: Vec<FieldError> = vec![];
        if let Some(problem) = event_type::name_problem(&event.event_type) {
            bad.push(FieldError::new("eventType", problem));
        }
        let texts = [
            ("entityId", Some(event.entity_id.as_str()), limit::ENTITY),
            ("entityType", event.entity_type.as_deref(), limit::ENTITY),
            ("topic", event.topic.as_deref(), limit::TOPIC),
            (
                "correlationId",
                event.correlation_id.as_deref(),
                limit::CORRELATION,
            ),
        ];
        for (field, text, longest) in texts {
            let Some(text) = text else { continue };
            if text.trim().is_empty() {
                bad.push(FieldError::new(field, "must not be blank"));
            }
            if text.chars().count() > longest || text.contains('\0') {
                let problem = format!("must be at most {longest} characters, without NUL");
                bad.push(FieldError::new(field, problem));
            }
        }
        if event.payload.len() > self.settings.max_payload {
            let problem = format!("must be at most {} bytes", self.settings.max_payload);
            bad.push(FieldError::new("payload", problem));
        }
        bad
    }

    /// Creates or replaces what is said about a type of event.
    pub async fn put_type(
        &self,
        tenant: TenantId,
        name: &str,
        definition: &EventType,
        actor: &Actor,
    ) -> Result<EventTypeRow, EventError> {
        let mut problems = definition.problems();
        if let Some(problem) = event_type::name_problem(name) {
            problems.push(FieldError::new("name", problem));
        }
        if let Some(lookup) = &definition.lookup {
            let of = self.tenant_name(tenant).await?.unwrap_or_default();
            if !self.lookups.knows(lookup, &of) {
                let problem = "there is no such lookup for this tenant in the configuration";
                problems.push(FieldError::new("lookup", problem));
            }
        }
        if !problems.is_empty() {
            return Err(EventError::Fields(problems));
        }
        let put = self.store.put_event_type(tenant, name, definition, actor).await?;
        self.types_changed().await?;
        Ok(put)
    }

    /// Answers whether there was one.
    pub async fn delete_type(&self, tenant: TenantId, name: &str, actor: &Actor) -> store::Result<bool> {
        let gone = self.store.delete_event_type(tenant, name, actor).await?;
        self.types_changed().await?;
        Ok(gone)
    }

    async fn types_changed(&self) -> store::Result<()> {
        self.directory.refresh().await?;
        self.signals.announce(Signal::Directory);
        Ok(())
    }

    /// What follows once notifications are on disk: they are told of and their lanes woken.
    fn taken_in(&self, taken: Vec<(TenantId, NotificationId, LaneId)>) {
        self.ingest.all_taken_in(taken);
    }
}

/// Who is who among notifications before they are handed over.
fn known(notifications: &[NewNotification]) -> Vec<(TenantId, NotificationId, LaneId)> {
    let key = |new: &NewNotification| (new.submission.tenant, new.submission.id, new.lane);
    notifications.iter().map(key).collect()
}

/// Those that are new.
fn accepted(
    known: Vec<(TenantId, NotificationId, LaneId)>,
    answers: &[Ingested],
) -> impl Iterator<Item = (TenantId, NotificationId, LaneId)> {
    let new = known.into_iter().zip(answers);
    new.filter(|(_, answer)| answer.is_new()).map(|(key, _)| key)
}
