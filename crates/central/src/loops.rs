//! Background loops: one way to run them, and one place to see how they are doing.

pub use domain::chain;

use domain::{Clock, Timestamp};
use std::{
    collections::BTreeMap,
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

/// How a loop's last run went. Shown to operators, not only logged.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopReport {
    pub at: Timestamp,
    pub duration: Duration,
    /// In words: "purged 120 notifications", or the error.
    pub result: Result<String, String>,
    pub runs: u64,
    pub every: Duration,
}

/// All loops of this node by name.
#[derive(Debug, Clone, Default)]
pub struct Loops(Arc<Mutex<BTreeMap<&'static str, LoopReport>>>);

impl Loops {
    pub fn reports(&self) -> BTreeMap<&'static str, LoopReport> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn report(
        &self,
        name: &'static str,
        at: Timestamp,
        took: Duration,
        every: Duration,
        result: Result<String, String>,
    ) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = all.get(name).map_or(0, |r| r.runs) + 1;
        all.insert(
            name,
            LoopReport {
                at,
                duration: took,
                result,
                runs,
                every,
            },
        );
    }

    /// Runs `sweep` now and then every `every`, until stopped. A sweep is never cut short by the next one.
    pub async fn run<F, Fut>(
        &self,
        name: &'static str,
        every: Duration,
        clock: Arc<dyn Clock>,
        stop: CancellationToken,
        mut sweep: F,
    ) where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<String, String>>,
    {
        let mut tick = tokio::time::interval(every);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! { biased; () = stop.cancelled() => return, _ = tick.tick() => {} }
            let (at, start) = (clock.now(), Instant::now());
            let result = sweep().await;
            if let Err(why) = &result {
                tracing::warn!(loop.name = name, error = why, "a background loop failed; it runs again in its time");
            }
            self.report(name, at, start.elapsed(), every, result);
        }
    }
}
