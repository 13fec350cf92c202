//! Sites: who is connected, what they hand in, and what people ask of them.
//!
//! Leaves to others: the wire (`link`), rows (`store`), taking notifications in (`ingest`).
//! Always true: a site speaks only for itself, by its key; it gets its ack after the commit; who asks a site something
//! gets an answer or the reason why not within seconds.

mod bulk;
mod conflict;
mod elsewhere;
mod gateway;
mod registry;
mod relay;
mod waiting;

pub use bulk::SiteBulk;
pub use gateway::SiteGateway;
pub use registry::{Connected, Registry};
pub use relay::{Offline, RelayError};

pub use domain::site::{WaitingAction, WaitingStatus};

/// What a site answers with, for whoever passes it on.
pub use link::{
    PairReport, ParkedActed, ParkedAction, ParkedAnswer, ParkedCount, ParkedFilter, ParkedMessage,
    ParkedPage, SiteDamage, SiteEvent, SiteReport, WaitingActed, WaitingAnswer, WaitingMessage, WaitingPage,
};
pub use store::sites::{Conflict, OtherAgent};

use crate::{ingest::Ingest, keys};
use domain::{Actor, Clock, SiteId, TenantId, Timestamp, pair::lease::LONGEST_LEASE, site::DatabaseIdentity};
use std::{sync::Arc, time::Duration};
use store::{
    Directory, Jobs, Queries, Signals, Sites, Store,
    directory::ApiKey,
    loops::Work,
    sites::{CONFLICT_OVER, PRESENCE_TIMEOUT, Site, SiteSeen},
};
use tokio::sync::watch;

/// How often sites that are connected are written down, their keys looked at again, and the database asked whether it
/// is still the same. A revoked key works no longer than this.
pub const SWEEP_INTERVAL: Duration = Duration::from_secs(10);

/// How old what is known of a site's use of its key may become: it uses it all the time, and nobody has to know to the minute.
const KEY_USE_REMEMBERED: Duration = Duration::from_secs(600);

/// What sites need of the store, job by job.
#[derive(Debug, Clone)]
pub struct SiteStore {
    pub sites: Arc<dyn Sites>,
    pub queries: Arc<dyn Queries>,
    /// Whose key a site shows.
    pub directory: Arc<dyn Directory>,
    /// How far a bulk action at a site is.
    pub jobs: Arc<dyn Jobs>,
    pub signals: Arc<dyn Signals>,
}

impl SiteStore {
    pub fn of(store: &Arc<dyn Store>) -> Self {
        Self {
            sites: store.clone(),
            queries: store.clone(),
            directory: store.clone(),
            jobs: store.clone(),
            signals: store.clone(),
        }
    }
}

/// Everything about sites on this node. Clones are the same service.
#[derive(Debug, Clone)]
pub struct SiteService {
    store: SiteStore,
    ingest: Ingest,
    clock: Arc<dyn Clock>,
    node: String,
    /// The longest lease a machine of a pair is given.
    longest_lease: Duration,
    registry: Arc<Registry>,
    /// None until the first look.
    database: watch::Sender<Option<DatabaseIdentity>>,
}

/// A site that was just registered. Its key is not kept anywhere.
#[derive(Debug, Clone)]
pub struct Registered {
    pub site: Site,
    pub key: String,
}

/// A site as people see it.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteView {
    pub id: SiteId,
    pub registered_at: Timestamp,
    pub presence: Presence,
    pub agent_node: Option<String>,
    pub agent_version: Option<String>,
    pub peer: Option<String>,
    pub last_contact_at: Option<Timestamp>,
    pub report: Option<SiteReport>,
    /// Another agent uses the same id, or did a moment ago, and was sent away.
    pub conflict: Option<Conflict>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Presence {
    /// It never was.
    NeverSeen,
    Online {
        since: Timestamp,
        /// The node of central it talks to.
        central_node: String,
    },
    Offline {
        since: Timestamp,
        why: String,
    },
}

impl SiteService {
    pub fn new(store: SiteStore, ingest: Ingest, clock: Arc<dyn Clock>, node: String) -> Self {
        Self {
            store,
            ingest,
            clock,
            node,
            longest_lease: LONGEST_LEASE,
            registry: Arc::default(),
            database: watch::Sender::new(None),
        }
    }

    /// Gives machines of a pair leases of up to this.
    #[must_use]
    pub fn leasing(self, longest: Duration) -> Self {
        Self {
            longest_lease: longest,
            ..self
        }
    }

    /// Makes a site known and gives it its key. `Conflict` while it has a live one.
    pub async fn register(
        &self,
        tenant: TenantId,
        site: &SiteId,
        actor: &Actor,
    ) -> store::Result<Registered> {
        let key = keys::mint();
        let site = self
            .store
            .sites
            .register_site(tenant, site, &keys::hash(&key), actor)
            .await?;
        Ok(Registered { site, key })
    }

    pub async fn list(&self, tenant: TenantId) -> store::Result<Vec<SiteView>> {
        let sites = self.store.sites.sites(tenant).await?;
        let now = self.store.queries.now().await?;
        Ok(sites.into_iter().map(|site| self.view(site, now)).collect())
    }

