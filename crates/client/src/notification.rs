//! What to send, said step by step.

use crate::details::{Details, detail_steps};
use domain::{Channel, NotificationId, Timestamp};
use serde::Serialize;
use serde_json::Value;

/// A notification to be submitted.
///
/// ```
/// use client::Notification;
/// let n = Notification::to(["ann@example.com"]).subject("Hello").body("…").key("order-7:confirmed");
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) notification_id: Option<NotificationId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) idempotency_key: Option<String>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    channel: Option<Channel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    list_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    body: String,
    #[serde(flatten)]
    details: Details,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_site_id: Option<String>,
}

impl Notification {
    /// To everybody who is on the list when it is delivered.
    pub fn to_list(name: impl Into<String>) -> Self {
        Self {
            list_name: Some(name.into()),
            ..Self::default()
        }
    }

    /// To these addresses.
    pub fn to<A: Into<String>>(addresses: impl IntoIterator<Item = A>) -> Self {
        Self {
            to: Some(addresses.into_iter().map(Into::into).collect()),
            ..Self::default()
        }
    }

    /// To where the provider's own settings say.
    pub fn by_provider(id: impl Into<String>) -> Self {
        Self::default().provider(id)
    }

    /// Sends it through this provider instead of the first of its type.
    pub fn provider(mut self, id: impl Into<String>) -> Self {
        self.provider_id = Some(id.into());
        self
    }

    /// E-mail, if nothing else is said.
    pub fn channel(mut self, channel: Channel) -> Self {
        self.channel = Some(channel);
        self
    }

    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    pub fn body(mut self, body: impl Into<String>) -> Self {
        self.body = body.into();
        self
    }

    /// Fields that only some types know.
    pub fn type_data(mut self, data: Value) -> Self {
        self.details.type_data = Some(data);
        self
    }

    /// The id to send under. Keep it and send again under it, however late: there will be one notification.
    pub fn id(mut self, id: NotificationId) -> Self {
        self.notification_id = Some(id);
        self
    }

    /// A key of your own instead of an id, like `order-7:confirmed`. Not both.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// The site it comes from.
    pub fn site(mut self, site: impl Into<String>) -> Self {
        self.source_site_id = Some(site.into());
        self
    }

    detail_steps!();

    /// The same with an id, if it has neither id nor key nor a run to make one of: what makes it safe to send again.
    pub(crate) fn named(&self) -> Self {
        let mut named = self.clone();
        let nameless = named.notification_id.is_none() && named.idempotency_key.is_none();
        if nameless && named.details.run_id.is_none() {
            named.notification_id = Some(NotificationId::mint());
        }
        named
    }
}
