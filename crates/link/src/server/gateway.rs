//! What the server needs from central. `central::sites` is one; tests write their own.

use super::RemoteSite;
use crate::message::{Ack, Forward, RemoteStatus, SiteReport};
use domain::{
    NotificationId, SiteId,
    pair::{LeaseAnswer, LeaseAsk, Rank},
    site::{DatabaseIdentity, Telemetry},
};
use secrecy::SecretString;
use std::sync::Arc;
use tokio::sync::watch;
use tonic::async_trait;
use uuid::Uuid;

/// A site that wants in.
#[derive(Debug)]
pub struct SiteHello {
    pub site: SiteId,
    pub node: String,
    pub version: String,
    /// Which buffer the agent has, and which run of it this is; nil from an agent that does not say.
    pub buffer: Uuid,
    pub run: Uuid,
    /// Of a machine of a pair: the turn it is active in.
    pub turn: Option<Rank>,
    pub key: SecretString,
    /// Where it connected from.
    pub peer: String,
}

/// Why a site is not admitted, in words for whoever reads the site's log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A person has to do something first.
    #[error("{0}")]
    Denied(String),
    /// Central cannot tell right now.
    #[error("{0}")]
    NotNow(String),
}

#[async_trait]
pub trait Gateway: Send + Sync + 'static {
    /// Whether the key speaks for the site. `remote` asks that site things as long as the session lasts.
    async fn admit(&self, hello: SiteHello, remote: RemoteSite) -> Result<Arc<dyn SiteSession>, Refusal>;

    /// A machine of a pair asks for the lease of its site, if the key speaks for that.
    async fn lease(&self, asked: LeaseRequest) -> Result<LeaseAnswer, Refusal> {
        Err(Refusal::NotNow(format!(
            "nobody gives leases to site {}",
            asked.site
        )))
    }

    /// Notifications of a standby, if the key speaks for its site: one answer per item, in order, after the commit.
    async fn submit_beside(&self, handed: FromStandby) -> Result<Vec<Ack>, Refusal> {
        Err(Refusal::NotNow(format!(
            "nobody takes what the standby of site {} was sent",
            handed.site
        )))
    }
}

/// What a standby was sent itself.
#[derive(Debug)]
pub struct FromStandby {
    pub site: SiteId,
    pub key: SecretString,
    pub batch: Vec<Forward>,
}

/// Who asks for a lease, and what.
#[derive(Debug)]
pub struct LeaseRequest {
    pub site: SiteId,
    pub key: SecretString,
    pub ask: LeaseAsk,
}

/// An admitted site. Everything it says is said in its own name.
#[async_trait]
pub trait SiteSession: Send + Sync + 'static {
    /// Which database its rows go to; a change is passed on to the site.
    fn database(&self) -> watch::Receiver<DatabaseIdentity>;

    /// One answer per item, in order, after the commit.
    async fn submit(&self, batch: Vec<Forward>) -> Vec<Ack>;

    async fn status(&self, id: NotificationId) -> Result<Option<RemoteStatus>, String>;

    /// Per item, in order: whether it is kept (or was already).
    async fn telemetry(&self, batch: Vec<Telemetry>) -> Vec<bool>;

    /// The site's own report; also the sign that it is alive.
    fn reported(&self, report: SiteReport);

    /// The session is over, and why.
    async fn left(&self, why: &str);
}
