//! The door sites come in by, and what each of them may do inside.
//!
//! Always true: what is stored in a site's name carries the id its key belongs to, whatever the site itself says.

use super::{
    SiteService,
    conflict::AgentIdentity,
    registry::{Arrival, Connected},
};
use crate::{ingest::Submitted, keys};
use async_trait::async_trait;
use domain::{
    Actor, ExecutionId, NotificationId, SiteId, Submission, TenantId, chain,
    field_error::in_words,
    pair::LeaseAnswer,
    site::{DatabaseIdentity, Telemetry},
    submission::Provenance,
};
use link::{
    Ack, Forward, RemoteStatus, SiteReport,
    server::{FromStandby, Gateway, LeaseRequest, Refusal, RemoteSite, SiteHello, SiteSession},
};
use secrecy::{ExposeSecret, SecretString};
use std::sync::Arc;
use store::{
    directory::{ApiKey, Role},
    sites::LeaseQuestion,
};
use tokio::sync::watch;

/// What `link::server` asks.
#[derive(Debug)]
pub struct SiteGateway(SiteService);

/// Whether a key is that of the site.
pub(super) fn speaks_for(key: &ApiKey, site: &SiteId) -> bool {
    key.role == Role::Site && key.name == site.as_str()
}

impl SiteGateway {
    pub(super) fn new(service: SiteService) -> Self {
        Self(service)
    }

    /// The key, if it is that of the site.
    async fn key_of(&self, site: &SiteId, key: &SecretString) -> Result<ApiKey, Refusal> {
        let key_hash = keys::hash(key.expose_secret());
        let key = self.0.store.directory.key_by_hash(&key_hash).await;
        let key = key.map_err(|error| {
            tracing::warn!(site.id = %site, error = %chain(&error), "the key of a site cannot be looked up");
            Refusal::NotNow("central cannot reach its database".into())
        })?;
        key.filter(|key| speaks_for(key, site))
            .ok_or_else(|| Refusal::Denied(format!("the key is not that of site {site}")))
    }
}

#[async_trait]
impl Gateway for SiteGateway {
    async fn admit(&self, hello: SiteHello, remote: RemoteSite) -> Result<Arc<dyn SiteSession>, Refusal> {
        let service = &self.0;
        let not_now = |error: store::Error| {
            tracing::warn!(site.id = %hello.site, error = %chain(&error), "a site cannot be let in");
            Refusal::NotNow("central cannot reach its database".into())
        };
        let key_hash = keys::hash(hello.key.expose_secret());
        let key = service
            .store
            .directory
            .key_by_hash(&key_hash)
            .await
            .map_err(not_now)?;
        let denied = |why: &str| Refusal::Denied(format!("site {} {why}", hello.site));
        let key = key.ok_or_else(|| denied("gave a key that central does not know or has revoked"))?;
        if !speaks_for(&key, &hello.site) {
            return Err(denied("gave a key that does not belong to it"));
        }
        service.remember_use(&key);
        let database = service.look_at_database().await.map_err(not_now)?;
        let arrival = Arrival {
            tenant: key.tenant,
            site: hello.site.clone(),
            remote,
            agent: AgentIdentity {
                node: hello.node.clone(),
                buffer: hello.buffer,
                run: hello.run,
            },
            turn: hello.turn,
            agent_version: hello.version.clone(),
            peer: hello.peer.clone(),
            key_hash,
        };
        let connected = service.admit(arrival).await?;
        let seen = connected.seen(&service.node, service.clock.now());
        let told = watch::Sender::new(database);
        // From here on, whatever ends this call also gives the place up.
        let session = Session {
            follow: tokio::spawn(follow(service.database.subscribe(), told.clone())),
            told,
            service: service.clone(),
            connected: connected.clone(),
        };
        let written = service.store.sites.sites_seen(vec![seen]).await;
        written.map_err(not_now)?;
        tracing::info!(site.id = %connected.site, site.node = %connected.agent_node(), peer = %connected.peer, "a site connected");
        Ok(Arc::new(session))
    }

    async fn lease(&self, asked: LeaseRequest) -> Result<LeaseAnswer, Refusal> {
        let service = &self.0;
        let not_now = |error: store::Error| {
            tracing::warn!(site.id = %asked.site, error = %chain(&error), "a lease cannot be given");
            Refusal::NotNow("central cannot reach its database".into())
        };
        let key = self.key_of(&asked.site, &asked.key).await?;
        let before = asked.ask.rank;
        let question = LeaseQuestion {
            tenant: key.tenant,
            site: asked.site.clone(),
            longest: service.longest_lease,
            ask: asked.ask,
        };
        let answer = service.store.sites.ask_lease(question).await.map_err(not_now)?;
        if let LeaseAnswer::Granted { rank, stale, .. } = answer
            && rank != before
        {
            tracing::warn!(site.id = %asked.site, epoch = rank.0, stale, "a machine of a site's pair was given a turn");
        }
        Ok(answer)
    }

