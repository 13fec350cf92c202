//! How each loop is doing. Shown to operators and counted in the metrics, not only logged.

use super::{
    Loops,
    run::{About, Swept},
};
use domain::{Timestamp, lock::lock};
use std::{
    collections::BTreeMap,
    sync::MutexGuard,
    time::{Duration, Instant},
};

/// How a loop is doing.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopReport {
    pub about: About,
    /// When its last run began; of one that has not run yet, when it was started.
    pub at: Timestamp,
    pub duration: Duration,
    /// In words: "purged 120 notifications", or the error.
    pub result: Result<String, String>,
    /// The last run that had something to do: of a loop that looks every second, the last one hardly ever has.
    pub worked: Option<Worked>,
    pub runs: u64,
    /// Of those, runs that ended in a panic.
    pub panics: u64,
    /// A run is under way since then.
    pub running_since: Option<Timestamp>,
    /// When it runs again; none while it only waits to be woken.
    pub next: Option<Timestamp>,
}

/// What a run did, and when it began.
#[derive(Debug, Clone, PartialEq)]
pub struct Worked {
    pub at: Timestamp,
    pub did: String,
}

pub(super) type Seen = BTreeMap<&'static str, LoopReport>;

/// A run that is under way.
#[derive(Debug)]
pub struct Run {
    about: About,
    at: Timestamp,
    start: Instant,
}

impl Run {
    pub fn took(&self) -> Duration {
        self.start.elapsed()
    }
}

impl Loops {
    /// All loops by name.
    pub fn reports(&self) -> BTreeMap<&'static str, LoopReport> {
        self.seen().clone()
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.0.seen)
    }

    /// Shows a loop from now on, as one that has not run yet.
    pub fn enter(&self, about: About) {
        let at = self.0.clock.now();
        let report = LoopReport {
            about,
            at,
            duration: Duration::ZERO,
            result: Ok("has not run yet".into()),
            worked: None,
            runs: 0,
            panics: 0,
            running_since: None,
            next: about.first().map(|wait| at + wait),
        };
        self.seen().entry(about.name).or_insert(report);
    }

    /// A run begins. [`Loops::over`] ends it; what [`Loops::start`] runs need not call either.
    pub fn begin(&self, about: About) -> Run {
        self.enter(about);
        let at = self.0.clock.now();
        if let Some(report) = self.seen().get_mut(about.name) {
            report.running_since = Some(at);
            report.next = None;
        }
        Run {
            about,
            at,
            start: Instant::now(),
        }
    }

    /// A run is over. A failure is logged here and nowhere else.
    pub fn over(&self, run: &Run, swept: &Swept) {
        let About { name, .. } = run.about;
        match &swept.result {
            Err(why) => {
                tracing::warn!(loop.name = name, error = why, "a background loop failed; it runs again in its time");
            }
            Ok(did) => tracing::trace!(loop.name = name, did, "a background loop ran"),
        }
        self.noted(run, swept, false);
    }

    pub(super) fn panicked(&self, run: &Run, swept: &Swept) {
        let why = swept.result.as_ref().err();
        tracing::error!(loop.name = run.about.name, error = why, "a background loop panicked; it is started again");
        self.noted(run, swept, true);
    }

    fn noted(&self, run: &Run, swept: &Swept, panicked: bool) {
        let About { name, .. } = run.about;
        let (now, duration) = (self.0.clock.now(), run.took());
        let result = match (panicked, &swept.result) {
            (true, _) => "panicked",
            (false, Ok(_)) => "ok",
            (false, Err(_)) => "failed",
        };
        metrics::counter!("waypost_loop_runs_total", "loop" => name, "result" => result).increment(1);
        metrics::histogram!("waypost_loop_run_seconds", "loop" => name).record(duration.as_secs_f64());
        let at = run.at.as_millis() as f64 / 1_000.0;
        metrics::gauge!("waypost_loop_last_run_timestamp_seconds", "loop" => name).set(at);
        if let Some(report) = self.seen().get_mut(name) {
            report.about = run.about;
            report.at = run.at;
            report.duration = duration;
            report.result = swept.result.clone();
            if let (true, Ok(did)) = (swept.worked, &swept.result) {
                let did = did.clone();
                report.worked = Some(Worked { at: run.at, did });
            }
            report.runs += 1;
            report.panics += u64::from(panicked);
            report.running_since = None;
            report.next = swept.wait(&run.about).map(|wait| now + wait);
        }
    }
}
