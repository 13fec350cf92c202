//! How old what central acknowledged is: by the wall clock, as it stands in the file, unless that was set.
//!
//! Always true: nothing is taken to be older because the clock of the machine was set ahead.

use super::ACK_MEMORY;
use domain::{ClockJump, ClockWatch, Timestamp};
use tokio::time::Instant;

/// Looked at whenever something may be forgotten; kept for as long as the agent runs.
#[derive(Debug)]
pub(super) struct Age {
    watch: ClockWatch,
    /// When it was found that the clock had been set ahead.
    ahead_since: Option<Instant>,
}

impl Age {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            watch: ClockWatch::new(now, Instant::now().into_std()),
            ahead_since: None,
        }
    }

    /// Whether what is remembered is as old as the wall clock says. After that was set ahead not before all of it is old
    /// enough whatever the clock says.
    pub(super) fn is_true(&mut self, now: Timestamp) -> bool {
        let at = Instant::now();
        if let Some(ClockJump::Ahead(_)) = self.watch.look(now, at.into_std()) {
            self.ahead_since = Some(at);
        }
        self.ahead_since
            .is_none_or(|since| at.duration_since(since) >= ACK_MEMORY)
    }
}
