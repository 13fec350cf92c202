//! The figures for whoever watches them: scrapes and live streams.
//!
//! Always true: however many ask, the queue is counted once every few seconds for each tenant that somebody watches, and
//! once for all; who asks meanwhile waits for that count or is told the last one.

use domain::{TenantId, kpi::Kpis, lock::lock};
use std::{collections::HashMap, sync::Arc, time::Duration};
use store::{Queries, query::KpiAsk};
use tokio::{sync::Mutex, time::Instant};

/// Figures are told again for this long. A little less than the time between two events of a stream.
pub const FRESH_FOR: Duration = Duration::from_secs(4);
/// Tenants whose figures are kept; beyond it those that nobody waits for are forgotten.
const CACHED_KPIS: usize = 256;

/// The last count, and when that was; no figures if the store did not answer.
type Count = Option<(Instant, Option<Kpis>)>;
/// By tenant; none stands for all.
type Counts = HashMap<Option<TenantId>, Arc<Mutex<Count>>>;

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
        let mut count = slot.lock().await;
        if let Some((at, kpis)) = *count
            && at.elapsed() < FRESH_FOR
        {
            return kpis;
        }
        let kpis = match self.store.kpis(tenant, self.ask).await {
            Ok(kpis) => Some(kpis),
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "the figures cannot be read");
                None
            }
        };
        *count = Some((Instant::now(), kpis));
        kpis
    }

    fn slot(&self, tenant: Option<TenantId>) -> Arc<Mutex<Count>> {
        let mut counts = lock(&self.counts);
        if counts.len() >= CACHED_KPIS && !counts.contains_key(&tenant) {
            counts.retain(|_, slot| Arc::strong_count(slot) > 1);
        }
        counts.entry(tenant).or_default().clone()
    }
}
