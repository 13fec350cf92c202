//! Since when the writer has been at the commands it took. A disk that hangs gives no error, only no answer.

use domain::lock::lock;
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

/// Shared by the thread that writes and by whoever wants to know. Clones are the same.
#[derive(Debug, Clone)]
pub(super) struct UnderWay(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// When the commands that are being written were taken.
    began: Option<Instant>,
    /// When the last ones were answered; before the first, when the file was opened.
    ended: Instant,
}

impl UnderWay {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            began: None,
            ended: Instant::now(),
        })))
    }

    pub(super) fn begins(&self) {
        lock(&self.0).began = Some(Instant::now());
    }

    pub(super) fn ends(&self) {
        *lock(&self.0) = State {
            began: None,
            ended: Instant::now(),
        };
    }

    /// For how long what was taken last has been written by now; none while nothing is.
    pub(super) fn lasts(&self) -> Option<Duration> {
        lock(&self.0).began.map(|began| began.elapsed())
    }

    /// For how long there has been nothing to write; none while something is.
    pub(super) fn idle(&self) -> Option<Duration> {
        let state = lock(&self.0);
        state.began.is_none().then(|| state.ended.elapsed())
    }
}
