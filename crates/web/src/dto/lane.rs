//! Lanes and background loops as they are shown to operators.

use super::{
    names::{LaneStateName, Span, Time},
    waiting::HoldView,
};
use central::lanes::LaneNow;
use domain::{Timestamp, retry::human};
use serde::Serialize;
use store::loops::LoopReport;
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
    /// What it is doing.
    #[schema(value_type = LaneStateName)]
    pub state: &'static str,
    /// Why it is so, for people.
    pub words: String,
    /// The far end's words, the operator's or this node's.
    pub detail: Option<String>,
    #[schema(value_type = Option<Time>)]
    pub since: Option<Timestamp>,
    /// When it goes on, or is tried; null when that is up to a person.
    #[schema(value_type = Option<Time>)]
    pub until: Option<Timestamp>,
    /// Somebody has to look: something does not go out, or fails when it does.
    pub wrong: bool,
    /// What helps.
    pub advice: Option<String>,
    /// How the newest attempts of the last hour went, at most five.
    pub last_attempts: LastAttemptsView,
}

/// How a lane's newest attempts went. Those that failed for their message's or recipient's sake count as answered.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastAttemptsView {
    pub count: usize,
    pub failed: usize,
    /// Of the newest that failed, the far end's own where it has one.
    pub code: Option<String>,
}

impl From<LaneNow> for LaneView {
    fn from(now: LaneNow) -> Self {
        let LaneNow {
            lane,
            report,
            last,
            sealed,
        } = now;
        Self {
            wrong: report.is_wrong(lane.waiting),
            provider: lane.provider,
            waiting: lane.waiting,
            hold: lane.hold.map(HoldView::from),
            not_before: lane.not_before,
            sealed,
            version: lane.config_version,
            state: report.state.as_str(),
            words: report.words,
            detail: report.detail,
            since: report.since,
            until: report.until,
            advice: report.advice,
            last_attempts: LastAttemptsView {
                count: last.count(),
                failed: last.failed(),
                code: last.code().map(str::to_owned),
            },
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
    /// The last run that had something to do, which may be the last one.
    pub last_work: Option<WorkView>,
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

/// What a run of a background loop did.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkView {
    #[schema(value_type = Time)]
    pub at: Timestamp,
    /// In words.
    pub result: String,
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
            last_work: report.worked.map(|worked| WorkView {
                at: worked.at,
                result: worked.did,
            }),
            runs: report.runs,
            panics: report.panics,
            every: human(report.about.every),
            running_since: report.running_since,
            next_run: report.next,
        }
    }
}
