//! Sites, as central knows them, and what is parked there.

use crate::{Client, Page, Result, http::NONE};
use domain::{Timestamp, TrackedOperationId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A site that was just made known. Its key is told this once.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSite {
    pub id: String,
    pub registered_at: Timestamp,
    pub key: String,
}

impl std::fmt::Debug for NewSite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "NewSite({:?})", self.id)
    }
}

/// A site and whether it is there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteRow {
    pub id: String,
    pub registered_at: Timestamp,
    /// `NeverSeen`, `Online` or `Offline`.
    pub presence: String,
    pub since: Option<Timestamp>,
    pub reason: Option<String>,
    pub node: Option<String>,
    pub version: Option<String>,
    pub last_contact_at: Option<Timestamp>,
    pub report: Option<SiteReport>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// How a site is doing, in its own words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteReport {
    pub backlog: Vec<Backlog>,
    pub parked: u64,
    pub oldest_waiting_at: Option<Timestamp>,
    pub refusing: Option<String>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backlog {
    pub category: String,
    pub waiting: u64,
}

/// A message parked at a site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParkedRow {
    pub message_id: String,
    pub category: String,
    pub target: String,
    pub retry_count: u32,
    pub created_at: Timestamp,
    pub last_error: Option<String>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A cached call or write of a site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteCallRow {
    pub site_id: String,
    pub tracked_operation_id: TrackedOperationId,
    pub category: String,
    pub target: String,
    pub status: String,
    pub retry_count: u32,
    pub last_error: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl Client {
    /// Makes a site known; the answer is the only time its key is told.
    pub async fn register_site(&self, id: &str) -> Result<NewSite> {
        self.post(&["api", "sites"], &json!({ "id": id })).await
    }

    pub async fn sites(&self) -> Result<Vec<SiteRow>> {
        let page: Page<_> = self.get(&["api", "sites"], &[("limit", "1000".into())]).await?;
        Ok(page.items)
    }

    pub async fn site(&self, id: &str) -> Result<SiteRow> {
        self.get(&["api", "sites", id], NONE).await
    }

    /// A page of what is parked at a site, from the site itself.
    pub async fn site_parked(&self, site: &str, cursor: Option<&str>) -> Result<Page<ParkedRow>> {
        let path = ["api", "sites", site, "parked"];
        let cursor = cursor.map(|cursor| ("cursor", cursor.to_owned()));
        self.get(&path, cursor.as_slice()).await
    }

    /// Has a site try a parked message again.
    pub async fn retry_at_site(&self, site: &str, message: &str) -> Result<()> {
        self.act_at_site(site, message, "retry").await
    }

    /// Has a site give a parked message up.
    pub async fn discard_at_site(&self, site: &str, message: &str) -> Result<()> {
        self.act_at_site(site, message, "discard").await
    }

    async fn act_at_site(&self, site: &str, message: &str, action: &str) -> Result<()> {
        let path = ["api", "sites", site, "parked", message, action];
        let request = self.request(reqwest::Method::POST, &path, NONE);
        let _: Value = self.answer(request).await?;
        Ok(())
    }

    /// A page of calls and writes of one site, or of all.
    pub async fn site_calls(&self, site: Option<&str>, cursor: Option<&str>) -> Result<Page<SiteCallRow>> {
        let mut query = vec![];
        query.extend(site.map(|site| ("site", site.to_owned())));
        query.extend(cursor.map(|cursor| ("cursor", cursor.to_owned())));
        self.get(&["api", "site-calls"], &query).await
    }
}
