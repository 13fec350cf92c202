//! Asking again: after a lock that was lost, and after a connection that broke while something was being committed.

use super::failed::Failed;
use crate::Error;
use std::time::Duration;
use tokio::time::Instant;

/// How long the fate of a commit is asked about before the caller is told that it is not known.
const COMMIT_FATE_TIMEOUT: Duration = Duration::from_secs(15);
const RETRY_PAUSE: Duration = Duration::from_millis(250);
const LOCK_RETRIES: u32 = 10;

/// One piece of work that is safe to send twice, and how often it had to be.
pub(super) struct CommitRetry {
    what: &'static str,
    started: Instant,
    lost: bool,
    busy: u32,
}

impl CommitRetry {
    pub fn new(what: &'static str) -> Self {
        Self {
            what,
            started: Instant::now(),
            lost: false,
            busy: 0,
        }
    }

    /// When an earlier try may have been committed: how long ago it began.
    pub fn maybe_committed(&self) -> Option<Duration> {
        self.lost.then(|| self.started.elapsed())
    }

    /// Returns when it is time to try again; an error when it is not worth it, or no longer.
    pub async fn after(&mut self, failed: Failed) -> Result<(), Failed> {
        let cause = match failed {
            Failed::Busy(_) if self.busy < LOCK_RETRIES => {
                self.busy += 1;
                return Ok(());
            }
            Failed::Lost(cause) => {
                tracing::warn!(
                    what = self.what,
                    error = &*cause as &dyn std::error::Error,
                    "connection to PostgreSQL lost, asking again"
                );
                let first = !self.lost;
                self.lost = true;
                // The pool may hand out a fresh connection at once, as after a restart of the server.
                if first {
                    return Ok(());
                }
                cause
            }
            Failed::Later(cause) | Failed::Server(cause) | Failed::Busy(cause) if self.lost => cause,
            other => return Err(other),
        };
        if self.started.elapsed() >= COMMIT_FATE_TIMEOUT {
            return Err(Error::UnknownCommit(cause).into());
        }
        tokio::time::sleep(RETRY_PAUSE).await;
        Ok(())
    }
}
