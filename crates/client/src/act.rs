//! Acting on notifications: send round again, give up, call off, repeat; one by one or over a filter.

use crate::{Accepted, Client, Filter, Result, http::NONE, read::Page};
use domain::{NotificationId, Status, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Where a notification stands after an action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Acted {
    pub notification_id: NotificationId,
    pub status: Status,
}

/// A bulk action under way at central.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    pub id: String,
    pub action: String,
    pub total: u64,
    /// Counting stopped early: there may be more.
    #[serde(default)]
    pub total_at_least: bool,
    pub done: u64,
    /// Rows whose state no longer allowed it when their turn came.
    pub skipped: u64,
    pub finished: bool,
    pub error: Option<String>,
    /// Who asked for it.
    #[serde(default)]
    pub actor: String,
    #[serde(default)]
    pub reason: Option<String>,
    /// Who ended it before it was done.
    #[serde(default)]
    pub stopped_by: Option<String>,
    pub created_at: Timestamp,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// How many rows a bulk action would go over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Matching {
    pub total: u64,
    #[serde(default)]
    pub total_at_least: bool,
    /// When they were counted. A job that is given this acts on these and no others.
    pub as_of: Timestamp,
}

impl Client {
    /// Sends a parked notification round again.
    pub async fn retry(&self, id: NotificationId) -> Result<Acted> {
        self.act(id, "retry").await
    }

    /// Gives a parked notification up for good.
    pub async fn discard(&self, id: NotificationId) -> Result<Acted> {
        self.act(id, "discard").await
    }

    /// The same, and says why; central may demand that.
    pub async fn discard_because(&self, id: NotificationId, reason: &str) -> Result<Acted> {
        self.act_with(id, "discard", &json!({ "reason": reason })).await
    }

    /// Calls off a notification that still waits. One that is being sent right now may still go out.
    pub async fn cancel(&self, id: NotificationId) -> Result<Acted> {
        self.act(id, "cancel").await
    }

    /// The same, and says why; central may demand that.
    pub async fn cancel_because(&self, id: NotificationId, reason: &str) -> Result<Acted> {
        self.act_with(id, "cancel", &json!({ "reason": reason })).await
    }

    /// Has a waiting notification tried now instead of later; what comes of it counts as usual.
    pub async fn try_now(&self, id: NotificationId) -> Result<Acted> {
        self.act(id, "try").await
    }

    /// Sends what has ended (delivered, parked or discarded) once more, to everybody, as a new notification.
    pub async fn resend(&self, id: NotificationId) -> Result<Accepted> {
        self.act(id, "resend").await
    }

    /// The same, to be delivered by then or not at all.
    pub async fn resend_until(&self, id: NotificationId, expires_at: Timestamp) -> Result<Accepted> {
        self.act_with(id, "resend", &json!({ "expiresAt": expires_at }))
            .await
    }

    async fn act_with<T: serde::de::DeserializeOwned>(
        &self,
        id: NotificationId,
        action: &str,
        body: &Value,
    ) -> Result<T> {
        self.post(&["api", "notifications", &id.to_string(), action], body)
            .await
    }

    async fn act<T: serde::de::DeserializeOwned>(&self, id: NotificationId, action: &str) -> Result<T> {
        let id = id.to_string();
        let path = ["api", "notifications", &id, action];
        self.answer(self.request(reqwest::Method::POST, &path, NONE))
            .await
    }

    /// How many notifications the filter names, of those that `retry`, `discard`, `cancel` or `resend` is for.
    pub async fn count_parked(&self, action: &str, filter: &Filter) -> Result<Matching> {
        let body = json!({ "filter": filter.body(), "dryRun": true });
        self.post(&["api", "notifications", action], &body).await
    }

    /// Starts sending every parked notification of the filter round again. With what was counted, only those: what
    /// is parked later stays, and `Conflict` if there are more of them after all.
    pub async fn retry_all(&self, filter: &Filter, counted: Option<Matching>) -> Result<Job> {
        self.act_on_all("retry", filter, counted, None).await
    }

    /// Starts giving up every parked notification of the filter; `counted` as for [`Client::retry_all`].
    pub async fn discard_all(&self, filter: &Filter, counted: Option<Matching>) -> Result<Job> {
        self.act_on_all("discard", filter, counted, None).await
    }

    /// Starts `retry`, `discard`, `cancel` or `resend` over a filter; `counted` as for [`Client::retry_all`].
    pub async fn act_on_all(
        &self,
        action: &str,
        filter: &Filter,
        counted: Option<Matching>,
        reason: Option<&str>,
    ) -> Result<Job> {
        let mut body = json!({ "filter": filter.body() });
        if let Some(reason) = reason {
            body["reason"] = json!(reason);
        }
        if let Some(counted) = counted {
            body["asOf"] = json!(counted.as_of);
            body["total"] = json!(counted.total);
        }
        self.post(&["api", "notifications", action], &body).await
    }

    pub async fn job(&self, id: &str) -> Result<Job> {
        self.get(&["api", "jobs", id], NONE).await
    }

    /// The newest bulk actions, newest first.
    pub async fn jobs(&self) -> Result<Vec<Job>> {
        let page: Page<_> = self.get(&["api", "jobs"], NONE).await?;
        Ok(page.items)
    }

    /// Stops a bulk action where it is; what was done stays done.
    pub async fn stop_job(&self, id: &str) -> Result<Job> {
        let path = ["api", "jobs", id, "stop"];
        self.answer(self.request(reqwest::Method::POST, &path, NONE))
            .await
    }
}
