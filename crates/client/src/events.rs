//! Events: telling that something happened, and seeing what became of it.

use crate::{Accepted, Channel, Client, Job, Matching, Page, Result, http::NONE};
pub use domain::EventId;
use domain::{EventStatus, NotificationId, ScheduleStatus, Status, Timestamp};
use reqwest::{Method, RequestBuilder};
use serde::{Deserialize, Serialize, Serializer, ser};
use serde_json::{Map, Value, json, value::RawValue};

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewEvent {
    pub event_type: String,
    pub entity_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_type: Option<String>,
    /// What fills the templates: a JSON object, sent as it is written. A parser would make `10.5` of `10.50`, and the guest reads it.
    #[serde(serialize_with = "as_written")]
    pub payload: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// The same id again is the same event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<EventId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub due_at: Option<Timestamp>,
}

fn as_written<S: Serializer>(payload: &str, to: S) -> std::result::Result<S::Ok, S::Error> {
    let raw: &RawValue = serde_json::from_str(payload).map_err(ser::Error::custom)?;
    raw.serialize(to)
}

impl NewEvent {
    /// Of values that are at hand; of a text, fill in [`NewEvent::payload`].
    pub fn new(
        event_type: impl Into<String>,
        entity_id: impl Into<String>,
        payload: Map<String, Value>,
    ) -> Self {
        Self {
            event_type: event_type.into(),
            entity_id: entity_id.into(),
            entity_type: None,
            payload: Value::Object(payload).to_string(),
            topic: None,
            event_id: None,
            correlation_id: None,
            schema_version: None,
            due_at: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EmittedEvent {
    pub event_id: EventId,
    pub duplicate: bool,
}

/// An event as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventRow {
    pub event_id: EventId,
    pub tenant: String,
    pub topic: Option<String>,
    pub event_type: String,
    pub entity_type: Option<String>,
    pub entity_id: String,
    pub correlation_id: Option<String>,
    pub source: Option<String>,
    pub status: EventStatus,
    pub next_attempt_at: Option<Timestamp>,
    pub attempts: u32,
    pub last_error: Option<String>,
    pub created_at: Timestamp,
    pub published_at: Option<Timestamp>,
    #[serde(default)]
    pub payload: Option<String>,
}

/// What an event became.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleRow {
    pub id: EventId,
    pub event_type: String,
    pub entity_type: String,
    pub entity_id: String,
    pub status: ScheduleStatus,
    pub due_at: Timestamp,
    pub attempts: u32,
    pub last_error: Option<String>,
    pub created_at: Timestamp,
    pub published_at: Option<Timestamp>,
    pub completed_at: Option<Timestamp>,
    pub messages: Vec<ScheduleMessage>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleMessage {
    pub template_id: String,
    pub template_name: String,
    pub template_version: i64,
    pub channel: Channel,
    pub came_to: String,
    pub notification_id: Option<NotificationId>,
    pub status: Option<Status>,
    /// Why it was skipped or refused, as what it was sent before, or which values it lacked.
    pub reason: Option<String>,
    /// What keeps the notification, or parked it.
    #[serde(default)]
    pub last_error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    pub due_again: bool,
    pub requeued: u64,
    pub created: u64,
    /// Why nothing was created, where something goes round again and more is missing.
    #[serde(default)]
    pub reason: Option<String>,
}

/// What was sent once more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EntityResent {
    pub request_id: String,
    pub event_id: EventId,
    pub notifications: Vec<Accepted>,
    /// What was not sent, and why.
    #[serde(default)]
    pub skipped: Vec<ResendSkipped>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResendSkipped {
    pub template_id: String,
    pub template_name: String,
    pub reason: Option<String>,
}

/// Which events, or schedules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    pub status: Option<String>,
    pub event_type: Option<String>,
    pub entity_type: Option<String>,
    pub entity_id: Option<String>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    /// For ops: of one tenant.
    pub tenant: Option<String>,
}

impl ReplayOf {
    fn body(self, filter: &EventFilter) -> Value {
        let pairs = filter.pairs().into_iter().filter(|(name, _)| *name != "tenantId");
        let filter: Map<_, _> = pairs.map(|(name, text)| (name.to_owned(), text.into())).collect();
        match self {
            ReplayOf::Events | ReplayOf::EventsOfAll => json!({ "filter": filter }),
            ReplayOf::Schedules { new_templates } => {
                json!({ "filter": filter, "newTemplates": new_templates })
            }
        }
    }
}

impl EventFilter {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        let texts = [
            ("status", self.status.clone()),
            ("eventType", self.event_type.clone()),
            ("entityType", self.entity_type.clone()),
            ("entityId", self.entity_id.clone()),
            ("from", self.from.map(|t| t.to_string())),
            ("to", self.to.map(|t| t.to_string())),
            ("tenantId", self.tenant.clone()),
        ];
        let given = texts.into_iter().filter_map(|(name, text)| Some((name, text?)));
        given.collect()
    }
}

/// What a replay of many is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayOf {
    /// Failed and Deferred events of the key's tenant.
    Events,
    /// For ops: of all tenants, or of the filter's.
    EventsOfAll,
    /// What events became; Failed ones unless the filter says otherwise.
    Schedules {
        /// Also templates that were made after the event.
        new_templates: bool,
    },
}