    async fn submit_beside(&self, handed: FromStandby) -> Result<Vec<Ack>, Refusal> {
        let FromStandby { site, key, batch } = handed;
        let tenant = self.key_of(&site, &key).await?.tenant;
        if batch.is_empty() {
            return Ok(vec![]);
        }
        let n = batch.len();
        let stored = self.0.take_in(tenant, &site, batch).await;
        let taken = stored.iter().filter(|ack| **ack == Ack::Accepted).count();
        tracing::info!(site.id = %site, n, taken, "the standby of a site handed over what it was sent itself");
        Ok(stored)
    }
}

/// Passes a change of the database on to one session.
async fn follow(
    mut service: watch::Receiver<Option<DatabaseIdentity>>,
    told: watch::Sender<DatabaseIdentity>,
) {
    while service.changed().await.is_ok() {
        let Some(now) = service.borrow_and_update().clone() else {
            continue;
        };
        told.send_if_modified(|known| {
            let changed = *known != now;
            *known = now;
            changed
        });
    }
}

struct Session {
    service: SiteService,
    connected: Arc<Connected>,
    told: watch::Sender<DatabaseIdentity>,
    follow: tokio::task::JoinHandle<()>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.follow.abort();
        // However the session ended: nobody is asked through it any more.
        self.service.registry.leave(&self.connected);
    }
}

#[async_trait]
impl SiteSession for Session {
    fn database(&self) -> watch::Receiver<DatabaseIdentity> {
        self.told.subscribe()
    }

    async fn submit(&self, batch: Vec<Forward>) -> Vec<Ack> {
        let Connected { tenant, site, .. } = &*self.connected;
        self.connected.contact(self.service.clock.now());
        self.service.take_in(*tenant, site, batch).await
    }

    async fn status(&self, id: NotificationId) -> Result<Option<RemoteStatus>, String> {
        let found = self.service.store.queries.get(self.connected.tenant, id).await;
        let found = found.map_err(|e| e.to_string())?;
        // A site is told about what it sent, not about its neighbours.
        let ours =
            found.filter(|n| n.submission.provenance.site.as_deref() == Some(self.connected.site.as_str()));
        Ok(ours.map(|n| RemoteStatus {
            status: n.status,
            retry_count: n.retry_count,
            last_error: n.last_error,
            enqueued_at: n.submission.site_enqueued_at.unwrap_or(n.created_at),
            delivered_at: n.delivered_at,
            receipt: n.receipt,
        }))
    }

    async fn telemetry(&self, batch: Vec<Telemetry>) -> Vec<bool> {
        self.connected.contact(self.service.clock.now());
        let n = batch.len();
        let (tenant, site) = (self.connected.tenant, &self.connected.site);
        match self
            .service
            .store
            .sites
            .record_telemetry(tenant, site, batch)
            .await
        {
            Ok(()) => vec![true; n],
            Err(error) => {
                tracing::warn!(site.id = %site, error = %chain(&error), "a site's telemetry could not be stored; it will come again");
                vec![false; n]
            }
        }
    }

    fn reported(&self, report: SiteReport) {
        self.connected.contact(self.service.clock.now());
        self.connected.reported(report);
    }

    async fn left(&self, why: &str) {
        let c = &self.connected;
        self.service.registry.leave(c);
        tracing::info!(site.id = %c.site, peer = %c.peer, reason = why, "a site left");
        let written = self
            .service
            .store
            .sites
            .site_left(c.tenant, &c.site, c.session, why)
            .await;
        if let Err(error) = written {
            tracing::warn!(site.id = %c.site, error = %chain(&error), "that a site left could not be written down");
        }
    }
}

impl SiteService {
    /// Stores notifications in the site's name: one answer each, in order.
    async fn take_in(&self, tenant: TenantId, site: &SiteId, batch: Vec<Forward>) -> Vec<Ack> {
        let n = batch.len();
        let actor = Actor::site(site);
        let incoming = batch
            .into_iter()
            .map(|forward| stamped(tenant, site, &actor, forward));
        match self.ingest.submit_accepted(incoming.collect()).await {
            Ok(submitted) => submitted.into_iter().map(ack).collect(),
            Err(error) => {
                tracing::warn!(site.id = %site, error = %chain(&error), "a site's batch could not be stored; it will come again");
                vec![Ack::NotNow(error.to_string()); n]
            }
        }
    }
}

/// The notification as central stores it, in this site's name.
fn stamped(tenant: TenantId, site: &SiteId, actor: &Actor, forward: Forward) -> Submission {
    Submission {
        provenance: Provenance {
            site: Some(site.to_string()),
            instance: forward.instance,
            script: forward.script,
            execution: forward.execution.map(ExecutionId::new),
            parent_execution: forward.parent_execution.map(ExecutionId::new),
        },
        site_enqueued_at: Some(forward.site_enqueued_at),
        trace: forward.trace,
        ..Submission::new(tenant, forward.id, actor.clone(), forward.content)
    }
}

fn ack(submitted: Submitted) -> Ack {
    match submitted {
        Submitted::Accepted { .. } => Ack::Accepted,
        Submitted::Duplicate { .. } => Ack::Duplicate,
        Submitted::Refused(problems) => Ack::Refused(in_words(&problems)),
    }
}
