//! A site's agent that is started anew whenever its part in a pair changes.

use super::site::{self, RunningSite};
use crate::config::site::Site as Config;
use ::site::pair::{LeaseState, Turn};
use domain::{SystemClock, Tracer};
use metrics_exporter_prometheus::PrometheusHandle;
use std::{path::Path, sync::Arc};
use store::buffer::replication;
use tokio_util::sync::CancellationToken;

/// A machine of a site.
pub struct Machine {
    pub config: Config,
    pub metrics: Option<PrometheusHandle>,
    pub tracer: Tracer,
    /// What it holds and has promised outlives each start.
    pub leases: Arc<LeaseState>,
}

impl Machine {
    /// Runs until it is stopped or something breaks; `started` hears of every start.
    pub async fn run(
        mut self,
        stop: CancellationToken,
        mut started: impl FnMut(&RunningSite) -> anyhow::Result<()> + Send,
    ) -> anyhow::Result<()> {
        loop {
            let starting = site::start_leased(
                &self.config,
                self.metrics.clone(),
                self.tracer.clone(),
                Some(&self.leases),
                stop.child_token(),
            );
            let running = starting.await?;
            // Whatever it becomes, it stays where scripts have found it.
            self.config.listen = running.address;
            started(&running)?;
            match running.finished().await {
                Ok(Some(turn)) if !stop.is_cancelled() => take_turn(turn, &self.config.database),
                ended => return ended.map(drop),
            }
        }
    }
}

/// What is to be done before the agent starts anew. Where a copy cannot take the buffer's place, the buffer stays, and
/// another copy is made.
fn take_turn(turn: Turn, buffer: &Path) {
    let Turn::CopyIsWhole { keep } = turn else {
        return;
    };
    match replication::put_in_place(buffer, keep, &SystemClock) {
        Ok(Some(aside)) => tracing::warn!(
            file = %aside.display(),
            "the copy has taken the buffer's place; what was there is set aside and not deleted"
        ),
        Ok(None) => tracing::info!("the copy has taken the buffer's place"),
        Err(error) => tracing::error!(
            error = &error as &dyn std::error::Error,
            "the copy cannot take the buffer's place"
        ),
    }
}
