//! Writes down what attempts came to, many in one commit, and tells the dispatcher.
//!
//! Always true: a lane is held before the row that showed why goes back into it; what was learned is kept and
//! tried again for as long as the store is away, and nothing new is claimed meanwhile.

mod commits;
#[cfg(test)]
mod fault_tests;
mod feedback;
mod lane;
mod write;

pub(super) use feedback::Feedback;

use self::commits::Commits;
use super::{
    StoreClock,
    attempt::Finished,
    conclude::{Conclusion, Judge},
    fault::{or_lost, or_park},
    leases::Leases,
};
use crate::changes::Changes;
use domain::Tracer;
use std::{sync::Arc, time::Duration};
use store::{Outbox, Signals, Suppressions};
use tokio::{
    sync::{mpsc, watch},
    time::Instant,
};

/// The most rows one commit records.
const COMMIT_BATCH: usize = 1000;
/// Commits at once: while one waits for the disk, the next is prepared.
const CONCURRENT_COMMITS: usize = 2;
/// A commit has a price of its own: fewer results than this wait for others, while there are others to come,
const WORTH_A_COMMIT: usize = 256;
/// but no longer than this.
const GATHER_FOR: Duration = Duration::from_millis(5);

/// Whether so many results are recorded now, the first of which has waited so long, while so many others are to come.
fn worth_a_commit(gathered: usize, waited: Duration, to_come: usize) -> bool {
    gathered >= WORTH_A_COMMIT || waited >= GATHER_FOR || to_come == 0
}

pub(super) struct Recorder {
    pub store: Arc<dyn Outbox>,
    pub signals: Arc<dyn Signals>,
    pub suppressions: Arc<dyn Suppressions>,
    pub clock: Arc<StoreClock>,
    pub changes: Changes,
    pub leases: Arc<Leases>,
    pub feedback: mpsc::UnboundedSender<Feedback>,
    /// True while the store does not take results.
    pub blocked: watch::Sender<bool>,
    pub judge: Judge,
    pub tracer: Tracer,
}

impl Recorder {
    /// Draws conclusions as attempts end. Apart from the recording: a place is free when its attempt is over, not when
    /// the commit before has ended, so that the next commit has more to take.
    pub async fn conclude(
        self: Arc<Self>,
        mut finished: mpsc::UnboundedReceiver<Finished>,
        concluded: mpsc::UnboundedSender<Conclusion>,
    ) {
        let mut batch = Vec::with_capacity(COMMIT_BATCH);
        while finished.recv_many(&mut batch, COMMIT_BATCH).await > 0 {
            let mut over = Vec::with_capacity(batch.len());
            for attempt in batch.drain(..) {
                let conclusion = or_park(attempt, |attempt| self.judge.conclude(attempt));
                over.push((conclusion.lane, conclusion.behaviour));
                // Without a recorder the process is going; the lease ends by itself.
                let _ = concluded.send(conclusion);
            }
            self.tell(Feedback::Over(over));
        }
    }

    /// Records until the senders are gone: what has gathered, when it is worth a commit or nothing else is to come.
    pub async fn run(self: Arc<Self>, mut concluded: mpsc::UnboundedReceiver<Conclusion>) {
        let mut gathered: Vec<Conclusion> = vec![];
        let mut since = Instant::now();
        let mut under_way = Commits::default();
        loop {
            let room = COMMIT_BATCH - gathered.len();
            let may_record = !gathered.is_empty() && under_way.len() < CONCURRENT_COMMITS;
            tokio::select! {
                n = concluded.recv_many(&mut gathered, room), if room > 0 => {
                    if n == 0 {
                        break;
                    }
                    if gathered.len() == n {
                        since = Instant::now();
                    }
                }
                () = tokio::time::sleep_until(since + GATHER_FOR), if may_record => {}
                () = under_way.one_over() => {}
            }
            if gathered.is_empty() || under_way.len() >= CONCURRENT_COMMITS {
                continue;
            }
            let to_come = self
                .leases
                .count()
                .saturating_sub(gathered.len() + under_way.rows());
            if worth_a_commit(gathered.len(), since.elapsed(), to_come) {
                let batch = std::mem::take(&mut gathered);
                let (rows, recorder) = (batch.len(), self.clone());
                under_way.start(rows, async move { recorder.write_down_or_let_go(batch).await });
            }
        }
        self.write_down_or_let_go(gathered).await;
        under_way.all_over().await;
    }

    /// A batch that panics while it is written down costs its own rows an attempt: their leases are no longer renewed,
    /// and whoever claims them next finds them interrupted.
    async fn write_down_or_let_go(&self, batch: Vec<Conclusion>) {
        let leases: Vec<_> = batch.iter().map(|conclusion| conclusion.lease).collect();
        let recorded = or_lost(leases.len(), self.write_down(batch)).await;
        self.leases.over(&leases);
        self.tell(recorded);
    }

    fn tell(&self, feedback: Feedback) {
        // The dispatcher is gone only when the process is going.
        let _ = self.feedback.send(feedback);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_alone_is_recorded_at_once() {
        assert!(worth_a_commit(1, Duration::ZERO, 0));
    }

    #[test]
    fn a_few_wait_for_the_others_but_not_for_long() {
        assert!(!worth_a_commit(1, Duration::ZERO, 1));
        assert!(!worth_a_commit(WORTH_A_COMMIT - 1, GATHER_FOR / 2, 1));
        assert!(worth_a_commit(1, GATHER_FOR, 1_000));
    }

    #[test]
    fn many_wait_for_nobody() {
        assert!(worth_a_commit(WORTH_A_COMMIT, Duration::ZERO, 1_000));
    }
}
