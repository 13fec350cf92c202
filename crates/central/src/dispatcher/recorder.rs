//! Writes down what attempts came to, many in one commit, and tells the dispatcher.
//!
//! Always true: a lane is held before the row that showed why goes back into it; what was learned is kept and
//! tried again for as long as the store is away, and nothing new is claimed meanwhile.

use super::{
    StoreClock, Tally,
    attempt::Finished,
    conclude::{Conclusion, Judge},
    fault::or_park,
    lanes::Behaviour,
    leases::Leases,
};
use crate::changes::{Change, Changes};
use domain::{
    Actor, Hold, LaneId, Status, Timestamp, TraceContext, Tracer,
    retry::slower,
    trace::{Span, SpanKind},
};
use futures_util::FutureExt;
use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};
use store::{
    Store,
    outbox::{AttemptRecord, Ended, Recorded},
};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::Instant,
};

/// What the recorder tells the dispatcher.
#[derive(Debug)]
pub(super) enum Feedback {
    /// These attempts are over: their places in the lanes are free.
    Over(Vec<(LaneId, Behaviour)>),
    /// A probe is over, and whether the lane is still held.
    Probed {
        lane: LaneId,
        held: bool,
        next_probe: Option<Timestamp>,
    },
    Held {
        lane: LaneId,
        next_probe: Option<Timestamp>,
    },
    Paused {
        lane: LaneId,
        until: Timestamp,
    },
    /// So many rows are on record; lanes with rows to look at again at a time.
    Recorded {
        tally: Tally,
        again: Vec<(LaneId, Timestamp)>,
    },
}

/// The most rows one commit records.
const BATCH: usize = 1000;
/// Commits at once: while one waits for the disk, the next is prepared.
const AT_ONCE: usize = 2;
/// A commit has a price of its own: fewer results than this wait for others, while there are others to come,
const WORTH_A_COMMIT: usize = 256;
/// but no longer than this.
const GATHER_FOR: Duration = Duration::from_millis(5);
/// After this a lane is looked at again from which rows went back: whatever was in their way is not asked about at once.
const RELEASED: Duration = Duration::from_secs(1);

/// Whether so many results are recorded now, the first of which has waited so long, while so many others are to come.
fn worth_a_commit(gathered: usize, waited: Duration, to_come: usize) -> bool {
    gathered >= WORTH_A_COMMIT || waited >= GATHER_FOR || to_come == 0
}

