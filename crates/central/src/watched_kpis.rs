//! The figures for whoever watches them: scrapes, live streams, pages that refresh themselves. And for whoever wants to know
//! how it is now.
//!
//! Always true: however many watch, the queue is counted once every few seconds for each tenant that somebody watches, and
//! once for all; who asks meanwhile waits for that count or is told the last one. Who asks how it is now is told of a count
//! that began after the question, and shares it with all who asked before it began.

use domain::{TenantId, kpi::Kpis, lock::lock};
use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use store::{Queries, Result, query::KpiAsk};
use tokio::{sync::Mutex, time::Instant};

/// Figures are told again for this long. A little less than the time between two events of a stream.
pub const FRESH_FOR: Duration = Duration::from_secs(4);
/// Tenants whose figures are kept; beyond it those that nobody waits for are forgotten.
const CACHED_KPIS: usize = 256;

/// The last count.
#[derive(Debug)]
struct Count {
    number: u64,
    at: Instant,
    /// None if the store did not answer.
    kpis: Option<Kpis>,
}

/// Whoever holds the lock counts.
#[derive(Debug, Default)]
struct Slot {
    /// How many counts have begun.
    begun: AtomicU64,
    last: Mutex<Option<Count>>,
}

/// By tenant; none stands for all.
type Counts = HashMap<Option<TenantId>, Arc<Slot>>;

#[derive(Debug, Clone)]
pub struct WatchedKpis {
    store: Arc<dyn Queries>,
    ask: KpiAsk,
    counts: Arc<std::sync::Mutex<Counts>>,
}

impl WatchedKpis {
    pub(crate) fn new(store: Arc<dyn Queries>, ask: KpiAsk) -> Self {
        Self {
            store,
            ask,
            counts: Arc::default(),
        }
    }

    /// The figures of the tenant, or of all; none while the store does not answer.
    pub async fn get(&self, tenant: Option<TenantId>) -> Option<Kpis> {
        let slot = self.slot(tenant);
        let mut last = slot.last.lock().await;
        if let Some(count) = &*last
            && count.at.elapsed() < FRESH_FOR
        {
            return count.kpis;
        }
        match self.count(&slot, &mut last, tenant).await {
            Ok(kpis) => Some(kpis),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "the figures cannot be read");
                None
            }
        }
    }

    /// The figures of the tenant as they are now: what whoever asks did before is in them.
    pub async fn now(&self, tenant: TenantId) -> Result<Kpis> {
        let slot = self.slot(Some(tenant));
        let begun = slot.begun.load(Ordering::SeqCst);
        let mut last = slot.last.lock().await;
        if let Some(Count {
            number,
            kpis: Some(kpis),
            ..
        }) = &*last
            && *number > begun
        {
            return Ok(*kpis);
        }
        self.count(&slot, &mut last, Some(tenant)).await
    }

    async fn count(&self, slot: &Slot, last: &mut Option<Count>, tenant: Option<TenantId>) -> Result<Kpis> {
        let number = slot.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let counted = self.store.kpis(tenant, self.ask).await;
        *last = Some(Count {
            number,
            at: Instant::now(),
            kpis: counted.as_ref().ok().copied(),
        });
        counted
    }

    fn slot(&self, tenant: Option<TenantId>) -> Arc<Slot> {
        let mut counts = lock(&self.counts);
        if counts.len() >= CACHED_KPIS && !counts.contains_key(&tenant) {
            counts.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        counts.entry(tenant).or_default().clone()
    }
}
