//! What becomes of one event, decided before anything is written.

use super::{
    EventService,
    asking::{Asker, Question},
    lookup::{LookedUp, Waits},
    messages::Messages,
};
use domain::{
    EventType, ScheduleStatus, TenantId, Timestamp,
    event::{Dedupe, ScheduledMessage, limit},
    retry,
    schedule::{Late, ScheduleRule},
    template::Payload,
};
use std::{borrow::Cow, sync::Arc, time::Duration};
use store::{
    events::{Event, EventEnd, EventTypeRow},
    outbox::NewNotification,
};
use tokio::time::Instant;

/// What one event comes to.
#[derive(Debug)]
pub(super) enum Plan {
    /// It stays in the outbox, and why.
    Settle(EventEnd, String),
    Schedule(Box<Planned>),
}

#[derive(Debug)]
pub(super) struct Planned {
    pub tenant: TenantId,
    pub entity_type: String,
    pub status: ScheduleStatus,
    pub due_at: Timestamp,
    pub next_look_at: Option<Timestamp>,
    pub error: Option<String>,
    pub messages: Vec<ScheduledMessage>,
    pub notifications: Vec<NewNotification>,
    /// Event types it calls off for its entity.
    pub cancels: Vec<String>,
}

/// An event whose type, values and entity are known.
#[derive(Debug)]
pub(super) struct Known {
    pub tenant: TenantId,
    pub definition: Arc<EventTypeRow>,
    pub entity_type: String,
    pub values: Payload,
    /// The lookup says that the entity was called off.
    pub cancelled: bool,
}

/// Why an event is not known well enough.
#[derive(Debug)]
pub(super) enum Unknown {
    Failed(String),
    Deferred(String),
    /// The entity is not there.
    Gone,
    /// Its own trouble, which may pass.
    Again(String),
    /// Not its doing.
    Held(Duration, String),
}

impl Unknown {
    /// For a person who asked.
    pub fn in_words(self) -> String {
        match self {
            Self::Failed(why) | Self::Deferred(why) | Self::Again(why) | Self::Held(_, why) => why,
            Self::Gone => "the entity is gone: the lookup found no row".into(),
        }
    }
}

impl EventService {
    pub(super) async fn plan(&self, event: &Event, now: Timestamp, waits: Waits) -> store::Result<Plan> {
        let known = match self.know(event, Asker::Event, now, waits).await? {
            Ok(known) => known,
            Err(unknown) => return Ok(self.unplanned(event, unknown)),
        };
        if let Some(missing) = missing(&known) {
            return Ok(Plan::Settle(EventEnd::Failed, missing));
        }
        let due_at = match due(event, &known, now) {
            Ok(due_at) => due_at,
            Err(why) => return Ok(Plan::Settle(EventEnd::Failed, why)),
        };
        let cancels = known.definition().cancels.clone();
        let planned = match standing(event, &known, due_at, now) {
            Standing::Cancelled(why) => Planned {
                status: ScheduleStatus::Cancelled,
                error: Some(why),
                ..Planned::bare(&known, due_at, cancels)
            },
            Standing::Waits => Planned {
                status: ScheduleStatus::Pending,
                next_look_at: Some(due_at.min(now + self.settings.recheck)),
                ..Planned::bare(&known, due_at, cancels)
            },
            Standing::Due => {
                let messages = self.messages(event, &known, due_at, now).await?;
                Planned::of(&known, due_at, cancels, messages)
            }
        };
        Ok(Plan::Schedule(Box::new(planned)))
    }

    fn unplanned(&self, event: &Event, unknown: Unknown) -> Plan {
        match unknown {
            Unknown::Failed(why) => Plan::Settle(EventEnd::Failed, why),
            Unknown::Deferred(why) => Plan::Settle(EventEnd::Deferred, why),
            Unknown::Gone => Plan::Settle(EventEnd::Failed, "Missing data: the lookup found no row".into()),
            Unknown::Again(why) => Plan::Settle(self.again(event.attempts), why),
            Unknown::Held(after, why) => Plan::Settle(EventEnd::Wait(after), why),
        }
    }

    /// After an error of its own: later, or never.
    pub(super) fn again(&self, attempts: u32) -> EventEnd {
        let tries = attempts.saturating_add(1);
        retry::event_retry(tries, self.settings.max_attempts).map_or(EventEnd::Failed, EventEnd::Retry)
    }

    /// From now on, for all lookups of a batch together.
    pub(super) fn briefly(&self) -> Waits {
        Waits::Briefly(Instant::now() + self.settings.lookup_wait)
    }

