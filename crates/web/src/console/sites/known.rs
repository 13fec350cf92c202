//! A site as central knows it: by what it sent, by its agent, or by both.

use crate::{console::show::Badge, problem::Result, state::Shared};
use central::sites::{Presence, SiteEvent, SiteView};
use domain::{TenantId, Timestamp, kpi::Kpis};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub struct Known {
    /// Empty for what came from no site.
    pub id: String,
    pub kpis: Kpis,
    pub agent: Option<SiteView>,
}

/// Whether the agent is there, as a page says it.
#[derive(Debug)]
pub struct Link<'a> {
    pub badge: Badge,
    pub since: Option<Timestamp>,
    pub why: Option<&'a str>,
}

impl Known {
    fn new(id: String) -> Self {
        Self {
            id,
            kpis: Kpis::default(),
            agent: None,
        }
    }

    pub fn link(&self) -> Link<'_> {
        let (badge, since, why) = match self.agent.as_ref().map(|agent| &agent.presence) {
            None => (Badge::NO_AGENT, None, None),
            Some(Presence::NeverSeen) => (Badge::NEVER_SEEN, None, None),
            Some(Presence::Online { since, .. }) => (Badge::ONLINE, Some(*since), None),
            Some(Presence::Offline { since, why }) => (Badge::OFFLINE, Some(*since), Some(why.as_str())),
        };
        Link { badge, since, why }
    }

    /// Whether another agent uses its id.
    pub fn in_conflict(&self) -> bool {
        self.agent.as_ref().is_some_and(|agent| agent.conflict.is_some())
    }

    /// Messages that wait in its buffer, when it last said.
    pub fn backlog(&self) -> Option<u64> {
        let report = self.agent.as_ref()?.report.as_ref()?;
        Some(report.backlog.values().sum())
    }

    /// The last lines of its log, newest last, when it ever told.
    pub fn events(&self) -> Option<&[SiteEvent]> {
        let report = self.agent.as_ref()?.report.as_ref()?;
        Some(&report.events)
    }

    pub fn parked_there(&self) -> Option<u64> {
        Some(self.agent.as_ref()?.report.as_ref()?.parked)
    }
}

/// Every site there is anything to say about, by name.
pub async fn known_sites(state: &Shared, tenant: TenantId) -> Result<Vec<Known>> {
    let central = &state.central;
    let mut known = BTreeMap::new();
    for (id, kpis) in central.store.kpis_by_site(tenant, central.settings.kpi).await? {
        let site = Known {
            kpis,
            ..Known::new(id.clone())
        };
        known.insert(id, site);
    }
    for agent in central.sites.list(tenant).await? {
        let id = agent.id.to_string();
        known.entry(id.clone()).or_insert_with(|| Known::new(id)).agent = Some(agent);
    }
    Ok(known.into_values().collect())
}
