//! Who must not be written to.

use crate::{Client, Result, http::NONE};
use domain::{Channel, Timestamp, suppression::SuppressionSource};
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// An entry of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Suppression {
    pub id: i64,
    pub address: String,
    pub channel: Option<Channel>,
    pub topic: Option<String>,
    pub reason: String,
    pub source: SuppressionSource,
    pub created_at: Timestamp,
    pub created_by: String,
}

impl Client {
    /// Newest first, of this address if one is asked for.
    pub async fn suppressions(&self, address: Option<&str>) -> Result<Vec<Suppression>> {
        let query = address
            .map(|text| ("address", text.to_owned()))
            .into_iter()
            .collect();
        self.pages(&["api", "suppressions"], query, 1_000)
            .try_collect()
            .await
    }

    /// Nothing is sent to the address any more, over this channel and about this topic if they are named.
    pub async fn suppress(
        &self,
        address: &str,
        channel: Option<Channel>,
        topic: Option<&str>,
        reason: &str,
    ) -> Result<Suppression> {
        let entry = json!({"address": address, "channel": channel, "topic": topic, "reason": reason});
        self.post(&["api", "suppressions"], &entry).await
    }

    pub async fn unsuppress(&self, id: i64) -> Result<()> {
        self.delete(&["api", "suppressions", &id.to_string()], NONE).await
    }
}
