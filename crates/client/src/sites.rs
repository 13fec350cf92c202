//! Sites as central knows them, what is parked there, and what waits.

use crate::{
    Client, Job, Page, Result,
    http::NONE,
    site::{TriedNow, WaitingPage},
};
use domain::{
    Timestamp,
    site::{Category, ParkedAction, ParkedFilter},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A site and whether it is there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteRow {
    pub id: String,
    pub registered_at: Timestamp,
    /// `Online`, `Offline` or `NeverSeen`.
    pub presence: String,
    pub since: Option<Timestamp>,
    pub reason: Option<String>,
    pub node: Option<String>,
    pub version: Option<String>,
    /// Where its agent connected from.
    #[serde(default)]
    pub peer: Option<String>,
    pub last_contact_at: Option<Timestamp>,
    /// What it said last.
    pub report: Option<SiteReport>,
    /// Another agent uses the same id and was sent away.
    #[serde(default)]
    pub conflict: Option<SiteConflict>,
}

/// Another agent that came with the id of a site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteConflict {
    pub node: String,
    pub peer: String,
    pub version: String,
    pub since: Timestamp,
    pub last_seen_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteReport {
    pub backlog: Vec<Backlog>,
    pub parked: u64,
    pub oldest_waiting_at: Option<Timestamp>,
    pub without_handler: u64,
    pub buffer_bytes: u64,
    pub refusing: Option<String>,
    /// What was found damaged there and nobody has acknowledged.
    #[serde(default)]
    pub damage: Vec<SiteDamage>,
    /// What central acknowledged before this moment is not remembered there any more.
    #[serde(default)]
    pub forgotten_until: Option<Timestamp>,
    /// The site's two machines, as the active one sees them.
    #[serde(default)]
    pub pair: Option<SitePair>,
}

/// The two machines of a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SitePair {
    pub role: String,
    pub turn: u64,
    /// Who gave the right to attempt what both machines know: `Standby`, `Central`, or `Nobody` where none is needed.
    pub lease_by: Option<String>,
    /// How much of the lease was left when the machine reported.
    #[serde(default)]
    pub lease_seconds: Option<u64>,
    /// Why calls and writes that both machines know are not attempted.
    pub held: Option<String>,
    /// Messages that the other machine does not have yet, counted up to 10,000.
    #[serde(default)]
    pub own_rows: Option<u64>,
    pub behind: Option<u64>,
    pub behind_seconds: Option<u64>,
    pub other: Option<String>,
    pub other_role: Option<String>,
    pub last_contact_at: Option<Timestamp>,
    /// Why the other machine cannot be asked.
    pub trouble: Option<String>,
    /// What differs between the two machines, and what leads to the machine itself, in words.
    #[serde(default)]
    pub differences: Vec<String>,
}

/// Damage at a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteDamage {
    pub at: Timestamp,
    pub what: String,
    /// The file at the site that was set aside.
    pub file: Option<String>,
    /// Messages that were brought back.
    pub recovered: u64,
    /// Messages that could not be read.
    pub lost: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Backlog {
    pub category: Category,
    pub waiting: u64,
}

/// A site that was just made known.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSite {
    pub id: String,
    /// Shown this once.
    pub key: String,
}

impl std::fmt::Debug for NewSite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewSite")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Part of what is parked at a site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParkedPage {
    pub items: Vec<ParkedMessage>,
    #[serde(default)]
    pub next_cursor: Option<String>,
    pub total: u64,
}

/// A message that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ParkedMessage {
    pub message_id: String,
    pub category: Category,
    pub target: String,
    /// What it is in a few words: method and path, statement, subject.
    #[serde(default)]
    pub summary: Option<String>,
    pub retry_count: u32,
    pub max_retries: u32,
    pub created_at: Timestamp,
    pub last_attempt_at: Option<Timestamp>,
    pub parked_at: Option<Timestamp>,
    pub last_error: Option<String>,
    pub instance: Option<String>,
    pub script: Option<String>,
}

/// How many messages of a filter there are at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedCount {
    pub total: u64,
    /// The site's last change at that moment; in the filter of an action, what changed later is left alone.
    pub until: i64,
}

