//! The sites that are connected to this node right now.

use domain::{SiteId, TenantId, Timestamp};
use link::{SiteReport, server::RemoteSite};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
};
use store::sites::SiteSeen;
use uuid::Uuid;

/// One connection of a site.
#[derive(Debug)]
pub struct Connected {
    pub session: Uuid,
    pub tenant: TenantId,
    pub site: SiteId,
    pub remote: RemoteSite,
    pub since: Timestamp,
    pub agent_node: String,
    pub agent_version: String,
    pub peer: String,
    pub(super) key_hash: [u8; 32],
    last_contact: AtomicI64,
    report: Mutex<Option<SiteReport>>,
}

/// Who is at the door.
#[derive(Debug)]
pub(super) struct Arrival {
    pub tenant: TenantId,
    pub site: SiteId,
    pub remote: RemoteSite,
    pub agent_node: String,
    pub agent_version: String,
    pub peer: String,
    pub key_hash: [u8; 32],
}

impl Connected {
    pub(super) fn new(arrival: Arrival, now: Timestamp) -> Self {
        Self {
            session: Uuid::new_v4(),
            tenant: arrival.tenant,
            site: arrival.site,
            remote: arrival.remote,
            since: now,
            agent_node: arrival.agent_node,
            agent_version: arrival.agent_version,
            peer: arrival.peer,
            key_hash: arrival.key_hash,
            last_contact: AtomicI64::new(now.as_millis()),
            report: Mutex::default(),
        }
    }

    pub fn last_contact(&self) -> Timestamp {
        Timestamp::from_millis(self.last_contact.load(Ordering::Relaxed))
    }

    pub fn report(&self) -> Option<SiteReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn contact(&self, now: Timestamp) {
        self.last_contact.fetch_max(now.as_millis(), Ordering::Relaxed);
    }

    pub(super) fn reported(&self, report: SiteReport) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
    }

    pub(super) fn seen(&self, node: &str, now: Timestamp) -> SiteSeen {
        SiteSeen {
            tenant: self.tenant,
            site: self.site.clone(),
            session: self.session,
            central_node: node.to_owned(),
            connected_for: now.since(self.since),
            silent_for: now.since(self.last_contact()),
            agent_node: self.agent_node.clone(),
            agent_version: self.agent_version.clone(),
            peer: self.peer.clone(),
            report: self
                .report()
                .and_then(|report| serde_json::to_string(&report).ok()),
        }
    }
}

/// By tenant and site, the newest connection last. There is more than one while a broken one has not been noticed,
/// or when two agents were given the same id: both are served, the newest is asked.
#[derive(Debug, Default)]
pub struct Registry(Mutex<Sites>);

type Sites = HashMap<(TenantId, SiteId), Vec<Arc<Connected>>>;

impl Registry {
    pub(super) fn enter(&self, connected: Arc<Connected>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_site = all.entry((connected.tenant, connected.site.clone())).or_default();
        of_site.push(connected);
        if let [.., older, newer] = of_site.as_slice() {
            tracing::warn!(
                site.id = %newer.site, peer = %newer.peer, older.peer = %older.peer,
                "a site connected again while an older connection of it is still open"
            );
        }
    }

    pub(super) fn leave(&self, connected: &Connected) {
        let key = (connected.tenant, connected.site.clone());
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_site) = all.get_mut(&key) {
            of_site.retain(|c| c.session != connected.session);
            if of_site.is_empty() {
                all.remove(&key);
            }
        }
    }

    /// The connection to ask.
    pub fn find(&self, tenant: TenantId, site: &SiteId) -> Option<Arc<Connected>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_site = all.get(&(tenant, site.clone()))?;
        of_site.iter().rev().find(|c| !c.remote.is_over()).cloned()
    }

    pub fn all(&self) -> Vec<Arc<Connected>> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.values()
            .flatten()
            .filter(|c| !c.remote.is_over())
            .cloned()
            .collect()
    }
}
