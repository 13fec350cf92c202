//! The rows this node is sending right now, and keeping them ours while it does.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use store::{Store, outbox::Lease};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Leases held, by when they were last known to be good.
#[derive(Debug, Default)]
pub(super) struct Leases(Mutex<HashMap<Lease, Instant>>);

impl Leases {
    fn lock(&self) -> MutexGuard<'_, HashMap<Lease, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
pub(super) async fn renew(
    store: Arc<dyn Store>,
    leases: Arc<Leases>,
    lease: Duration,
    stop: CancellationToken,
) {
    let every = (lease / 4).max(Duration::from_millis(50));
    loop {
        tokio::select! { biased; () = stop.cancelled() => return, () = tokio::time::sleep(every) => {} }
        let running = leases.older_than(every);
        if running.is_empty() {
            continue;
        }
        let since = Instant::now();
        match store.renew(&running, lease).await {
            Ok(kept) => {
                if kept.len() < running.len() {
                    let lost = running.len() - kept.len();
                    tracing::warn!(lost, "leases ended while their notifications were being sent");
                }
                leases.renewed(&kept, since);
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "leases could not be renewed; trying again");
            }
        }
    }
}
