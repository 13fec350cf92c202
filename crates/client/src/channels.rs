//! The order of a channel's providers, and whether the next one takes over.

use crate::{Client, Result};
use domain::Channel;
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A channel and its providers in the order in which they are used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChannelOrder {
    #[serde(rename = "type")]
    pub channel: Channel,
    /// What waits for a provider that is held for trouble of its own goes on to the next.
    pub failover: bool,
    pub providers: Vec<String>,
}

impl Client {
    pub async fn channels(&self) -> Result<Vec<ChannelOrder>> {
        self.pages(&["api", "channels"], vec![], 1_000)
            .try_collect()
            .await
    }

    /// Switches a channel's failover on or off.
    pub async fn put_channel(&self, channel: Channel, failover: bool) -> Result<ChannelOrder> {
        let path = ["api", "channels", channel.as_str()];
        self.put(&path, &json!({ "failover": failover })).await
    }
}
