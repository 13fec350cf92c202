//! How many notifications a view of the list has, for pages that refresh themselves and for whoever comes to one.
//!
//! Always true: however many watch a view, it is counted once every few seconds; who asks how many there are now is told
//! of a count of their own (decision 31).

use crate::watched_kpis::FRESH_FOR;
use domain::{TenantId, lock::lock};
use std::{collections::HashMap, sync::Arc};
use store::{
    Queries, Result,
    query::{Counted, Filter},
};
use tokio::{sync::Mutex, time::Instant};

/// Views whose counts are kept. Beyond it only those that are fresh stay, and what has no room is counted for each who asks.
const CACHED_VIEWS: usize = 256;
/// A view whose words are longer is not kept.
const MAX_VIEW_BYTES: usize = 1_000;

/// A view is its tenant and the words it was asked for by: the same words mean the same at another moment ("today"), while the
/// filter they make changes with the clock.
type View = (TenantId, String);

/// The last count, and when it began.
#[derive(Debug, Clone, Copy)]
struct Count {
    at: Instant,
    counted: Counted,
}

/// Who watches holds the lock while counting, so that the others wait for the same count.
type Slot = Mutex<Option<Count>>;

#[derive(Debug, Clone)]
pub struct WatchedCounts {
    store: Arc<dyn Queries>,
    views: Arc<std::sync::Mutex<HashMap<View, Arc<Slot>>>>,
}

impl WatchedCounts {
    pub(crate) fn new(store: Arc<dyn Queries>) -> Self {
        Self {
            store,
            views: Arc::default(),
        }
    }

    /// For a page that refreshes itself: the last count, while it is fresh.
    pub async fn get(&self, tenant: TenantId, view: &str, filter: &Filter) -> Result<Counted> {
        let Some(slot) = self.slot(tenant, view) else {
            return self.store.count(tenant, filter).await;
        };
        let mut last = slot.lock().await;
        if let Some(count) = *last
            && count.at.elapsed() < FRESH_FOR
        {
            return Ok(count.counted);
        }
        let at = Instant::now();
        let counted = self.store.count(tenant, filter).await?;
        *last = Some(Count { at, counted });
        Ok(counted)
    }

    /// For whoever comes to the page: what they did before is counted, and their page's next refresh does not go back behind it.
    pub async fn now(&self, tenant: TenantId, view: &str, filter: &Filter) -> Result<Counted> {
        let at = Instant::now();
        let counted = self.store.count(tenant, filter).await?;
        if let Some(slot) = self.slot(tenant, view) {
            let mut last = slot.lock().await;
            if last.is_none_or(|count| count.at < at) {
                *last = Some(Count { at, counted });
            }
        }
        Ok(counted)
    }

    fn slot(&self, tenant: TenantId, view: &str) -> Option<Arc<Slot>> {
        let view = (tenant, view.to_owned());
        let mut views = lock(&self.views);
        if let Some(slot) = views.get(&view) {
            return Some(slot.clone());
        }
        if views.len() >= CACHED_VIEWS {
            // A slot that is locked is being counted for.
            let in_use = |slot: &Slot| {
                let last = slot.try_lock();
                last.map_or(true, |last| {
                    last.is_some_and(|count| count.at.elapsed() < FRESH_FOR)
                })
            };
            views.retain(|_, slot| Arc::strong_count(slot) > 1 || in_use(slot));
        }
        if views.len() >= CACHED_VIEWS || view.1.len() > MAX_VIEW_BYTES {
            return None;
        }
        Some(views.entry(view).or_default().clone())
    }
}
