//! Tells central what became of calls and writes, and which notifications were parked or given up here. Never in the
//! way of delivering them: it reads what was written down with them, whenever the link is up.

use async_trait::async_trait;
use domain::{
    chain, retry,
    site::{DatabaseIdentity, Telemetry},
};
use link::{LinkState, Uplink};
use std::{future::pending, sync::Arc, time::Duration};
use store::{
    Buffer, Result,
    loops::{About, Loop, Swept},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

const BATCH: u32 = 500;
const FIRST_RETRY_WAIT: Duration = Duration::from_millis(250);

pub struct Reporter {
    buffer: Arc<Buffer>,
    uplink: Arc<dyn Uplink>,
    state: watch::Receiver<LinkState>,
    stop: CancellationToken,
    /// There is nothing to tell until something new is.
    all_told: bool,
    wait: Duration,
}

impl std::fmt::Debug for Reporter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reporter")
    }
}

#[async_trait]
impl Loop for Reporter {
    fn about(&self) -> About {
        About::when_woken(
            "report",
            "tells central what became of calls, writes and parked notifications",
            FIRST_RETRY_WAIT,
        )
    }

    /// When there may be something to tell, and somebody to tell it to.
    async fn woken(&mut self) {
        if self.all_told {
            self.buffer.wake().telemetry().await;
            self.all_told = false;
        }
        if self.state.wait_for(LinkState::is_up).await.is_err() {
            // The link is gone for good: this process ends.
            pending().await
        }
    }

    async fn sweep(&mut self) -> Swept {
        let LinkState::Up { central, .. } = self.state.borrow().clone() else {
            return Swept::did("central cannot be reached");
        };
        let stop = self.stop.clone();
        // Not waited for at a stop: what central has heard twice it keeps once.
        let told = tokio::select! {
            biased;
            () = stop.cancelled() => return Swept::did("stopped"),
            told = self.tell(&central) => told,
        };
        let swept = match &told {
            Ok(ReportProgress::All) => Swept::did("central has been told everything"),
            Ok(ReportProgress::Some(n)) => Swept::did(format!("told central {n} things")),
            Ok(ReportProgress::NotNow) => Swept::did("central takes no news now"),
            Err(error) => Swept::failed(format!("news cannot be read or cleared: {}", chain(error))),
        };
        match told {
            Ok(told @ (ReportProgress::All | ReportProgress::Some(_))) => {
                self.all_told = told == ReportProgress::All;
                self.wait = FIRST_RETRY_WAIT;
                swept
            }
            Ok(ReportProgress::NotNow) | Err(_) => {
                let wait = self.wait;
                self.wait = retry::slower(wait);
                swept.not_before(wait)
            }
        }
    }
}

impl Reporter {
    pub fn new(buffer: Arc<Buffer>, uplink: Arc<dyn Uplink>, stop: CancellationToken) -> Self {
        Self {
            state: uplink.state(),
            buffer,
            uplink,
            stop,
            all_told: false,
            wait: FIRST_RETRY_WAIT,
        }
    }

    /// Tells one batch to the central that keeps its rows in this database.
    async fn tell(&self, central: &DatabaseIdentity) -> Result<ReportProgress> {
        let batch = self.buffer.telemetry(BATCH).await?;
        if batch.is_empty() {
            return Ok(ReportProgress::All);
        }
        let (seqs, news): (Vec<i64>, Vec<Telemetry>) = batch.into_iter().unzip();
        let Ok(kept) = self.uplink.telemetry(news).await else {
            return Ok(ReportProgress::NotNow);
        };
        let done: Vec<_> = seqs
            .into_iter()
            .zip(kept)
            .filter_map(|(seq, kept)| kept.then_some(seq))
            .collect();
        if done.is_empty() {
            return Ok(ReportProgress::NotNow);
        }
        // Until the forwarder has met this database, nothing it hears is sure to be remembered for the next one.
        let n = done.len();
        match self.buffer.telemetry_heard(central, done).await? {
            true => Ok(ReportProgress::Some(n)),
            false => Ok(ReportProgress::NotNow),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReportProgress {
    /// There is nothing more to tell.
    All,
    Some(usize),
    NotNow,
}
