//! What the dispatcher's look at the store found for other loops to do, so that they need not ask themselves.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{sync::Notify, time::Instant};

/// Figures are sampled this often, whether anything was counted or not.
const SAMPLED: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(crate) struct Chores {
    jobs: Notify,
    expired: Notify,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    there: bool,
    taken: Option<Instant>,
}

impl Chores {
    pub fn found(&self, chores: store::outbox::Chores) {
        if chores.jobs {
            self.jobs.notify_one();
        }
        if chores.expired {
            self.expired.notify_one();
        }
        if chores.counts {
            self.are_counts();
        }
    }

    /// Completes when there is a bulk action that nobody works on.
    pub async fn jobs(&self) {
        self.jobs.notified().await;
    }

    /// Completes when something waits past its time.
    pub async fn expired(&self) {
        self.expired.notified().await;
    }

    /// There are counts to condense, or there are still.
    pub fn are_counts(&self) {
        self.lock().there = true;
    }

    /// Whether there are counts to condense or figures to sample. Whoever asks does it.
    pub fn take_counts(&self) -> bool {
        let mut counts = self.lock();
        let now = Instant::now();
        let sample = counts.taken.is_none_or(|at| now.duration_since(at) >= SAMPLED);
        let take = std::mem::take(&mut counts.there) || sample;
        if take {
            counts.taken = Some(now);
        }
        take
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn without_counts_there_is_something_to_do_once_a_minute() {
        let chores = Chores::default();
        let mut done = vec![];
        for ten_seconds in 0..13 {
            if chores.take_counts() {
                done.push(ten_seconds);
            }
            tokio::time::advance(Duration::from_secs(10)).await;
        }
        assert_eq!(done, [0, 6, 12]);
    }

    #[tokio::test(start_paused = true)]
    async fn counts_are_taken_once() {
        let chores = Chores::default();
        chores.take_counts();
        chores.found(store::outbox::Chores {
            counts: true,
            ..Default::default()
        });
        assert!(chores.take_counts());
        assert!(!chores.take_counts());
    }
}
