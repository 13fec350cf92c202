//! The pair, as the gauges show it and as central is told of it.

use super::{LeaseBy, Pair};
use domain::{
    lock::lock,
    pair::{Role, lease::LONGEST_LEASE},
};
use link::PairReport;
use std::{sync::atomic::Ordering, time::Duration};

/// What the gauges show.
#[derive(Debug)]
pub(crate) struct Figures {
    /// Changes the copy lacked when it was last heard of.
    pub behind: u64,
    /// How long ago it lacked none.
    pub behind_for: Option<Duration>,
    /// Whether the other can be asked.
    pub reachable: bool,
    /// How long ago it was heard of, or this agent started.
    pub silent_for: Duration,
    /// What is left of the lease, and who gave it.
    pub lease: Duration,
    pub lease_by: Option<LeaseBy>,
    /// Messages that only this machine has.
    pub own: u64,
}

impl Pair {
    /// For the gauges, without asking the file.
    pub(crate) fn figures(&self) -> Figures {
        let (lease_by, lease) = self.lease().unzip();
        let seen = lock(&self.seen);
        let behind = seen
            .copy
            .map_or(0, |(position, head)| head.saturating_sub(position).max(0));
        Figures {
            behind: behind.unsigned_abs(),
            behind_for: seen.whole_at.map(|at| self.clock.now().since(at)),
            reachable: seen.heard_at.is_some() && seen.trouble.is_none(),
            silent_for: match seen.heard_at {
                Some(at) => self.clock.now().since(at),
                None => self.started.elapsed(),
            },
            lease: lease.map_or(Duration::ZERO, |left| left.min(LONGEST_LEASE)),
            lease_by,
            own: match self.role() {
                Role::Active => self.unshown.load(Ordering::Relaxed),
                Role::Standby => self.own.count(),
            },
        }
    }

    /// As central is told.
    pub(crate) async fn report(&self) -> PairReport {
        let status = self.status().await;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        PairReport {
            role: status.role.as_str().into(),
            turn: status.epoch,
            lease_by: status.lease.map(|(by, _)| by.as_str().into()),
            lease_ms: status.lease.map_or(0, |(_, left)| millis(left)),
            held: status.held,
            own: status.own,
            behind: status.behind,
            behind_ms: status.behind_for.map(millis),
            caught_up: status.caught_up,
            other: status.other.name,
            other_role: status.other.role.map(|role| role.as_str().into()),
            last_contact: status.other.last_contact_at,
            trouble: status.other.trouble,
            differences: status.differences,
        }
    }
}
