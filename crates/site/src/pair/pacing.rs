//! How often the standby is given what changed. Each time is a commit at its disk and a read at this one's, whether it is for one
//! change or for thousands; what comes close together is given together, so that a standby costs whoever sends next to nothing.

use super::Pair;
use domain::lock::lock;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// What a machine that is lost at once may have taken with it, beside what is on the way. Where sends wait for the standby there is
/// no such pause.
const GATHERED_FOR: Duration = Duration::from_millis(20);
/// A standby that lacks so many changes is not made to wait.
const FAR_BEHIND: i64 = 10_000;

impl Pair {
    /// Waits until the last changes were given a moment ago.
    pub(super) async fn gather(&self, behind: i64) {
        if self.settings.wait_for_standby || behind >= FAR_BEHIND {
            return;
        }
        let given_at = *lock(&self.given_at);
        if let Some(given_at) = given_at {
            sleep_until(given_at + GATHERED_FOR).await;
        }
    }

    /// Changes are about to be sent to the standby.
    pub(super) fn gives(&self) {
        *lock(&self.given_at) = Some(Instant::now());
    }
}
