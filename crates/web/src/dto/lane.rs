//! Lanes and background loops as they are shown to operators.

use super::{
    names::{Span, Time},
    notification::HoldView,
};
use domain::{Timestamp, retry::human};
use serde::Serialize;
use store::{loops::LoopReport, outbox::Lane};
use utoipa::ToSchema;

/// What fails together: the tenant's use of one provider.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LaneView {
    pub provider: String,
    /// Rows that wait in it, counted up to a bound.
    pub waiting: u64,
    pub hold: Option<HoldView>,
    /// The far end throttles; nothing goes out before this.
    #[schema(value_type = Option<Time>)]
    pub not_before: Option<Timestamp>,
    /// Why this node cannot open the provider's secrets, if it cannot: it leaves the lane alone then.
    pub sealed: Option<String>,
    pub version: i64,
}

impl LaneView {
    pub fn of(lane: Lane, sealed: Option<String>) -> Self {
        Self {
            provider: lane.provider,
            waiting: lane.waiting,
            hold: lane.hold.map(HoldView::from),
            not_before: lane.not_before,
            sealed,
            version: lane.config_version,
        }
    }
}

/// How a background loop of this node last went.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoopView {
    pub name: String,
    /// What it is for.
    pub what: String,
    /// When its last run began; of one that has not run yet, when it was started.
    #[schema(value_type = Time)]
    pub at: Timestamp,
    pub duration_ms: u64,
    pub ok: bool,
    /// In words: what it did, or why it failed.
    pub result: String,
    pub runs: u64,
    /// Runs that ended in a panic. The loop was started again each time.
    pub panics: u64,
    #[schema(value_type = Span)]
    pub every: String,
    /// A run is under way since then.
    #[schema(value_type = Option<Time>)]
    pub running_since: Option<Timestamp>,
    /// None while it runs, or only waits to be woken.
    #[schema(value_type = Option<Time>)]
    pub next_run: Option<Timestamp>,
}

impl From<LoopReport> for LoopView {
    fn from(report: LoopReport) -> Self {
        let ok = report.result.is_ok();
        Self {
            name: report.about.name.to_owned(),
            what: report.about.what.to_owned(),
            at: report.at,
            duration_ms: u64::try_from(report.duration.as_millis()).unwrap_or(u64::MAX),
            ok,
            result: report.result.unwrap_or_else(|why| why),
            runs: report.runs,
            panics: report.panics,
            every: human(report.about.every),
            running_since: report.running_since,
            next_run: report.next,
        }
    }
}