/// The filter as a query has it.
pub(crate) fn pairs(filter: &ParkedFilter) -> Vec<(&'static str, String)> {
    let all = [
        ("category", filter.category.map(|c| c.to_string())),
        ("target", filter.target.clone()),
        ("errorCode", filter.error_code.clone()),
        ("instance", filter.instance.clone()),
        ("from", filter.from.map(|at| at.to_string())),
        ("to", filter.to.map(|at| at.to_string())),
        ("removed", filter.removed.then(|| "true".to_owned())),
    ];
    all.into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
}

/// The filter as the body of a bulk action has it: its moment stands beside it.
pub(crate) fn body(filter: &ParkedFilter) -> Value {
    let until = filter.until;
    let filter = ParkedFilter {
        until: None,
        ..filter.clone()
    };
    json!({ "filter": filter, "until": until })
}

impl Client {
    pub async fn sites(&self) -> Result<Vec<SiteRow>> {
        let mut all = vec![];
        let mut cursor: Option<String> = None;
        loop {
            let page: Page<SiteRow> = self
                .page(&["api", "sites"], vec![], 500, cursor.as_deref())
                .await?;
            all.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(all);
            }
        }
    }

    pub async fn site(&self, id: &str) -> Result<SiteRow> {
        self.get(&["api", "sites", id], NONE).await
    }

    /// Makes a site known; its key is in the answer and nowhere else.
    pub async fn register_site(&self, id: &str) -> Result<NewSite> {
        self.post(&["api", "sites"], &json!({ "id": id })).await
    }

    /// A page of what is parked at a site, asked of the site itself.
    pub async fn site_parked(&self, site: &str, limit: u32, cursor: Option<&str>) -> Result<ParkedPage> {
        self.site_parked_where(site, &ParkedFilter::default(), limit, cursor)
            .await
    }

    /// The same, of those that match.
    pub async fn site_parked_where(
        &self,
        site: &str,
        filter: &ParkedFilter,
        limit: u32,
        cursor: Option<&str>,
    ) -> Result<ParkedPage> {
        let mut query = pairs(filter);
        query.push(("limit", limit.to_string()));
        query.extend(cursor.map(|c| ("cursor", c.to_owned())));
        self.get(&["api", "sites", site, "parked"], &query).await
    }

    /// How many messages at a site match. Nothing is changed.
    pub async fn count_site_parked(
        &self,
        site: &str,
        action: ParkedAction,
        filter: &ParkedFilter,
    ) -> Result<ParkedCount> {
        let mut body = body(filter);
        body["dryRun"] = true.into();
        self.post(&["api", "sites", site, "parked", action.word()], &body)
            .await
    }

    /// Starts a job over the messages at a site that match; with `until` in the filter, over those that were counted.
    pub async fn act_on_site_parked(
        &self,
        site: &str,
        action: ParkedAction,
        filter: &ParkedFilter,
    ) -> Result<Job> {
        self.post(&["api", "sites", site, "parked", action.word()], &body(filter))
            .await
    }

    pub async fn retry_site_parked(&self, site: &str, id: &str) -> Result<()> {
        let acted: Value = self
            .post(&["api", "sites", site, "parked", id, "retry"], &json!({}))
            .await?;
        drop(acted);
        Ok(())
    }

    pub async fn discard_site_parked(&self, site: &str, id: &str) -> Result<()> {
        let acted: Value = self
            .post(&["api", "sites", site, "parked", id, "discard"], &json!({}))
            .await?;
        drop(acted);
        Ok(())
    }

    /// A page of what waits at a site, in the order of acceptance, asked of the site itself.
    pub async fn site_waiting(&self, site: &str, limit: u32, cursor: Option<&str>) -> Result<WaitingPage> {
        let mut query = vec![("limit", limit.to_string())];
        query.extend(cursor.map(|c| ("cursor", c.to_owned())));
        self.get(&["api", "sites", site, "waiting"], &query).await
    }

    /// Has a site try a waiting message now. An attempt that takes longer than some seconds goes on, and is `Trying`.
    pub async fn try_site_waiting(&self, site: &str, id: &str) -> Result<TriedNow> {
        self.post(&["api", "sites", site, "waiting", id, "try"], &json!({}))
            .await
    }

    pub async fn discard_site_waiting(&self, site: &str, id: &str) -> Result<()> {
        let acted: Value = self
            .post(&["api", "sites", site, "waiting", id, "discard"], &json!({}))
            .await?;
        drop(acted);
        Ok(())
    }
}
