//! Tells central what became of calls and writes, and which notifications were parked or given up here. Never in the
//! way of delivering them: it reads what was written down with them, whenever the link is up.

use domain::{
    retry,
    site::{DatabaseIdentity, Telemetry},
};
use link::{LinkState, Uplink};
use std::{sync::Arc, time::Duration};
use store::{Buffer, Result};
use tokio_util::sync::CancellationToken;
use tracing::warn;

const BATCH: u32 = 500;
const FIRST_WAIT: Duration = Duration::from_millis(250);

pub struct Reporter {
    pub buffer: Arc<Buffer>,
    pub uplink: Arc<dyn Uplink>,
}

impl std::fmt::Debug for Reporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reporter")
    }
}

impl Reporter {
    pub async fn run(&self, stop: CancellationToken) {
        let mut state = self.uplink.state();
        let mut wait = FIRST_WAIT;
        loop {
            let up = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                up = state.wait_for(LinkState::is_up) => up.map(|up| up.clone()),
            };
            let Ok(LinkState::Up { central, .. }) = up else {
                return;
            };
            // Not waited for at a stop: what central has heard twice it keeps once.
            let told = tokio::select! { biased; () = stop.cancelled() => return, told = self.tell(&central) => told };
            let told = match told {
                Ok(told) => told,
                Err(e) => {
                    warn!(
                        error = &e as &dyn std::error::Error,
                        "news for central cannot be read or cleared; it waits"
                    );
                    Told::NotNow
                }
            };
            match told {
                Told::All => {
                    wait = FIRST_WAIT;
                    tokio::select! { biased; () = stop.cancelled() => return, () = self.buffer.wake().telemetry() => {} }
                }
                Told::Some => wait = FIRST_WAIT,
                Told::NotNow => {
                    tokio::select! { biased; () = stop.cancelled() => return, () = tokio::time::sleep(wait) => {} }
                    wait = retry::slower(wait);
                }
            }
        }
    }

    /// Tells one batch to the central that keeps its rows in this database.
    pub async fn tell(&self, central: &DatabaseIdentity) -> Result<Told> {
        let batch = self.buffer.telemetry(BATCH).await?;
        if batch.is_empty() {
            return Ok(Told::All);
        }
        let (seqs, news): (Vec<i64>, Vec<Telemetry>) = batch.into_iter().unzip();
        let Ok(kept) = self.uplink.telemetry(news).await else {
            return Ok(Told::NotNow);
        };
        let done: Vec<_> = seqs
            .into_iter()
            .zip(kept)
            .filter_map(|(seq, kept)| kept.then_some(seq))
            .collect();
        if done.is_empty() {
            return Ok(Told::NotNow);
        }
        // Until the forwarder has met this database, nothing it hears is sure to be remembered for the next one.
        match self.buffer.telemetry_heard(central, done).await? {
            true => Ok(Told::Some),
            false => Ok(Told::NotNow),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// There is nothing more to tell.
    All,
    Some,
    NotNow,
}
