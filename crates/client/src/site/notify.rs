//! Notifications through a site's agent.

use super::{Site, either::Repeat, of_site};
use crate::{
    Client, Result,
    details::{Details, detail_steps},
};
use domain::{NotificationId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// A notification under construction.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Notify {
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Value>,
    subject: String,
    body: String,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_id: Option<String>,
    #[serde(flatten)]
    details: Details,
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_script: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_execution_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notification_id: Option<NotificationId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_retries: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_interval: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Taken {
    notification_id: NotificationId,
}

impl Notify {
    /// To everybody on a list; who that is, central knows.
    pub fn to(list: impl Into<String>) -> Self {
        Self {
            to: Some(Value::String(list.into())),
            ..Self::default()
        }
    }

    /// To these addresses.
    pub fn to_recipients(addresses: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let addresses = addresses.into_iter().map(|a| Value::String(a.into()));
        Self {
            to: Some(Value::Array(addresses.collect())),
            ..Self::default()
        }
    }

    /// Wherever the provider's settings say.
    pub fn through(provider: impl Into<String>) -> Self {
        Self {
            provider_id: Some(provider.into()),
            ..Self::default()
        }
    }

    /// Another type than e-mail.
    pub fn by(mut self, channel: impl Into<String>) -> Self {
        self.channel = Some(channel.into());
        self
    }

    /// Fields that only some channels know.
    pub fn data(mut self, data: Value) -> Self {
        self.details.type_data = Some(data);
        self
    }

    detail_steps!();

    pub fn instance(mut self, name: impl Into<String>) -> Self {
        self.instance = Some(name.into());
        self
    }

    pub fn script(mut self, name: impl Into<String>) -> Self {
        self.source_script = Some(name.into());
        self
    }

    /// The run of the script, and the run that caused it. Both are GUIDs.
    pub fn execution(mut self, id: impl Into<String>, parent: Option<String>) -> Self {
        self.execution_id = Some(id.into());
        self.parent_execution_id = parent;
        self
    }

    /// An id of your own: sending the same one again is harmless.
    pub fn id(mut self, id: NotificationId) -> Self {
        self.notification_id = Some(id);
        self
    }

    /// How many intervals central may be away before it is parked; 0 for no limit.
    pub fn max_retries(mut self, n: u32) -> Self {
        self.max_retries = Some(n);
        self
    }

    pub fn retry_interval(mut self, interval: Duration) -> Self {
        self.retry_interval = Some(domain::retry::human(interval));
        self
    }

    /// Hands it to the agent. When this answers, it is on the agent's disk. Asked again under one id when the agent
    /// does not answer.
    pub async fn send(
        mut self,
        site: &Site,
        subject: impl Into<String>,
        body: impl Into<String>,
    ) -> Result<NotificationId> {
        self.subject = subject.into();
        self.body = body.into();
        self.notification_id.get_or_insert_with(NotificationId::mint);
        let post = |client: Client| {
            let notify = &self;
            async move { client.post(&["notify"], notify).await }
        };
        let again = &site.client.again;
        let taken: Taken = of_site(again.run(|| site.on_either(Repeat::Harmless, post)).await)?;
        Ok(taken.notification_id)
    }
}