    /// Everything there is to know about an event. Asks the network when its type has a lookup.
    pub(super) async fn know(
        &self,
        event: &Event,
        asker: Asker,
        now: Timestamp,
        waits: Waits,
    ) -> store::Result<Result<Known, Unknown>> {
        let Some(tenant) = event.tenant else {
            return Ok(Err(Unknown::Failed("Unknown tenant".into())));
        };
        // Length before content: what is too long is not even looked at.
        if event.payload.len() > self.settings.max_payload {
            let longest = self.settings.max_payload;
            let why = format!("the payload is longer than {longest} bytes (events.max_payload)");
            return Ok(Err(Unknown::Failed(why)));
        }
        let Some(row) = self.directory.event_type(tenant, &event.event_type).await? else {
            let name: String = event.event_type.chars().take(limit::EVENT_TYPE).collect();
            return Ok(Err(Unknown::Deferred(format!("there is no event type {name:?}"))));
        };
        if event.entity_id.trim().is_empty() || event.entity_id.chars().count() > limit::ENTITY {
            let why = format!("Missing data: an entity id of 1 to {} characters", limit::ENTITY);
            return Ok(Err(Unknown::Failed(why)));
        }
        let values = match Payload::read(&event.payload) {
            Ok(values) => values,
            Err(why) => return Ok(Err(Unknown::Failed(why.to_string()))),
        };
        let named = event
            .entity_type
            .as_deref()
            .filter(|kind| !kind.trim().is_empty());
        let entity_type = named.unwrap_or_else(|| row.definition.entity_type(&event.event_type));
        let mut known = Known {
            tenant,
            entity_type: entity_type.chars().take(limit::ENTITY).collect(),
            values,
            cancelled: false,
            definition: row.clone(),
        };
        let Some(lookup) = known.definition().lookup.clone() else {
            return Ok(Ok(known));
        };
        let question = Question::of(event, &lookup, asker);
        Ok(match self.lookups.look_up(question, now, waits).await {
            LookedUp::Row { values, cancelled } => {
                known.values.overlay(values);
                known.cancelled = cancelled;
                Ok(known)
            }
            LookedUp::NoRow => Err(Unknown::Gone),
            LookedUp::Held { after, why } => Err(Unknown::Held(after, why)),
            LookedUp::Failed(why) => Err(Unknown::Again(why)),
        })
    }
}

impl Known {
    pub fn definition(&self) -> &EventType {
        &self.definition.definition
    }

    pub fn dedupe(&self) -> Dedupe {
        self.definition().dedupe
    }

    pub fn expires_at(&self, due_at: Timestamp) -> Option<Timestamp> {
        self.definition().expires_after.map(|after| due_at + after)
    }
}

impl Planned {
    fn bare(known: &Known, due_at: Timestamp, cancels: Vec<String>) -> Self {
        Self {
            tenant: known.tenant,
            entity_type: known.entity_type.clone(),
            status: ScheduleStatus::Published,
            due_at,
            next_look_at: None,
            error: None,
            messages: vec![],
            notifications: vec![],
            cancels,
        }
    }

    fn of(known: &Known, due_at: Timestamp, cancels: Vec<String>, messages: Messages) -> Self {
        Self {
            status: messages.status(),
            error: messages.failed,
            messages: messages.listed,
            notifications: messages.notifications,
            ..Self::bare(known, due_at, cancels)
        }
    }
}

/// The reason of one whose time has passed by more than its rule allows.
pub(super) const LATE: &str = "Late";

/// Where an event stands towards its time.
pub(super) enum Standing {
    Due,
    Waits,
    Cancelled(String),
}

pub(super) fn standing(event: &Event, known: &Known, due_at: Timestamp, now: Timestamp) -> Standing {
    if known.cancelled {
        return Standing::Cancelled("the entity was cancelled".into());
    }
    if due_at > now {
        return Standing::Waits;
    }
    match rule(event, known) {
        Some(rule) if rule.late == Late::Skip && rule.is_late(due_at, now) => {
            Standing::Cancelled(LATE.into())
        }
        _ => Standing::Due,
    }
}

/// The rule that says when, unless the event says it itself.
fn rule<'k>(event: &Event, known: &'k Known) -> Option<&'k ScheduleRule> {
    let rule = known.definition().schedule.as_ref();
    rule.filter(|_| event.due_at.is_none())
}

/// When an event is due: as it says, as its type's rule says, or when it came.
pub(super) fn due(event: &Event, known: &Known, now: Timestamp) -> Result<Timestamp, String> {
    match (event.due_at, rule(event, known)) {
        (Some(due_at), _) => Ok(due_at),
        (None, Some(rule)) => rule.due(|name| known.values.get(name).map(Cow::Borrowed)),
        (None, None) => Ok(event.created_at.min(now)),
    }
}

/// The required values that are not there, in words.
pub(super) fn missing(known: &Known) -> Option<String> {
    let is_there = |name: &String| known.values.get(name).is_some_and(|text| !text.trim().is_empty());
    let required = known.definition().required.iter();
    let lacking: Vec<_> = required
        .filter(|name| !is_there(name))
        .map(String::as_str)
        .collect();
    (!lacking.is_empty()).then(|| format!("Missing data: {}", lacking.join(", ")))
}
