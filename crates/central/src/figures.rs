//! Keeps what charts read small and fresh: condenses counts as they come in, samples the figures once a minute.

use std::time::Duration;
use store::{Stats, loops::Work, query::KpiAsk};

/// As long as a bucket of counts.
pub const INTERVAL: Duration = domain::kpi::BUCKET;

/// Condenses until nothing is left.
pub async fn sweep(store: &dyn Stats, ask: KpiAsk) -> store::Result<Work> {
    let mut calls = 1;
    loop {
        let done = store.roll_up(ask).await?;
        if !done.behind {
            let more = if calls > 1 {
                format!(", in {calls} steps")
            } else {
                String::new()
            };
            return Ok(Work::done(format!("condensed what had come in{more}")));
        }
        calls += 1;
        // Others who wait for the writer get their turn before the next step.
        tokio::task::yield_now().await;
    }
}
