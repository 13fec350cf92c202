//! Figures over time, for charts, and what has been failing lately. Nothing here looks at history: charts read counts
//! that [`Stats::roll_up`] condenses as they come in, failures are looked for among a bounded number of rows.

use crate::{Result, query::KpiAsk};
use async_trait::async_trait;
use domain::{TenantId, Timestamp};
use std::{fmt::Debug, time::Duration};

#[async_trait]
pub trait Stats: Debug + Send + Sync {
    /// Condenses the counts since last time, at most [`CHUNK`] of time in one go, and samples the figures once a
    /// minute. Harmless when done twice or by several nodes.
    async fn roll_up(&self, ask: KpiAsk) -> Result<RolledUp>;

    /// The tenant's counts over a span, oldest first, one point per step, now included.
    async fn series(&self, tenant: TenantId, span: Span) -> Result<Series>;

    /// What is wrong with the newest [`FAILURES_LOOKED_AT`] rows that are parked, and as many that wait: by code and
    /// provider, the latest first.
    async fn failures(&self, tenant: TenantId) -> Result<Vec<FailureGroup>>;
}

/// How much time one call condenses at most.
pub const CHUNK: Duration = Duration::from_secs(3600);
/// A count may be committed this long after its bucket began; what is younger is condensed again.
pub const COMMIT_DELAY: Duration = Duration::from_secs(180);
pub const FAILURES_LOOKED_AT: u32 = 1_000;

/// What is sampled is told from what is counted by its sign.
pub(crate) const DEPTH: &str = "=Depth";
pub(crate) const STUCK: &str = "=Stuck";
pub(crate) const PARKED: &str = "=Parked";
pub(crate) const OLDEST: &str = "=Oldest";
/// That somebody looked; without a figure beside it there was nothing. Of minutes only (`rollup_coarse.sql`).
pub(crate) const SAMPLED: &str = "=Sampled";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolledUp {
    pub up_to: Timestamp,
    /// There is more to condense; call again.
    pub behind: bool,
}

/// The last hour by minutes, day by quarters, week by hours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Span {
    #[default]
    Hour,
    Day,
    Week,
}

impl Span {
    pub const ALL: [Span; 3] = [Span::Hour, Span::Day, Span::Week];

    pub fn step(self) -> Duration {
        Duration::from_secs(match self {
            Span::Hour => 60,
            Span::Day => 900,
            Span::Week => 3600,
        })
    }

    pub fn points(self) -> usize {
        match self {
            Span::Hour => 60,
            Span::Day => 96,
            Span::Week => 168,
        }
    }

    /// The start of the first step of a span that ends now.
    pub fn start(self, now: Timestamp) -> Timestamp {
        let steps = u32::try_from(self.points() - 1).unwrap_or(0);
        now.bucket(self.step()) - self.step() * steps
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Series {
    pub start: Timestamp,
    pub step: Duration,
    pub points: Vec<Point>,
}

/// What happened in one step, and the largest of what was sampled in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Point {
    pub accepted: u64,
    pub delivered: u64,
    pub retried: u64,
    pub parked: u64,
    pub discarded: u64,
    /// Whether anything was sampled. If not, the figures below are not known: no node ran. Of longer steps than a minute only
    /// where there was anything.
    pub sampled: bool,
    pub depth: u64,
    pub stuck: u64,
    /// Parked and not yet dealt with, in all.
    pub parked_now: u64,
    pub oldest_seconds: u64,
}

impl Series {
    pub(crate) fn empty(span: Span, now: Timestamp) -> Self {
        Self {
            start: span.start(now),
            step: span.step(),
            points: vec![Point::default(); span.points()],
        }
    }

    /// Adds a count; what is outside the span is left out.
    pub(crate) fn add(&mut self, bucket: Timestamp, what: &str, n: u64) {
        if bucket < self.start {
            return;
        }
        let place = bucket.since(self.start).as_millis() / self.step.as_millis().max(1);
        let Some(point) = usize::try_from(place).ok().and_then(|at| self.points.get_mut(at)) else {
            return;
        };
        // Also for figures from before there was a sign of its own.
        point.sampled |= matches!(what, SAMPLED | DEPTH | STUCK | PARKED | OLDEST);
        match what {
            "Accepted" => point.accepted += n,
            "Delivered" => point.delivered += n,
            "Retried" => point.retried += n,
            "Parked" => point.parked += n,
            "Discarded" => point.discarded += n,
            DEPTH => point.depth = point.depth.max(n),
            STUCK => point.stuck = point.stuck.max(n),
            PARKED => point.parked_now = point.parked_now.max(n),
            OLDEST => point.oldest_seconds = point.oldest_seconds.max(n),
            _ => {}
        }
    }
}

/// Rows that fail alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureGroup {
    pub code: String,
    /// Empty where there was none to route to.
    pub provider: String,
    /// Parked; otherwise they wait to be tried again.
    pub parked: bool,
    pub count: u64,
    pub last_at: Timestamp,
    /// The words of the latest.
    pub error: Option<String>,
}

pub(crate) fn latest_first(mut groups: Vec<FailureGroup>) -> Vec<FailureGroup> {
    groups.sort_by(|a, b| b.last_at.cmp(&a.last_at).then_with(|| a.code.cmp(&b.code)));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    #[test]
    fn a_span_ends_with_the_step_that_has_begun() {
        let series = Series::empty(Span::Hour, at(3605));
        assert_eq!((series.start, series.points.len()), (at(60), 60));
        let mut series = series;
        series.add(at(3600), "Delivered", 3);
        series.add(at(0), "Delivered", 5);
        series.add(at(3660), "Delivered", 7);
        let delivered: Vec<_> = series
            .points
            .iter()
            .map(|p| p.delivered)
            .filter(|n| *n > 0)
            .collect();
        assert_eq!((delivered, series.points[59].delivered), (vec![3], 3));
    }
}
