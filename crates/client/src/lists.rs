//! Notification lists.

use crate::{Client, Error, Result, http::NONE};
use domain::{Channel, Recipient};
use reqwest::Method;
use serde::{Deserialize, Serialize};

/// Who gets what is sent to a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct List {
    pub name: String,
    #[serde(default)]
    pub recipients: Vec<Recipient>,
}

impl Client {
    pub async fn lists(&self) -> Result<Vec<List>> {
        self.all(&["api", "lists"]).await
    }

    pub async fn list_named(&self, name: &str) -> Result<List> {
        self.get(&["api", "lists", name], NONE).await
    }

    /// `Conflict` when there is one of that name.
    pub async fn create_list(&self, list: &List) -> Result<List> {
        self.post(&["api", "lists"], list).await
    }

    /// Creates the list or replaces its recipients.
    pub async fn put_list(&self, list: &List) -> Result<List> {
        match self.put(&["api", "lists", &list.name], list).await {
            Err(Error::NotFound { .. }) => self.create_list(list).await,
            answer => answer,
        }
    }

    pub async fn delete_list(&self, name: &str) -> Result<()> {
        self.delete(&["api", "lists", name], NONE).await
    }

    pub async fn add_recipient(&self, list: &str, recipient: &Recipient) -> Result<Recipient> {
        self.post(&["api", "lists", list, "recipients"], recipient).await
    }

    /// Replaces the entry of this address; with a type where the address is on the list for several.
    pub async fn replace_recipient(
        &self,
        list: &str,
        address: &str,
        channel: Option<Channel>,
        recipient: &Recipient,
    ) -> Result<Recipient> {
        let query: Vec<_> = channel.iter().map(|c| ("type", c.to_string())).collect();
        let path = ["api", "lists", list, "recipients", address];
        self.answer(self.request(Method::PUT, &path, &query).json(recipient))
            .await
    }

    /// Switches an entry on or off. Off, it stays on the list and gets nothing.
    pub async fn switch_recipient(
        &self,
        list: &str,
        address: &str,
        channel: Option<Channel>,
        enabled: bool,
    ) -> Result<Recipient> {
        let meant = |entry: &Recipient| {
            let its = entry.channel.unwrap_or(Channel::Email);
            entry.address == address && channel.is_none_or(|wanted| wanted == its)
        };
        let entries = self.list_named(list).await?.recipients;
        let entry = entries.into_iter().find(meant).ok_or_else(|| Error::NotFound {
            detail: format!("{address} is not on {list}"),
        })?;
        self.replace_recipient(list, address, channel, &Recipient { enabled, ..entry })
            .await
    }

    pub async fn remove_recipient(&self, list: &str, address: &str, channel: Option<Channel>) -> Result<()> {
        let query: Vec<_> = channel.iter().map(|c| ("type", c.to_string())).collect();
        self.delete(&["api", "lists", list, "recipients", address], &query)
            .await
    }
}
