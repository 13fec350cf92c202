//! What the pages about sites are made of. Central knows every site by what it sent; what an agent holds in its own
//! buffer is asked of the agent, through [`SiteDesk`], where there is one.

use crate::{problem::Result, state::Shared};
use async_trait::async_trait;
use domain::{Actor, TenantId, Timestamp, kpi::Kpis};
use std::{collections::BTreeMap, fmt};

/// The sites' agents as central reaches them.
#[async_trait]
pub trait SiteDesk: fmt::Debug + Send + Sync {
    /// Every site that has an agent, connected or not.
    async fn sites(&self, tenant: TenantId) -> Result<Vec<SiteRow>, SiteTrouble>;
    /// What is parked in the site's buffer, oldest first.
    async fn parked(
        &self,
        tenant: TenantId,
        site: &str,
        after: Option<&str>,
    ) -> Result<ParkedPage, SiteTrouble>;
    /// Passed on to the site; the answer is the site's.
    async fn act(
        &self,
        tenant: TenantId,
        site: &str,
        message: &str,
        action: SiteAction,
        actor: &Actor,
    ) -> Result<Acted, SiteTrouble>;
    /// Calls and writes the site told about, newest first.
    async fn calls(&self, tenant: TenantId, site: &str) -> Result<Vec<CallRow>, SiteTrouble>;
    /// What happened at the site, newest first.
    async fn events(&self, tenant: TenantId, site: &str) -> Result<Vec<EventRow>, SiteTrouble>;
}

/// A site's agent.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteRow {
    pub id: String,
    pub online: bool,
    /// Online, or offline, since then.
    pub since: Option<Timestamp>,
    pub last_contact: Option<Timestamp>,
    /// Messages in its buffer.
    pub backlog: Option<u64>,
    pub parked: Option<u64>,
    /// The standby in words: "in step", "12 operations behind", "none".
    pub standby: Option<String>,
    pub version: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParkedPage {
    pub messages: Vec<ParkedMessage>,
    pub next: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ParkedMessage {
    pub id: String,
    /// `notification`, `call`, `write`.
    pub category: String,
    /// The list, system or connection it goes to.
    pub target: String,
    pub instance: Option<String>,
    pub attempts: u32,
    pub error: Option<String>,
    pub since: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SiteAction {
    Retry,
    Discard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acted {
    Done,
    /// Not parked any more, or never there.
    TooLate,
}

/// A call or write that a site keeps track of.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRow {
    pub id: String,
    pub category: String,
    pub target: String,
    pub status: String,
    pub attempts: u32,
    pub error: Option<String>,
    pub at: Timestamp,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EventRow {
    pub at: Timestamp,
    pub what: String,
    pub detail: Option<String>,
}

/// Why a site could not be asked, in words for a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SiteTrouble {
    NoSuchSite,
    Offline { since: Option<Timestamp> },
    Failed(String),
}

/// A site as central knows it: by what it sent, by its agent, or by both.
#[derive(Debug, Clone)]
pub struct Known {
    /// Empty for what came from no site.
    pub id: String,
    pub kpis: Kpis,
    pub agent: Option<SiteRow>,
}

/// Every site there is anything to say about, by name.
pub async fn known_sites(state: &Shared, tenant: TenantId) -> Result<Vec<Known>> {
    let central = &state.central;
    let counted = central.store.kpis_by_site(tenant, central.settings.kpi).await?;
    let mut known: BTreeMap<String, Known> = counted
        .into_iter()
        .map(|(id, kpis)| {
            let site = Known {
                id: id.clone(),
                kpis,
                agent: None,
            };
            (id, site)
        })
        .collect();
    if let Some(desk) = &state.sites
        && let Ok(agents) = desk.sites(tenant).await
    {
        for agent in agents {
            let site = known.entry(agent.id.clone()).or_insert_with(|| Known {
                id: agent.id.clone(),
                kpis: Kpis::default(),
                agent: None,
            });
            site.agent = Some(agent);
        }
    }
    Ok(known.into_values().collect())
}
