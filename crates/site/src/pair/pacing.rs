//! How often the standby is given what changed. Each time is a commit at its disk and a read at this one's, whether it is for one
//! change or for thousands; what comes close together is given together, so that a standby costs whoever sends little.

use domain::lock::lock;
use std::{sync::Mutex, time::Duration};
use tokio::time::{Instant, sleep_until};

/// What a machine that is lost at once may have taken with it, beside what is on the way.
const GATHERED_FOR: Duration = Duration::from_millis(20);
/// A standby that lacks so many changes is not made to wait.
const FAR_BEHIND: i64 = 10_000;

#[derive(Debug)]
pub(super) struct Pacing {
    /// Sends wait for the standby: nothing is held back from it.
    awaited: bool,
    given_at: Mutex<Option<Instant>>,
}

impl Pacing {
    pub fn new(awaited: bool) -> Self {
        Self {
            awaited,
            given_at: Mutex::default(),
        }
    }

    /// To be waited for before a standby that lacks so many changes is given them.
    pub async fn turn(&self, behind: i64) {
        let from = self.given_from(behind);
        if let Some(from) = from {
            sleep_until(from).await;
        }
        *lock(&self.given_at) = Some(Instant::now());
    }

    /// None: at once.
    fn given_from(&self, behind: i64) -> Option<Instant> {
        let given_at = *lock(&self.given_at);
        given_at
            .filter(|_| !self.awaited && behind < FAR_BEHIND)
            .map(|at| at + GATHERED_FOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How long each of these answers was held back.
    async fn held_back(pacing: &Pacing, behind: [i64; 3]) -> Vec<Duration> {
        let mut waits = vec![];
        for behind in behind {
            let asked = Instant::now();
            pacing.turn(behind).await;
            waits.push(asked.elapsed());
        }
        waits
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_close_together_is_given_together() {
        let pacing = Pacing::new(false);
        let waits = held_back(&pacing, [1, 1, 1]).await;
        assert!(waits[0].is_zero(), "the first is given at once");
        assert!(waits[1..].iter().all(|wait| *wait >= GATHERED_FOR), "{waits:?}");
        tokio::time::advance(GATHERED_FOR).await;
        assert!(
            held_back(&pacing, [1, 1, 1]).await[0].is_zero(),
            "after a pause too"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_held_back_from_a_standby_that_is_far_behind_or_waited_for() {
        let far = held_back(&Pacing::new(false), [FAR_BEHIND; 3]).await;
        let awaited = held_back(&Pacing::new(true), [1; 3]).await;
        assert!(
            far.iter().chain(&awaited).all(Duration::is_zero),
            "{far:?} {awaited:?}"
        );
    }
}
