//! The rows this node is sending right now, and keeping them ours while it does.

use async_trait::async_trait;
use domain::lock::lock;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};
use store::{
    Outbox,
    loops::{About, Loop, Swept, Work},
    outbox::Lease,
};
use tokio::time::Instant;

/// Leases held, by when they were last known to be good.
#[derive(Debug, Default)]
pub(super) struct Leases(Mutex<HashMap<Lease, Instant>>);

impl Leases {
    fn lock(&self) -> MutexGuard<'_, HashMap<Lease, Instant>> {
        lock(&self.0)
    }

    /// `since`: an instant before the claim was issued, so that our idea of the lease ends before the store's.
    pub fn held(&self, leases: impl Iterator<Item = Lease>, since: Instant) {
        self.lock().extend(leases.map(|lease| (lease, since)));
    }

    pub fn over(&self, leases: &[Lease]) {
        let mut held = self.lock();
        for lease in leases {
            held.remove(lease);
        }
    }

    pub fn count(&self) -> usize {
        self.lock().len()
    }

    fn older_than(&self, age: Duration) -> Vec<Lease> {
        let mut old: Vec<_> = self
            .lock()
            .iter()
            .filter(|(_, since)| since.elapsed() >= age)
            .map(|(l, _)| *l)
            .collect();
        old.sort_unstable();
        old
    }

    fn renewed(&self, leases: &[Lease], since: Instant) {
        let mut held = self.lock();
        for lease in leases {
            if let Some(known) = held.get_mut(lease) {
                *known = since;
            }
        }
    }
}

/// Renews what is still being sent, long before its lease ends.
pub(super) struct Renewing {
    pub store: Arc<dyn Outbox>,
    pub leases: Arc<Leases>,
    pub lease: Duration,
}

impl Renewing {
    fn every(&self) -> Duration {
        (self.lease / 4).max(Duration::from_millis(50))
    }

    async fn renew(&self) -> store::Result<Work> {
        let running = self.leases.older_than(self.every());
        if running.is_empty() {
            return Ok(Work::nothing("nothing is being sent for long"));
        }
        let since = Instant::now();
        let kept = self.store.renew(&running, self.lease).await?;
        let lost = running.len() - kept.len().min(running.len());
        if lost > 0 {
            tracing::warn!(lost, "leases ended while their notifications were being sent");
        }
        self.leases.renewed(&kept, since);
        let counts = [
            (kept.len() as u64, "lease", "leases"),
            (lost as u64, "that had ended", "that had ended"),
        ];
        Ok(Work::of("renewed", &counts, "nothing is being sent for long"))
    }
}

#[async_trait]
impl Loop for Renewing {
    fn about(&self) -> About {
        About::every("leases", "keeps what is being sent for long ours", self.every())
    }

    async fn sweep(&mut self) -> Swept {
        self.renew().await.into()
    }
}
