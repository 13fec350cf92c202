//! Lanes: what waits in each, who claims from it, and what holds it up.

use domain::{Actor, Hold, HoldReason, LaneId, TenantId, Timestamp};
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanesWaiting {
    /// The store's clock when it looked.
    pub now: Timestamp,
    /// Goes up with every change of providers, lists, keys or tenants.
    pub directory_version: i64,
    pub lanes: Vec<LaneWaiting>,
    pub chores: Chores,
}

/// What else is to be done by some node. Told along with the lanes, so that a node with nothing to do asks one question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Chores {
    /// There is a bulk action that nobody works on.
    pub jobs: bool,
    /// There are counts that have not been condensed.
    pub counts: bool,
    /// Something waits past its `expiresAt`.
    pub expired: bool,
    /// A provider is in trouble whose messages go on to the next one.
    pub failover: bool,
    /// The queue is large, and mostly rows that are gone ([`crate::Maintenance::compact_queue`]).
    pub compact: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneWaiting {
    pub lane: LaneId,
    pub next_due: Timestamp,
    /// Present while the lane is held.
    pub next_probe: Option<Timestamp>,
    pub held: bool,
    /// Not before, when the far end throttles.
    pub not_before: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneWant {
    pub lane: LaneId,
    pub n: u32,
}

/// The most pauses of one lane that are told apart.
pub const MAX_PAUSES: u64 = 10_000;

/// What is not to be asked for in a lane for a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPause {
    /// A hash of what is paused.
    pub key: i64,
    pub wait: Duration,
    /// The code of the failure that said so.
    pub reason: String,
}

/// What is paused in a lane.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pauses {
    pub version: i64,
    pub until: Vec<(i64, Timestamp)>,
}

/// Who claims from a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owned {
    /// Another node does.
    ByAnother,
    /// This one, and nobody ever did before.
    First,
    /// This one, as before.
    Still,
    /// This one, after another.
    TakenOver,
}

impl Owned {
    pub(crate) fn after(before: Option<&str>, node: &str) -> Self {
        match before {
            None => Self::First,
            Some(owner) if owner == node => Self::Still,
            Some(_) => Self::TakenOver,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct HoldLane {
    pub lane: LaneId,
    /// The settings the failed attempt used; none for an operator's hold.
    pub config_version: Option<i64>,
    pub reason: HoldReason,
    pub detail: Option<String>,
    /// Of the failure that showed it, the far end's own where it has one.
    pub code: Option<String>,
    /// When to probe first, and again after a failed probe; at once after one that asked nobody, which is not counted.
    pub probe_after: Option<Duration>,
    pub actor: Actor,
}

impl HoldLane {
    /// Whether the probe that ends with this has asked the far end.
    pub(crate) fn probe_asked(&self) -> bool {
        self.probe_after != Some(Duration::ZERO)
    }

    /// The person who holds it; none when it is the system.
    pub(crate) fn held_by(&self) -> Option<&str> {
        Some(self.actor.as_str()).filter(|by| *by != Actor::SYSTEM)
    }
}

/// A lane as an operator sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    pub lane: LaneId,
    pub tenant: TenantId,
    pub provider: String,
    pub config_version: i64,
    pub hold: Option<Hold>,
    pub not_before: Option<Timestamp>,
    pub waiting: u64,
}
