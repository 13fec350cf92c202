//! Asking a site's agent.

use super::{Site, of_site};
use crate::{
    Client, Page, Result,
    http::NONE,
    sites::{self, ParkedCount, ParkedPage},
};
use domain::{
    NotificationId, Timestamp, TrackedOperationId,
    site::{Category, OperationStatus, ParkedAction, ParkedFilter},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Where a notification stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotificationStatus {
    pub notification_id: NotificationId,
    /// `Forwarding` while it waits at the site, central's word once it is there, `Unknown` when central cannot be
    /// asked.
    pub status: String,
    /// `site` or `central`.
    #[serde(default, rename = "where")]
    pub place: Option<String>,
    #[serde(default)]
    pub retry_count: u32,
    #[serde(default)]
    pub last_error: Option<String>,
    #[serde(default)]
    pub enqueued_at: Option<Timestamp>,
    #[serde(default)]
    pub delivered_at: Option<Timestamp>,
    /// Why it is not known.
    #[serde(default)]
    pub detail: Option<String>,
    /// When central took it over.
    #[serde(default)]
    pub handed_over_at: Option<Timestamp>,
    /// What central said last.
    #[serde(default)]
    pub last_known: Option<Value>,
}

/// Where a call or write stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tracking {
    pub tracked_operation_id: TrackedOperationId,
    pub kind: Category,
    pub target: String,
    pub target_summary: Option<String>,
    pub status: OperationStatus,
    pub retry_count: u32,
    /// Attempts begun in all, the immediate one and those that were cut short among them.
    pub attempts: u64,
    pub last_error: Option<String>,
    pub http_status: Option<u16>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub terminal_at: Option<Timestamp>,
    pub instance: Option<String>,
    pub source_script: Option<String>,
    pub source_node: Option<String>,
    /// The person who acted on it last, if anybody did.
    #[serde(default)]
    pub actor: Option<String>,
}

/// Part of what waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingPage {
    pub items: Vec<WaitingMessage>,
    #[serde(default)]
    pub next_cursor: Option<String>,
    pub total: u64,
}

/// A message that waits for its next attempt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WaitingMessage {
    pub message_id: String,
    pub category: Category,
    pub target: String,
    pub summary: Option<String>,
    pub retry_count: u32,
    pub max_retries: u32,
    pub created_at: Timestamp,
    pub last_attempt_at: Option<Timestamp>,
    pub due_at: Timestamp,
    pub last_error: Option<String>,
    pub instance: Option<String>,
    pub script: Option<String>,
    /// Why it is not attempted although it may be due: the other machine of the site may make it.
    #[serde(default)]
    pub held: Option<String>,
}

/// What became of a waiting message that was tried at somebody's word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TriedNow {
    /// `Delivered`, `Retrying`, `Parked`; `Forwarding` for a notification, which goes with the next batch; from central also
    /// `Trying`: the attempt is not over yet.
    pub status: String,
    #[serde(default)]
    pub last_error: Option<String>,
}

/// A line of the site event log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteEvent {
    pub at: Timestamp,
    pub what: String,
    pub message_id: Option<String>,
    /// None where it is about the buffer itself.
    pub category: Option<Category>,
    pub target: String,
    pub count: u64,
    pub actor: Option<String>,
    pub detail: Option<String>,
}

/// What came of one step of a bulk action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BulkStep {
    pub done: u64,
    /// None: that was all.
    pub next_cursor: Option<String>,
}

/// How the agent is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    pub status: String,
    pub refusing: Option<String>,
    pub site: String,
    pub link: Value,
    pub waiting: u64,
    pub parked: u64,
    pub without_handler: u64,
    pub buffer_bytes: u64,
    /// What was found damaged and nobody has acknowledged.
    #[serde(default)]
    pub damage: Vec<Damage>,
    /// What central acknowledged before this moment gave way to new messages.
    #[serde(default)]
    pub forgotten_until: Option<Timestamp>,
    /// How the agent's background loops are doing.
    #[serde(default)]
    pub loops: Vec<LoopHealth>,
    /// The two machines of the site, where it has two.
    #[serde(default)]
    pub pair: Option<super::Pair>,
}

/// How a background loop of the agent is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoopHealth {
    pub name: String,
    pub ok: bool,
    /// When its last run began; of one that has not run yet, when it was started.
    pub at: Timestamp,
    pub duration_ms: u64,
    pub runs: u64,
    /// Runs that ended in a panic; it was started again each time.
    pub panics: u64,
    /// A run is under way since then.
    pub running_since: Option<Timestamp>,
    /// None while it runs, or only waits to be woken.
    pub next_run: Option<Timestamp>,
}

/// Something that was found damaged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Damage {
    pub id: i64,
    pub at: Timestamp,
    pub what: String,
    /// The file that was set aside.
    pub file: Option<String>,
    /// Messages that were brought back.
    pub recovered: u64,
    /// Messages that could not be read.
    pub lost: u64,
}

/// What came of reading a file that was set aside.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recovered {
    pub file: String,
    pub recovered: u64,
    /// Messages that the agent has or had already.
    pub known: u64,
    pub lost: u64,
    /// Why not everything could be looked at.
    pub trouble: Option<String>,
}

