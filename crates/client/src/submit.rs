//! Handing notifications over.

use crate::{Client, Notification, Result};
use domain::{FieldError, NotificationId, Status};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Central's word that the notification is on its disk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    pub notification_id: NotificationId,
    /// None for a resend of something that was purged long ago.
    pub status: Option<Status>,
    /// It was there already: sent before, or the answer to an earlier try got lost.
    pub duplicate: bool,
}

/// What became of one notification of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BatchAnswer {
    pub accepted: bool,
    pub notification_id: Option<NotificationId>,
    pub status: Option<Status>,
    #[serde(default)]
    pub duplicate: bool,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
}

#[derive(Deserialize)]
struct Answers {
    results: Vec<BatchAnswer>,
}

impl Client {
    /// Submits one notification. When this answers, it is on central's disk.
    ///
    /// When central does not answer, the same notification is sent again a few times, under the same id. After an
    /// error it may or may not be there; to find out, give it an id or a key and submit it again.
    pub async fn submit(&self, notification: &Notification) -> Result<Accepted> {
        let named = notification.named();
        self.again
            .run(|| self.post(&["api", "notifications"], &named))
            .await
    }

    /// Submits up to 1,000 at once; one answer each, in order. Retried like [`Client::submit`].
    pub async fn submit_batch(&self, notifications: &[Notification]) -> Result<Vec<BatchAnswer>> {
        let named: Vec<_> = notifications.iter().map(Notification::named).collect();
        let body = json!({ "notifications": named });
        let ask = || self.post::<Answers>(&["api", "notifications", "batch"], &body);
        Ok(self.again.run(ask).await?.results)
    }
}

#[cfg(test)]
#[path = "submit_tests.rs"]
mod tests;
