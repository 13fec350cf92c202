//! The sites that are connected to this node right now.

use super::conflict::AgentIdentity;
use domain::{SiteId, TenantId, Timestamp, lock::lock};
use link::{SiteReport, server::RemoteSite};
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
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
    pub(super) agent: AgentIdentity,
    pub agent_version: String,
    pub peer: String,
    pub(super) key_hash: [u8; 32],
    /// The run of the same agent whose place this one took. If that run is still there, they are two.
    superseded: Mutex<Option<Uuid>>,
    last_contact: AtomicI64,
    report: Mutex<Option<SiteReport>>,
}

/// Who is at the door.
#[derive(Debug, Clone)]
pub(super) struct Arrival {
    pub tenant: TenantId,
    pub site: SiteId,
    pub remote: RemoteSite,
    pub agent: AgentIdentity,
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
            agent: arrival.agent,
            agent_version: arrival.agent_version,
            peer: arrival.peer,
            key_hash: arrival.key_hash,
            superseded: Mutex::default(),
            last_contact: AtomicI64::new(now.as_millis()),
            report: Mutex::default(),
        }
    }

    /// What its machine is called.
    pub fn agent_node(&self) -> &str {
        &self.agent.node
    }

    /// Whether this is the agent that is there, started again or with a new connection. A run whose place was taken
    /// and that comes back is a second agent: a copy of the whole machine, most likely.
    pub(super) fn takes_over(&self, there: &Self) -> bool {
        let mut taken_from = lock(&there.superseded).to_owned();
        if !self.agent.is(&there.agent) || taken_from == Some(self.agent.run) {
            return false;
        }
        if self.agent.run != there.agent.run && !there.agent.run.is_nil() {
            taken_from = Some(there.agent.run);
        }
        *lock(&self.superseded) = taken_from;
        true
    }

    pub fn last_contact(&self) -> Timestamp {
        Timestamp::from_millis(self.last_contact.load(Ordering::Relaxed))
    }

    pub fn report(&self) -> Option<SiteReport> {
        lock(&self.report).clone()
    }

    pub(super) fn contact(&self, now: Timestamp) {
        self.last_contact.fetch_max(now.as_millis(), Ordering::Relaxed);
    }

    pub(super) fn reported(&self, report: SiteReport) {
        *lock(&self.report) = Some(report);
    }

    pub(super) fn seen(&self, node: &str, now: Timestamp) -> SiteSeen {
        SiteSeen {
            tenant: self.tenant,
            site: self.site.clone(),
            session: self.session,
            central_node: node.to_owned(),
            connected_for: now.since(self.since),
            silent_for: now.since(self.last_contact()),
            agent_node: self.agent.node.clone(),
            agent_version: self.agent_version.clone(),
            peer: self.peer.clone(),
            agent_buffer: self.agent.buffer,
            agent_run: self.agent.run,
            report: self
                .report()
                .and_then(|report| serde_json::to_string(&report).ok()),
        }
    }
}

/// By tenant and site: one agent each. A connection that is over may still be in its place.
#[derive(Debug, Default)]
pub struct Registry(Mutex<HashMap<(TenantId, SiteId), Arc<Connected>>>);

impl Registry {
    /// Takes the place of the site, or says who has it.
    pub(super) fn enter(&self, connected: &Arc<Connected>) -> Result<(), Arc<Connected>> {
        let mut all = lock(&self.0);
        let place = (connected.tenant, connected.site.clone());
        match all.get(&place) {
            Some(there) if !there.remote.is_over() => Err(there.clone()),
            _ => {
                all.insert(place, connected.clone());
                Ok(())
            }
        }
    }

    /// Changes nothing when another connection has taken the place.
    pub(super) fn leave(&self, connected: &Connected) {
        let place = (connected.tenant, connected.site.clone());
        let mut all = lock(&self.0);
        if all
            .get(&place)
            .is_some_and(|there| there.session == connected.session)
        {
            all.remove(&place);
        }
    }

    /// The connection to ask.
    pub fn find(&self, tenant: TenantId, site: &SiteId) -> Option<Arc<Connected>> {
        let all = lock(&self.0);
        let there = all.get(&(tenant, site.clone()))?;
        Some(there.clone()).filter(|there| !there.remote.is_over())
    }

    pub fn all(&self) -> Vec<Arc<Connected>> {
        let all = lock(&self.0);
        all.values().filter(|c| !c.remote.is_over()).cloned().collect()
    }
}
