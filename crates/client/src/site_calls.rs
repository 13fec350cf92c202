//! Calls and writes of sites, as central knows them.

use crate::{Client, Result};
use domain::{
    Timestamp, TrackedOperationId,
    site::{Category, OperationStatus},
};
use futures_util::TryStreamExt;
use serde::{Deserialize, Serialize};

/// A cached call or write of a site, as its latest news left it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteCall {
    pub site_id: String,
    pub tracked_operation_id: TrackedOperationId,
    pub category: Category,
    pub target: String,
    pub summary: Option<String>,
    pub status: OperationStatus,
    pub retry_count: u32,
    pub last_error: Option<String>,
    pub http_status: Option<u16>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// Who did it, when it was a person at the site.
    #[serde(default)]
    pub actor: Option<String>,
}

/// Which calls and writes of sites.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallFilter {
    pub site: Option<String>,
    pub status: Vec<OperationStatus>,
    pub category: Option<Category>,
    pub target: Option<String>,
    pub operation: Option<TrackedOperationId>,
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

impl CallFilter {
    fn pairs(&self) -> Vec<(&'static str, String)> {
        let status: Vec<_> = self.status.iter().map(ToString::to_string).collect();
        let status = Some(status.join(",")).filter(|words| !words.is_empty());
        [
            ("site", self.site.clone()),
            ("status", status),
            ("category", self.category.map(|c| c.to_string())),
            ("target", self.target.clone()),
            ("trackedOperationId", self.operation.map(|id| id.to_string())),
            ("from", self.from.map(|at| at.to_string())),
            ("to", self.to.map(|at| at.to_string())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}

impl Client {
    /// All calls and writes of a site, newest first.
    pub async fn site_calls(&self, site: &str) -> Result<Vec<SiteCall>> {
        self.pages(&["api", "site-calls"], vec![("site", site.to_owned())], 500)
            .try_collect()
            .await
    }

    /// The newest calls and writes of the filter, at most so many.
    pub async fn site_calls_first(&self, filter: &CallFilter, n: usize) -> Result<Vec<SiteCall>> {
        self.first(&["api", "site-calls"], filter.pairs(), n).await
    }
}
