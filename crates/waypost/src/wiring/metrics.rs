//! The metrics recorder behind `/metrics`.

use super::metric_families::Family;
use anyhow::Context;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use std::time::Duration;

/// Attempts take from a millisecond on a good day to the attempt timeout on a bad one.
const SECONDS: &[f64] = &[
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 90.0,
];

/// How often the recorder tidies up after itself.
const UPKEEP: Duration = Duration::from_secs(5);

/// Records from now on, for as long as the runtime lives. What these families are is told with their values.
pub fn install(families: &[Family]) -> anyhow::Result<PrometheusHandle> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), SECONDS)
        .and_then(PrometheusBuilder::install_recorder)
        .context("metrics cannot be recorded")?;
    families.iter().for_each(Family::describe);
    let upkeep = handle.clone();
    tokio::spawn(async move {
        let mut tick = tokio::time::interval(UPKEEP);
        loop {
            tick.tick().await;
            upkeep.run_upkeep();
        }
    });
    Ok(handle)
}
