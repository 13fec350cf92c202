//! What the lanes of a tenant are doing, for everybody who shows it.

use crate::directory::Directory;
use domain::{
    TenantId, Timestamp,
    lane_report::{LaneFacts, LaneReport, LastAttempts},
};
use std::{collections::HashMap, time::Duration};
use store::{Queries, outbox::Lane};

/// How a lane did longer ago than this says nothing about how it does.
const LATELY: Duration = Duration::from_secs(3600);

/// A lane, what it is doing, and how its last attempts went.
#[derive(Debug, Clone)]
pub struct LaneNow {
    pub lane: Lane,
    pub report: LaneReport,
    pub last: LastAttempts,
    /// Why this node cannot open the provider's secrets, if it cannot.
    pub sealed: Option<String>,
}

/// All lanes of a tenant. Costs the same whatever the history.
pub async fn now(
    queries: &dyn Queries,
    providers: &dyn store::Directory,
    directory: &Directory,
    tenant: TenantId,
    now: Timestamp,
) -> store::Result<Vec<LaneNow>> {
    let rates: HashMap<_, _> = providers
        .providers(tenant)
        .await?
        .into_iter()
        .map(|provider| (provider.lane, provider.provider.limits.per_second))
        .collect();
    let lanes = queries.lanes(tenant).await?;
    let mut last = last_attempts(queries, tenant, &lanes, now).await?;
    let mut all = Vec::with_capacity(lanes.len());
    for lane in lanes {
        let sealed = directory.sealed(lane.lane).await?;
        let last = last.remove(&lane.provider).unwrap_or_default();
        let report = LaneReport::of(LaneFacts {
            now,
            provider: &lane.provider,
            waiting: lane.waiting,
            hold: lane.hold.as_ref(),
            sealed: sealed.as_deref(),
            not_before: lane.not_before,
            last: &last,
            per_second: rates.get(&lane.lane).copied().flatten(),
        });
        all.push(LaneNow {
            lane,
            report,
            last,
            sealed,
        });
    }
    Ok(all)
}

/// By provider.
async fn last_attempts(
    queries: &dyn Queries,
    tenant: TenantId,
    lanes: &[Lane],
    now: Timestamp,
) -> store::Result<HashMap<String, LastAttempts>> {
    let providers: Vec<String> = lanes.iter().map(|lane| lane.provider.clone()).collect();
    let mut by_provider: HashMap<String, LastAttempts> = HashMap::new();
    for made in queries.last_attempts(tenant, &providers, now - LATELY).await? {
        by_provider
            .entry(made.provider)
            .or_default()
            .add(made.code, made.provider_code);
    }
    Ok(by_provider)
}
