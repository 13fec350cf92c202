//! The figures as they are shown.

use domain::kpi::Kpis;
use serde::Serialize;
use utoipa::ToSchema;

/// The outbox at this moment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KpiView {
    /// Pending and Retrying.
    pub queue_depth: u64,
    /// Waiting longer than `outbox.stuck_age_threshold`.
    pub stuck_count: u64,
    pub parked_count: u64,
    /// Delivered within `outbox.delivered_kpi_window`.
    pub delivered_last_interval: u64,
    pub oldest_pending_age_seconds: Option<u64>,
}

/// The same for one source site; `site` is null for what came from none.
#[derive(Debug, Serialize, ToSchema)]
pub struct SiteKpiView {
    pub site: Option<String>,
    #[serde(flatten)]
    pub kpis: KpiView,
}

impl From<Kpis> for KpiView {
    fn from(kpis: Kpis) -> Self {
        let Kpis {
            queue_depth,
            stuck_count,
            parked_count,
            delivered_last_interval,
            oldest_pending_age_seconds,
        } = kpis;
        Self {
            queue_depth,
            stuck_count,
            parked_count,
            delivered_last_interval,
            oldest_pending_age_seconds,
        }
    }
}

impl From<(String, Kpis)> for SiteKpiView {
    fn from((site, kpis): (String, Kpis)) -> Self {
        Self {
            site: Some(site).filter(|name| !name.is_empty()),
            kpis: kpis.into(),
        }
    }
}
