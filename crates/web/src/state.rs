//! What every handler can reach.

use crate::{
    console::{ConsoleSettings, TestResults},
    streams::Streams,
};
use central::Central;
use domain::lock::lock;
use metrics_exporter_prometheus::PrometheusHandle;
use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
};
use tokio_util::sync::CancellationToken;

/// The state as handlers get it: one for all requests.
pub type Shared = Arc<WebState>;

/// The node behind the API, and what the API itself needs.
pub struct WebState {
    pub central: Central,
    /// Rendered at `/metrics`; without one only the gauges of the outbox are.
    pub metrics: Option<PrometheusHandle>,
    pub readiness: Readiness,
    /// Cancelled when the server is to end: live streams end with it.
    pub stop: CancellationToken,
    pub console: ConsoleSettings,
    /// The live streams that are open.
    pub streams: Streams,
    /// What came of the latest tests of providers, for the pages that show it.
    pub tests: TestResults,
}

impl WebState {
    pub fn new(central: Central) -> Self {
        Self {
            central,
            metrics: None,
            readiness: Readiness::default(),
            stop: CancellationToken::new(),
            console: ConsoleSettings::default(),
            streams: Streams::default(),
            tests: TestResults::default(),
        }
    }

    pub fn with_metrics(mut self, handle: PrometheusHandle) -> Self {
        self.metrics = Some(handle);
        self
    }

    pub fn with_readiness(mut self, readiness: Readiness) -> Self {
        self.readiness = readiness;
        self
    }

    pub fn with_console(mut self, settings: ConsoleSettings) -> Self {
        self.console = settings;
        self
    }

    pub fn with_stop(mut self, stop: CancellationToken) -> Self {
        self.stop = stop;
        self
    }
}

impl fmt::Debug for WebState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebState")
            .field("central", &self.central)
            .finish_non_exhaustive()
    }
}

/// What has to be true besides an answering store before `/readyz` says yes. Cheap to clone; clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Readiness(Arc<Mutex<BTreeMap<&'static str, Option<String>>>>);

impl Readiness {
    /// `part` cannot take work yet, or no longer, and why.
    pub fn not_ready(&self, part: &'static str, why: impl Into<String>) {
        self.set(part, Some(why.into()));
    }

    pub fn ready(&self, part: &'static str) {
        self.set(part, None);
    }

    fn set(&self, part: &'static str, why: Option<String>) {
        lock(&self.0).insert(part, why);
    }

    /// Every part that was ever named, with the reason if it is not ready.
    pub fn parts(&self) -> BTreeMap<&'static str, Option<String>> {
        lock(&self.0).clone()
    }
}