impl Client {
    /// How many a replay would be about.
    pub async fn count_replay(&self, of: ReplayOf, filter: &EventFilter) -> Result<Matching> {
        let mut body = of.body(filter);
        body["dryRun"] = json!(true);
        self.answer(self.replay_request(of, filter, &body)).await
    }

    /// Starts a replay of all that match. With what was counted, only of those: what fails later stays, and `Conflict` if there
    /// are more of them after all.
    pub async fn replay_all(
        &self,
        of: ReplayOf,
        filter: &EventFilter,
        counted: Option<Matching>,
    ) -> Result<Job> {
        let mut body = of.body(filter);
        if let Some(counted) = counted {
            body["asOf"] = json!(counted.as_of);
            body["total"] = json!(counted.total);
        }
        self.answer(self.replay_request(of, filter, &body)).await
    }

    fn replay_request(&self, of: ReplayOf, filter: &EventFilter, body: &Value) -> RequestBuilder {
        let path = match of {
            ReplayOf::Events => ["api", "events", "replay"],
            ReplayOf::EventsOfAll => ["ops", "outbox", "replay"],
            ReplayOf::Schedules { .. } => ["api", "automation-schedules", "replay"],
        };
        let tenant = filter.tenant.iter().map(|t| ("tenantId", t.clone()));
        let query: Vec<_> = tenant.collect();
        self.request(Method::POST, &path, &query).json(body)
    }

    /// When this answers, the event is on central's disk. Sent again under the same id it is the same event.
    pub async fn emit(&self, event: &NewEvent) -> Result<EmittedEvent> {
        self.post(&["api", "events"], event).await
    }

    /// The newest events of the filter, at most so many.
    pub async fn events(&self, filter: &EventFilter, n: usize) -> Result<Vec<EventRow>> {
        self.first(&["api", "events"], filter.pairs(), n).await
    }

    pub async fn event(&self, id: EventId) -> Result<EventRow> {
        self.get(&["api", "events", &id.to_string()], NONE).await
    }

    /// For ops: of all tenants.
    pub async fn outbox(&self, filter: &EventFilter, n: usize) -> Result<Vec<EventRow>> {
        self.first(&["ops", "outbox"], filter.pairs(), n).await
    }

    /// The newest schedules of the filter, at most so many.
    pub async fn schedules(&self, filter: &EventFilter, n: usize) -> Result<Vec<ScheduleRow>> {
        self.first(&["api", "automation-schedules"], filter.pairs(), n)
            .await
    }

    /// Has a Failed or Deferred event of the key's tenant worked on again.
    pub async fn replay_own_event(&self, id: EventId) -> Result<()> {
        let path = ["api", "events", &id.to_string(), "replay"];
        let answer = self.send(self.request(Method::POST, &path, NONE)).await?;
        crate::http::checked(answer, self).await.map(drop)
    }

    /// For ops: has a Failed or Deferred event worked on again.
    pub async fn replay_event(&self, id: EventId, tenant: Option<&str>) -> Result<()> {
        let query: Vec<_> = tenant.iter().map(|t| ("tenantId", (*t).to_owned())).collect();
        let path = ["ops", "outbox", &id.to_string(), "replay"];
        let answer = self.send(self.request(Method::POST, &path, &query)).await?;
        crate::http::checked(answer, self).await.map(drop)
    }

    /// Requeues what is parked of a schedule and creates what is missing.
    pub async fn replay_schedule(&self, id: EventId, new_templates: bool) -> Result<Replayed> {
        let body = serde_json::json!({ "newTemplates": new_templates });
        self.post(&["api", "automation-schedules", &id.to_string(), "replay"], &body)
            .await
    }

    /// Sends an entity's message once more. Asked twice under one request, it is sent once.
    pub async fn resend_for_entity(
        &self,
        entity: (&str, &str),
        channel: Channel,
        template: Option<&str>,
        request: Option<&str>,
    ) -> Result<EntityResent> {
        let path = ["api", "entities", entity.0, entity.1, "resend-notification"];
        let body = serde_json::json!({ "channel": channel, "templateId": template });
        let mut asked = self.request(Method::POST, &path, NONE).json(&body);
        if let Some(request) = request {
            asked = asked.header("Idempotency-Key", request);
        }
        self.answer(asked).await
    }

    /// What is said about types of events, as JSON.
    pub async fn event_types(&self) -> Result<Vec<Value>> {
        self.all(&["api", "event-types"]).await
    }

    pub async fn put_event_type(&self, name: &str, definition: &Value) -> Result<Value> {
        self.put(&["api", "event-types", name], definition).await
    }

    pub async fn delete_event_type(&self, name: &str) -> Result<()> {
        self.delete(&["api", "event-types", name], NONE).await
    }

    /// Everything sent about one entity, newest first.
    pub async fn communications(&self, entity_type: &str, entity_id: &str) -> Result<Vec<Value>> {
        let query = [
            ("entityType", entity_type.to_owned()),
            ("entityId", entity_id.to_owned()),
        ];
        let page: Page<Value> = self.get(&["api", "communication-logs"], &query).await?;
        Ok(page.items)
    }
}
