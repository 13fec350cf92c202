//! What the dispatcher's look at the store found for other loops to do, so that they need not ask themselves.

use domain::lock::lock;
use std::{
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{sync::Notify, time::Instant};

/// A compaction that fails has kept everybody waiting a tenth of a second; it is not tried more often than this.
const COMPACT_AT_MOST_EVERY: Duration = Duration::from_secs(10);
/// Figures are sampled this often, whether anything was counted or not. Asked every ten seconds or so, that is once in each minute
/// of the clock at least; a whole minute would skip some.
const SAMPLE_INTERVAL: Duration = Duration::from_secs(45);

#[derive(Debug, Default)]
pub(crate) struct Chores {
    jobs: Notify,
    expired: Notify,
    failover: Notify,
    lanes_are_failing: AtomicBool,
    compact: Notify,
    compact_asked: Mutex<Option<Instant>>,
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
        if chores.failover {
            self.failover.notify_one();
        }
        if chores.counts {
            self.are_counts();
        }
        if chores.compact && self.may_compact() {
            self.compact.notify_one();
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

    /// Completes when a provider may be in trouble whose messages go on to the next one.
    pub async fn failover(&self) {
        self.failover.notified().await;
    }

    pub fn look_for_failover(&self) {
        self.failover.notify_one();
    }

    /// Whether what comes in for a lane that is held is to be moved on at once.
    pub fn lanes_are_failing(&self, failing: bool) {
        self.lanes_are_failing.store(failing, Ordering::Relaxed);
    }

    /// Something came in for lanes of which `any_held` says whether one is held. Nearly always nobody is asked.
    pub fn came_in(&self, any_held: impl FnOnce() -> bool) {
        if self.lanes_are_failing.load(Ordering::Relaxed) && any_held() {
            self.look_for_failover();
        }
    }

    /// Completes when the queue is worth compacting, and has not just been tried to be.
    pub async fn compact(&self) {
        self.compact.notified().await;
    }

    fn may_compact(&self) -> bool {
        let mut asked = lock(&self.compact_asked);
        let now = Instant::now();
        let may = asked.is_none_or(|at| now.duration_since(at) >= COMPACT_AT_MOST_EVERY);
        if may {
            *asked = Some(now);
        }
        may
    }

    /// There are counts to condense, or there are still.
    pub fn are_counts(&self) {
        self.lock().there = true;
    }

    /// Whether there are counts to condense or figures to sample. Whoever asks does it.
    pub fn take_counts(&self) -> bool {
        let mut counts = self.lock();
        let now = Instant::now();
        let sample = counts
            .taken
            .is_none_or(|at| now.duration_since(at) >= SAMPLE_INTERVAL);
        let take = std::mem::take(&mut counts.there) || sample;
        if take {
            counts.taken = Some(now);
        }
        take
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        lock(&self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[tokio::test(start_paused = true)]
    async fn without_counts_there_is_something_to_do_in_each_minute() {
        let chores = Chores::default();
        let mut done = vec![];
        for ten_seconds in 0..13 {
            if chores.take_counts() {
                done.push(ten_seconds);
            }
            tokio::time::advance(Duration::from_secs(10)).await;
        }
        assert_eq!(done, [0, 5, 10]);
    }

    #[tokio::test(start_paused = true)]
    async fn however_often_the_queue_is_looked_at_it_is_not_compacted_again_at_once() {
        let chores = Chores::default();
        let compact = store::outbox::Chores {
            compact: true,
            ..Default::default()
        };
        for _ in 0..2 {
            chores.found(compact);
            chores.compact().await;
            chores.found(compact);
            assert!(chores.compact().now_or_never().is_none());
            tokio::time::advance(COMPACT_AT_MOST_EVERY).await;
        }
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
