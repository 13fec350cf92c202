//! What nodes that share a store tell each other. Nothing depends on it but how soon something is seen.

use domain::{LaneId, NotificationId, Status, TenantId};
use std::fmt::Debug;

pub trait Signals: Debug + Send + Sync {
    /// Woken when other nodes ingest or change something; never on an embedded store.
    fn subscribe(&self) -> tokio::sync::broadcast::Receiver<Signal>;

    /// Tells the other nodes, after the commit, coalesced. Does nothing on an embedded store.
    fn announce(&self, signal: Signal);
}

/// What one node tells the others. Losing one costs latency, never a message: polling is the net.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// Rows became due in these lanes.
    Lanes(Vec<LaneId>),
    /// Providers, lists or keys changed.
    Directory,
    /// Something was put into the outbox of events.
    Events,
    /// A question to a site waits for the node that has it, or was answered.
    Relays,
    /// Somebody watches live on the node that says so, and wants to be told of changes for a while.
    Watching,
    /// What has changed on another node, and how many changes are not told one by one.
    Changes { changes: Vec<Change>, missed: u64 },
    /// Something has to be looked for; which lanes it is about is not said.
    LookAgain,
    /// The listening session was lost and is back: what others told meanwhile was not heard.
    ListensAgain,
}

/// Where a notification stands since a moment ago.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub tenant: TenantId,
    pub id: NotificationId,
    pub status: Status,
    pub code: Option<String>,
}