impl Site {
    /// Of two machines the other one is asked where the first cannot say: a standby does not ask central.
    pub async fn status(&self, id: NotificationId) -> Result<NotificationStatus> {
        let id = &id.to_string();
        let ask = |client: Client| async move { client.get(&["notify", id], NONE).await };
        let says_where = |found: &NotificationStatus| found.status != "Unknown";
        of_site(self.of_either(says_where, ask).await)
    }

    pub async fn tracking(&self, id: TrackedOperationId) -> Result<Tracking> {
        of_site(self.client.get(&["tracking", &id.to_string()], NONE).await)
    }

    /// A page of what is parked, oldest first.
    pub async fn parked(&self, limit: u32, cursor: Option<&str>) -> Result<ParkedPage> {
        self.parked_where(&ParkedFilter::default(), limit, cursor).await
    }

    /// The same, of those that match.
    pub async fn parked_where(
        &self,
        filter: &ParkedFilter,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<ParkedPage> {
        let mut query = sites::pairs(filter);
        query.push(("limit", limit.to_string()));
        query.extend(cursor.map(|c| ("cursor", c.to_owned())));
        of_site(self.client.get(&["parked"], &query).await)
    }

    /// How many messages match. Nothing is changed.
    pub async fn count_parked(&self, action: ParkedAction, filter: &ParkedFilter) -> Result<ParkedCount> {
        let mut body = sites::body(filter);
        body["dryRun"] = true.into();
        of_site(self.client.post(&["parked", action.word()], &body).await)
    }

    /// Acts on the next few messages that match, behind the cursor of the step before.
    pub async fn act_on_parked(
        &self,
        action: ParkedAction,
        filter: &ParkedFilter,
        cursor: Option<&str>,
    ) -> Result<BulkStep> {
        let mut body = sites::body(filter);
        body["cursor"] = cursor.into();
        of_site(self.client.post(&["parked", action.word()], &body).await)
    }

    pub async fn retry_parked(&self, id: &str) -> Result<()> {
        let acted: Result<Value> = self.client.post(&["parked", id, "retry"], &()).await;
        of_site(acted).map(drop)
    }

    pub async fn discard_parked(&self, id: &str) -> Result<()> {
        let acted: Result<Value> = self.client.post(&["parked", id, "discard"], &()).await;
        of_site(acted).map(drop)
    }

    /// What was found damaged and nobody has acknowledged.
    pub async fn damage(&self) -> Result<Vec<Damage>> {
        let page: Page<_> = of_site(self.client.get(&["damage"], NONE).await)?;
        Ok(page.items)
    }

    /// Says that somebody has seen it: this entry, or all of them. How many there were.
    pub async fn acknowledge_damage(&self, id: Option<i64>) -> Result<u64> {
        let body = json!({ "id": id });
        let done: Value = of_site(self.client.post(&["damage", "acknowledge"], &body).await)?;
        Ok(done["acknowledged"].as_u64().unwrap_or(0))
    }

    /// Has the agent bring messages back from a file beside its buffer.
    pub async fn recover(&self, file: &str) -> Result<Recovered> {
        of_site(self.client.post(&["recover"], &json!({ "file": file })).await)
    }

    /// A page of what waits, in the order of acceptance.
    pub async fn waiting(&self, limit: u32, cursor: Option<&str>) -> Result<WaitingPage> {
        let mut query = vec![("limit", limit.to_string())];
        query.extend(cursor.map(|c| ("cursor", c.to_owned())));
        of_site(self.client.get(&["waiting"], &query).await)
    }

    /// Has a waiting message tried now; answers when that is over.
    pub async fn try_waiting(&self, id: &str) -> Result<TriedNow> {
        of_site(self.client.post(&["waiting", id, "try"], &()).await)
    }

    pub async fn discard_waiting(&self, id: &str) -> Result<()> {
        let acted: Result<Value> = self.client.post(&["waiting", id, "discard"], &()).await;
        of_site(acted).map(drop)
    }

    /// What happened to one message, newest first.
    pub async fn events_of(&self, id: &str) -> Result<Vec<SiteEvent>> {
        let query = [("messageId", id.to_owned()), ("limit", "500".to_owned())];
        let page: Page<_> = of_site(self.client.get(&["events"], &query).await)?;
        Ok(page.items)
    }

    /// The newest lines of the event log.
    pub async fn events(&self, limit: u32) -> Result<Vec<SiteEvent>> {
        let page: Page<_> = of_site(
            self.client
                .get(&["events"], &[("limit", limit.to_string())])
                .await,
        )?;
        Ok(page.items)
    }

    /// How the agent is, also when it is not well.
    pub async fn health(&self) -> Result<Health> {
        let request = self.client.request(reqwest::Method::GET, &["healthz"], NONE);
        let answer = of_site(self.client.send(request).await)?;
        let status = answer.status().as_u16();
        let body = of_site(answer.bytes().await.map_err(|e| self.client.unreachable(e)))?;
        serde_json::from_slice(&body).map_err(|e| crate::Error::Site {
            status,
            code: String::new(),
            detail: format!("an answer this client does not understand: {e}"),
            retry_after: None,
        })
    }
}
