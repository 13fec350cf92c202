//! Acting on notifications: send round again, give up, call off, repeat; one by one or over a filter.

use crate::{Accepted, Client, Filter, Result, http::NONE};
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
    /// Rows that were no longer parked when their turn came.
    pub skipped: u64,
    pub finished: bool,
    pub error: Option<String>,
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

    /// Calls off a notification that still waits. One that is being sent right now may still go out.
    pub async fn cancel(&self, id: NotificationId) -> Result<Acted> {
        self.act(id, "cancel").await
    }

    /// Sends what has ended (delivered, parked or discarded) once more, to everybody, as a new notification.
    pub async fn resend(&self, id: NotificationId) -> Result<Accepted> {
        self.act(id, "resend").await
    }

    async fn act<T: serde::de::DeserializeOwned>(&self, id: NotificationId, action: &str) -> Result<T> {
        let id = id.to_string();
        let path = ["api", "notifications", &id, action];
        self.answer(self.request(reqwest::Method::POST, &path, NONE))
            .await
    }

    /// How many parked notifications the filter names.
    pub async fn count_parked(&self, action: &str, filter: &Filter) -> Result<Matching> {
        let body = json!({ "filter": filter.body(), "dryRun": true });
        self.post(&["api", "notifications", action], &body).await
    }

    /// Starts sending every parked notification of the filter round again. With what was counted, only those: what
    /// is parked later stays, and `Conflict` if there are more of them after all.
    pub async fn retry_all(&self, filter: &Filter, counted: Option<Matching>) -> Result<Job> {
        self.start("retry", filter, counted).await
    }

    /// Starts giving up every parked notification of the filter; `counted` as for [`Client::retry_all`].
    pub async fn discard_all(&self, filter: &Filter, counted: Option<Matching>) -> Result<Job> {
        self.start("discard", filter, counted).await
    }

    async fn start(&self, action: &str, filter: &Filter, counted: Option<Matching>) -> Result<Job> {
        let mut body = json!({ "filter": filter.body() });
        if let Some(counted) = counted {
            body["asOf"] = json!(counted.as_of);
            body["total"] = json!(counted.total);
        }
        self.post(&["api", "notifications", action], &body).await
    }

    pub async fn job(&self, id: &str) -> Result<Job> {
        self.get(&["api", "jobs", id], NONE).await
    }
}