    pub async fn get(&self, tenant: TenantId, site: &SiteId) -> store::Result<Option<SiteView>> {
        let Some(site) = self.store.sites.site(tenant, site).await? else {
            return Ok(None);
        };
        let now = self.store.queries.now().await?;
        Ok(Some(self.view(site, now)))
    }

    /// What sites connect to.
    pub fn gateway(&self) -> Arc<SiteGateway> {
        Arc::new(SiteGateway::new(self.clone()))
    }

    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Once, before the gateway serves.
    pub async fn begin(&self) -> store::Result<()> {
        self.store.sites.begin_epoch().await?;
        self.look_at_database().await?;
        Ok(())
    }

    /// Writes down who is there, sends away whose key was revoked, and looks whether the database is another one. Asks
    /// nothing of the store while nobody is there.
    pub async fn sweep(&self) -> store::Result<Work> {
        let connected = self.registry.all();
        if connected.is_empty() {
            metrics::gauge!("waypost_sites_connected").set(0.0);
            return Ok(Work::nothing("no site is connected"));
        }
        // What a lost signal did not tell.
        self.answer_relays().await;
        let result = self.try_sweep(&connected).await;
        metrics::gauge!("waypost_sites_connected").set(connected.len() as f64);
        result.map(|()| match connected.len() {
            1 => Work::done("saw 1 site connected"),
            n => Work::done(format!("saw {n} sites connected")),
        })
    }

    async fn try_sweep(&self, connected: &[Arc<Connected>]) -> store::Result<()> {
        self.look_at_database().await?;
        for site in connected {
            if !self.is_welcome(site).await? {
                site.remote
                    .dismiss(format!("the key of site {} was revoked", site.site));
            }
        }
        let now = self.clock.now();
        let (gone, there): (Vec<_>, Vec<_>) = connected.iter().partition(|site| site.remote.is_over());
        let seen: Vec<SiteSeen> = there.iter().map(|site| site.seen(&self.node, now)).collect();
        if !seen.is_empty() {
            self.store.sites.sites_seen(seen).await?;
        }
        // Whoever left meanwhile may have been written down as there after that was noted.
        let gone_since = there.into_iter().filter(|site| site.remote.is_over());
        for site in gone_since.chain(gone) {
            let why = site.remote.why();
            self.store
                .sites
                .site_left(site.tenant, &site.site, site.session, &why)
                .await?;
        }
        Ok(())
    }

    async fn is_welcome(&self, site: &Connected) -> store::Result<bool> {
        let key = self.store.directory.key_by_hash(&site.key_hash).await?;
        let key = key.filter(|key| gateway::speaks_for(key, &site.site));
        if let Some(key) = &key {
            self.remember_use(key);
        }
        Ok(key.is_some())
    }

    /// A site that stays connected uses its key all the time.
    fn remember_use(&self, key: &ApiKey) {
        keys::remember_use(&self.store.directory, key, self.clock.now(), KEY_USE_REMEMBERED);
    }

    /// Tells every session when the database is not the one it was.
    async fn look_at_database(&self) -> store::Result<DatabaseIdentity> {
        let now = self.store.sites.database().await?;
        self.database.send_if_modified(|known| {
            if known.as_ref() == Some(&now) {
                return false;
            }
            if let Some(before) = known {
                tracing::warn!(%before, %now, "the database is another one than before; sites send their last rows again");
            }
            *known = Some(now.clone());
            true
        });
        Ok(now)
    }

    fn view(&self, site: Site, now: Timestamp) -> SiteView {
        let here = self.registry.find(site.tenant, &site.id);
        let report = match &here {
            Some(here) => here.report(),
            None => None,
        };
        let kept = || {
            site.report
                .as_deref()
                .and_then(|text| serde_json::from_str(text).ok())
        };
        SiteView {
            presence: self.presence(&site, here.as_deref(), now),
            last_contact_at: here.as_ref().map(|c| c.last_contact()).or(site.last_contact_at),
            report: report.or_else(kept),
            id: site.id,
            registered_at: site.created_at,
            agent_node: site.agent_node,
            agent_version: site.agent_version,
            peer: site.peer,
            conflict: site.conflict.filter(|c| now.since(c.at) < CONFLICT_OVER),
        }
    }

    /// `now` is the store's, like the times in the row.
    fn presence(&self, site: &Site, here: Option<&Connected>, now: Timestamp) -> Presence {
        if let Some(here) = here {
            return Presence::Online {
                since: here.since,
                central_node: self.node.clone(),
            };
        }
        let (Some(contact), Some(node)) = (site.last_contact_at, &site.central_node) else {
            return Presence::NeverSeen;
        };
        match (site.session, site.connected_at) {
            // On this very node it would be in the registry: that row is of an earlier life.
            (Some(_), Some(since)) if *node != self.node && now.since(contact) < PRESENCE_TIMEOUT => {
                Presence::Online {
                    since,
                    central_node: node.clone(),
                }
            }
            (Some(_), _) => Presence::Offline {
                since: contact,
                why: format!("central's node {node} went away"),
            },
            (None, _) => Presence::Offline {
                since: site.offline_since.unwrap_or(contact),
                why: site
                    .offline_why
                    .clone()
                    .unwrap_or_else(|| "the link broke".into()),
            },
        }
    }
}
