//! The sites that are connected to this node right now.

use super::conflict::AgentIdentity;
use domain::{SiteId, TenantId, Timestamp, lock::lock, pair::Rank};
use link::{SiteReport, server::RemoteSite};
use std::{
    cmp::Reverse,
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
    pub turn: Option<Rank>,
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

    /// Of a machine of a pair: the turn it is active in, as far as it has said.
    pub fn turn(&self) -> Option<Rank> {
        self.remote.turn()
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

    /// Whether both are machines of one pair: each has a place of its own.
    fn is_beside(&self, there: &Self) -> bool {
        self.turn().is_some() && there.turn().is_some() && self.agent.node != there.agent.node
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
            turn: self.turn().map(|(counter, _)| counter),
            report: self
                .report()
                .and_then(|report| serde_json::to_string(&report).ok()),
        }
    }
}

/// By tenant and site: one agent each, or the two of a pair. A connection that is over may still be in its place.
#[derive(Debug, Default)]
pub struct Registry(Mutex<HashMap<(TenantId, SiteId), Machines>>);

type Machines = Vec<Arc<Connected>>;

/// The machines of a pair.
const MACHINES: usize = 2;

impl Registry {
    /// Takes a place of the site, or says who has it.
    pub(super) fn enter(&self, connected: &Arc<Connected>) -> Result<(), Arc<Connected>> {
        let mut all = lock(&self.0);
        let place = (connected.tenant, connected.site.clone());
        let there = all.entry(place).or_default();
        there.retain(|there| !there.remote.is_over());
        let in_the_way = there.iter().find(|there| !connected.is_beside(there));
        let in_the_way = in_the_way.or_else(|| there.get(MACHINES - 1));
        match in_the_way {
            Some(there) => Err(there.clone()),
            None => {
                there.push(connected.clone());
                Ok(())
            }
        }
    }

    /// Changes nothing when another connection has taken the place.
    pub(super) fn leave(&self, connected: &Connected) {
        let place = (connected.tenant, connected.site.clone());
        let mut all = lock(&self.0);
        if let Some(there) = all.get_mut(&place) {
            there.retain(|there| there.session != connected.session);
            if there.is_empty() {
                all.remove(&place);
            }
        }
    }

    /// The connection to ask: of two machines of a pair that of the later turn.
    pub fn find(&self, tenant: TenantId, site: &SiteId) -> Option<Arc<Connected>> {
        self.machines(tenant, site).into_iter().next()
    }

    /// Every connection of a site, the one to ask first.
    pub fn machines(&self, tenant: TenantId, site: &SiteId) -> Vec<Arc<Connected>> {
        let all = lock(&self.0);
        let there = all.get(&(tenant, site.clone())).into_iter().flatten();
        let mut there: Vec<_> = there.filter(|c| !c.remote.is_over()).cloned().collect();
        there.sort_by_key(|connected| Reverse(connected.turn()));
        there
    }

    pub fn all(&self) -> Vec<Arc<Connected>> {
        let all = lock(&self.0);
        let each = all.values().flatten();
        each.filter(|c| !c.remote.is_over()).cloned().collect()
    }
}
