//! How a lane's attempts are counted for `/metrics`.
//!
//! Each figure is looked up by its labels once and then kept at hand: the lookup costs more than all else that is done to count.

use domain::{FailureKind, Outcome};
use metrics::{Counter, Histogram, SharedString};
use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

/// By kind and not by provider: everybody who can reach `/metrics` reads them, and tenants make providers as they like.
#[derive(Debug)]
pub struct AttemptFigures {
    kind: Arc<str>,
    by_result: [OnceLock<(Counter, Histogram)>; RESULTS.len()],
}

/// Named in the order of [`place`].
const RESULTS: [&str; 6] = [
    "delivered",
    "mixed",
    "transient",
    "permanent",
    "unknown",
    "ambiguous",
];

fn place(outcome: &Outcome) -> usize {
    match outcome {
        Outcome::Delivered(_) => 0,
        Outcome::Mixed(_) => 1,
        Outcome::Failed(failure) => match failure.kind {
            FailureKind::Transient => 2,
            FailureKind::Permanent => 3,
            FailureKind::Unknown => 4,
            FailureKind::Ambiguous => 5,
        },
    }
}

impl AttemptFigures {
    pub fn of(kind: impl Into<Arc<str>>) -> Self {
        Self {
            kind: kind.into(),
            by_result: Default::default(),
        }
    }

    pub(crate) fn count(&self, outcome: &Outcome, took: Duration) {
        let place = place(outcome);
        let (attempts, seconds) = self.by_result[place].get_or_init(|| {
            let (result, kind) = (RESULTS[place], SharedString::from_shared(self.kind.clone()));
            (
                metrics::counter!("waypost_attempts_total", "result" => result, "kind" => kind),
                metrics::histogram!("waypost_attempt_seconds", "result" => result),
            )
        });
        attempts.increment(1);
        seconds.record(took.as_secs_f64());
    }
}