pub(super) struct Recorder {
    pub store: Arc<dyn Store>,
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
        let mut batch = Vec::with_capacity(BATCH);
        while finished.recv_many(&mut batch, BATCH).await > 0 {
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
        let mut under_way = JoinSet::new();
        let mut recording: usize = 0;
        loop {
            let room = BATCH - gathered.len();
            let may_record = !gathered.is_empty() && under_way.len() < AT_ONCE;
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
                Some(over) = under_way.join_next() => {
                    recording = recording.saturating_sub(over.unwrap_or(0));
                }
            }
            if gathered.is_empty() || under_way.len() >= AT_ONCE {
                continue;
            }
            let to_come = self.leases.count().saturating_sub(gathered.len() + recording);
            if worth_a_commit(gathered.len(), since.elapsed(), to_come) {
                let batch = std::mem::take(&mut gathered);
                let rows = batch.len();
                recording += rows;
                let recorder = self.clone();
                under_way.spawn(async move {
                    recorder.write_down_or_let_go(batch).await;
                    rows
                });
            }
        }
        self.write_down_or_let_go(gathered).await;
        under_way.join_all().await;
    }

    /// A batch that panics while it is written down costs its own rows an attempt: their leases are no longer renewed,
    /// and whoever claims them next finds them interrupted.
    async fn write_down_or_let_go(&self, batch: Vec<Conclusion>) {
        let leases: Vec<_> = batch.iter().map(|conclusion| conclusion.lease).collect();
        let written = AssertUnwindSafe(self.write_down(batch)).catch_unwind().await;
        self.leases.over(&leases);
        let recorded = written.unwrap_or_else(|_| {
            tracing::error!(
                n = leases.len(),
                "writing down results panicked; their leases will end"
            );
            let lost = leases.len() as u64;
            let tally = Tally {
                lost,
                ..Tally::default()
            };
            Feedback::Recorded { tally, again: vec![] }
        });
        self.tell(recorded);
    }

    fn tell(&self, feedback: Feedback) {
        // The dispatcher is gone only when the process is going.
        let _ = self.feedback.send(feedback);
    }

    async fn write_down(&self, conclusions: Vec<Conclusion>) -> Feedback {
        let start = Instant::now();
        let recorded = conclusions
            .iter()
            .filter(|conclusion| conclusion.record.is_some());
        let steps: Vec<_> = recorded
            .filter_map(|conclusion| conclusion.attempt_step)
            .collect();
        for conclusion in &conclusions {
            self.conclude_lane(conclusion).await;
        }
        let n = conclusions.len();
        let (mut rows, mut records) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let (mut released, mut again) = (vec![], vec![]);
        for conclusion in conclusions {
            match conclusion.record {
                Some(record) => {
                    rows.push((conclusion.lane, conclusion.attempts));
                    records.push(record);
                }
                None => {
                    again.push((conclusion.lane, self.clock.now() + RELEASED));
                    released.push(conclusion.lease);
                }
            }
        }
        let mut tally = Tally {
            released: released.len() as u64,
            ..Tally::default()
        };
        if !released.is_empty() {
            self.persist("release", || self.store.release(&released)).await;
        }
        again.extend(self.record_all(&rows, records.into(), &mut tally).await);
        self.tell_steps(steps, start);
        Feedback::Recorded { tally, again }
    }

    fn tell_steps(&self, attempts: Vec<TraceContext>, start: Instant) {
        let end = Instant::now().into_std();
        for attempt in attempts {
            let Some(context) = self.tracer.child(Some(attempt)) else {
                continue;
            };
            self.tracer.tell(Span {
                name: "record",
                kind: SpanKind::Internal,
                context,
                parent: Some(attempt),
                start: start.into_std(),
                end,
                attributes: vec![],
                failed: None,
            });
        }
    }

    /// Holds, resumes or pauses the lane, before its row goes back into it.
    async fn conclude_lane(&self, conclusion: &Conclusion) {
        let lane = conclusion.lane;
        if let Some(hold) = &conclusion.hold {
            let held = self
                .persist("hold", || self.store.hold_lane(hold.clone()))
                .await
                .unwrap_or(false);
            let next_probe = hold.probe_after.map(|wait| self.clock.now() + wait);
            if held && conclusion.probe.is_none() {
                // The far end's own words are in the hold; here they might repeat what they were sent.
                let attempt = conclusion
                    .record
                    .as_ref()
                    .and_then(|record| record.attempt.as_ref());
                tracing::warn!(
                    lane.id = %lane, hold.reason = %hold.reason, code = attempt.and_then(|a| a.code.as_deref()),
                    "lane held; its notifications wait"
                );
            }
            self.tell(match conclusion.probe {
                Some(_) => Feedback::Probed {
                    lane,
                    held,
                    next_probe,
                },
                None if held => Feedback::Held { lane, next_probe },
                None => Feedback::Probed {
                    lane,
                    held: false,
                    next_probe: None,
                },
            });
        } else if let Some(Hold { reason, .. }) = conclusion.probe {
            let well = conclusion.behaviour == Behaviour::Answered;
            if well {
                let system = Actor::system();
                self.persist("resume", || self.store.resume_lane(lane, Some(reason), &system))
                    .await;
                tracing::info!(lane.id = %lane, hold.reason = %reason, "lane resumed: its probe was answered");
            }
            self.tell(Feedback::Probed {
                lane,
                held: !well,
                next_probe: None,
            });
        }
        if let Some(wait) = conclusion.pause {
            self.persist("pause", || self.store.pause_lane(lane, wait)).await;
            self.tell(Feedback::Paused {
                lane,
                until: self.clock.now() + wait,
            });
        }
    }

    /// `rows`: the lane of each, and the attempts on record before this one.
    async fn record_all(
        &self,
        rows: &[(LaneId, u32)],
        records: Arc<[AttemptRecord]>,
        tally: &mut Tally,
    ) -> Vec<(LaneId, Timestamp)> {
        let mut again = vec![];
        if records.is_empty() {
            return again;
        }
        let Some(answers) = self
            .persist("record", || self.store.record(records.clone()))
            .await
        else {
            tally.lost += records.len() as u64;
            return again;
        };
        let now = self.clock.now();
        for (((lane, attempts), record), answer) in rows.iter().zip(&*records).zip(answers) {
            if let Recorded::LostLease { completed } = answer {
                tracing::warn!(
                    notification.id = %record.id, completed,
                    "a result came after its lease had ended; what was learned was added"
                );
                tally.lost += 1;
                if completed {
                    self.changed(record, Status::Delivered, None);
                }
                continue;
            }
            let (status, code) = match &record.ended {
                Ended::Delivered { .. } => {
                    tally.delivered += 1;
                    (Status::Delivered, None)
                }
                Ended::Park { code, .. } => {
                    tally.parked += 1;
                    (Status::Parked, Some(code))
                }
                Ended::Retry { after, code, .. } => {
                    tally.retried += 1;
                    again.push((*lane, now + *after));
                    (Status::Retrying, Some(code))
                }
                // Uncounted: it stands where it stood.
                Ended::Wait { code, .. } if *attempts == 0 => {
                    tally.waiting += 1;
                    (Status::Pending, Some(code))
                }
                Ended::Wait { code, .. } => {
                    tally.waiting += 1;
                    (Status::Retrying, Some(code))
                }
            };
            self.changed(record, status, code);
        }
        again
    }

    fn changed(&self, record: &AttemptRecord, status: Status, code: Option<&String>) {
        if self.changes.is_watched() {
            self.changes.tell(Change {
                tenant: record.tenant,
                id: record.id,
                status,
                code: code.cloned(),
            });
        }
    }

    /// Calls the store until it answers. While it does not, nothing new is claimed.
    async fn persist<T, F>(&self, what: &'static str, call: impl Fn() -> F) -> Option<T>
    where
        F: Future<Output = store::Result<T>>,
    {
        let mut wait = Duration::from_millis(50);
        loop {
            match call().await {
                Ok(answer) => {
                    self.blocked.send_if_modified(std::mem::take);
                    return Some(answer);
                }
                Err(error) if error.may_pass() => {
                    if !self.blocked.send_replace(true) {
                        let error = &error as &dyn std::error::Error;
                        tracing::error!(
                            operation = what,
                            error,
                            "the store does not take results; claiming stops"
                        );
                    }
                    tokio::time::sleep(wait).await;
                    wait = slower(wait);
                }
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(
                        operation = what,
                        error,
                        "the store refused a result; its lease will end"
                    );
                    return None;
                }
            }
        }
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
