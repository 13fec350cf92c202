//! Writes down what attempts came to, many in one commit, and draws the lane's conclusions.
//!
//! Always true: a lane is held before the row that showed why goes back into it; what was learned is kept and
//! tried again for as long as the store is away, and nothing new is claimed meanwhile.

use super::{
    attempt::{Finished, Over, Row},
    lanes::Behaviour,
    leases::Leases,
};
use crate::{
    changes::{Change, Changes},
    directory::LaneEntry,
};
use domain::{
    Actor, AttemptFacts, Failure, FailureKind, Hold, HoldReason, Jitter, LaneId, Outcome, RecipientState,
    Seq, Status, Timestamp,
    retry::{DOWN_AFTER_FAILURES, DOWN_AFTER_ROWS, lane_pause, next_probe, slower},
    settle::{RecipientUpdate, Settlement, Step, Targets, settle},
};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use store::{
    Store,
    outbox::{AttemptAudit, AttemptRecord, Ended, HoldLane, Lease, Recorded},
};
use tokio::sync::{Mutex as AsyncMutex, mpsc, watch};

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

/// What a number of rows came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub delivered: u64,
    pub retried: u64,
    pub parked: u64,
    /// Went back into a lane that is held.
    pub waiting: u64,
    pub released: u64,
    /// Somebody else had the row by then.
    pub lost: u64,
}

impl Tally {
    pub fn rows(&self) -> u64 {
        self.delivered + self.retried + self.parked + self.waiting + self.released + self.lost
    }

    pub fn add(&mut self, other: &Tally) {
        self.delivered += other.delivered;
        self.retried += other.retried;
        self.parked += other.parked;
        self.waiting += other.waiting;
        self.released += other.released;
        self.lost += other.lost;
    }
}

/// The most rows one commit records.
const BATCH: usize = 1000;

pub(super) struct Recorder {
    pub store: Arc<dyn Store>,
    pub clock: Arc<super::StoreClock>,
    pub changes: Changes,
    pub leases: Arc<Leases>,
    pub feedback: mpsc::UnboundedSender<Feedback>,
    /// True while the store does not take results.
    pub blocked: watch::Sender<bool>,
    pub streaks: Mutex<HashMap<LaneId, Streak>>,
}

/// Failures of the far end in a row, and over how many rows.
#[derive(Debug, Default)]
pub(super) struct Streak {
    failures: u32,
    rows: BTreeSet<Seq>,
}

impl Streak {
    fn is_down(&self) -> bool {
        self.failures >= DOWN_AFTER_FAILURES && self.rows.len() >= DOWN_AFTER_ROWS
    }
}

/// One finished attempt, with everything that follows from it.
struct Conclusion {
    lease: Lease,
    lane: LaneId,
    behaviour: Behaviour,
    probe: Option<Hold>,
    hold: Option<HoldLane>,
    pause: Option<Duration>,
    /// None: give the row back uncounted.
    record: Option<AttemptRecord>,
}

impl Recorder {
    /// Records until the senders are gone. Several may run over one channel: while one commits, the next gathers.
    pub async fn run(self: Arc<Self>, finished: Arc<AsyncMutex<mpsc::UnboundedReceiver<Finished>>>) {
        let mut batch = Vec::with_capacity(BATCH);
        loop {
            if finished.lock().await.recv_many(&mut batch, BATCH).await == 0 {
                return;
            }
            let conclusions: Vec<_> = batch.drain(..).map(|f| self.conclude(f)).collect();
            self.tell(Feedback::Over(
                conclusions.iter().map(|c| (c.lane, c.behaviour)).collect(),
            ));
            self.write_down(conclusions).await;
        }
    }

    fn tell(&self, feedback: Feedback) {
        // The dispatcher is gone only when the process is going.
        let _ = self.feedback.send(feedback);
    }

    fn conclude(&self, finished: Finished) -> Conclusion {
        let Finished {
            row,
            entry,
            result,
            took,
        } = finished;
        let mut conclusion = Conclusion {
            lease: row.lease,
            lane: row.lane,
            behaviour: Behaviour::NotAsked,
            probe: row.probe.clone(),
            hold: None,
            pause: None,
            record: None,
        };
        match result {
            Over::Release => {}
            Over::Concluded(step) => {
                // Nobody was asked, but the lane does what it should: let it go on at full width.
                conclusion.behaviour = Behaviour::Answered;
                let settlement = Settlement {
                    step,
                    recipients: vec![],
                };
                conclusion.record = Some(record(&row, settlement, &[], None));
            }
            Over::Sent { targets, outcome } => {
                self.conclude_sent(&mut conclusion, row, &entry, targets, outcome, took)
            }
        }
        conclusion
    }

    fn conclude_sent(
        &self,
        conclusion: &mut Conclusion,
        row: Row,
        entry: &LaneEntry,
        targets: Vec<String>,
        outcome: Outcome,
        took: Duration,
    ) {
        let facts = AttemptFacts {
            number: row.attempts + 1,
            unknowns: row.unknowns,
            age: self.clock.now().since(row.waiting_since),
            on_ambiguous: entry.on_ambiguous,
        };
        let failure = lane_failure(&outcome).cloned();
        let audit = audit(entry, &outcome, took);
        count_attempt(&outcome, entry, took);
        let aims = Targets {
            open: &targets,
            known: &row.known,
            generation: row.generation,
        };
        let mut settlement = settle(&entry.retry, facts, aims, outcome, Jitter::random());
        conclusion.behaviour = if failure.is_some() {
            Behaviour::Silent
        } else {
            Behaviour::Answered
        };
        conclusion.pause = failure.as_ref().and_then(lane_pause);
        let down = self.count(row.lane, row.lease.seq, failure.as_ref());
        let reason = match (&settlement.step, &failure) {
            (Step::Wait { reason, .. }, _) => Some(*reason),
            // A failed probe keeps the hold it was to end.
            (Step::Retry { .. }, Some(_)) if row.probe.is_some() => {
                row.probe.as_ref().map(|hold| hold.reason)
            }
            (Step::Retry { .. }, Some(_)) if down => Some(HoldReason::Down),
            _ => None,
        };
        if let Some(reason) = reason {
            settlement.step = wait(settlement.step, reason);
            conclusion.hold = Some(hold(&row, entry, reason, failure.as_ref()));
        }
        conclusion.record = Some(record(&row, settlement, &targets, Some(audit)));
    }

    /// Counts the lane's failures in a row. Answers whether it is to be held as down.
    fn count(&self, lane: LaneId, seq: Seq, failure: Option<&Failure>) -> bool {
        let mut streaks = self.streaks.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_none() {
            streaks.remove(&lane);
            return false;
        }
        let streak = streaks.entry(lane).or_default();
        streak.failures += 1;
        streak.rows.insert(seq);
        let down = streak.is_down();
        if down {
            streaks.remove(&lane);
        }
        down
    }

    async fn write_down(&self, conclusions: Vec<Conclusion>) {
        for conclusion in &conclusions {
            self.conclude_lane(conclusion).await;
        }
        let (mut records, mut released, mut all) = (vec![], vec![], Vec::with_capacity(conclusions.len()));
        for conclusion in conclusions {
            all.push(conclusion.lease);
            match conclusion.record {
                Some(record) => records.push((conclusion.lane, record)),
                None => released.push(conclusion.lease),
            }
        }
        let mut tally = Tally {
            released: released.len() as u64,
            ..Tally::default()
        };
        if !released.is_empty() {
            self.persist("release", || self.store.release(&released)).await;
        }
        let again = self.record_all(records, &mut tally).await;
        self.leases.over(&all);
        self.tell(Feedback::Recorded { tally, again });
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
                tracing::warn!(
                    lane.id = %lane, hold.reason = %hold.reason, hold.detail = hold.detail,
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

    async fn record_all(
        &self,
        records: Vec<(LaneId, AttemptRecord)>,
        tally: &mut Tally,
    ) -> Vec<(LaneId, Timestamp)> {
        let mut again = vec![];
        if records.is_empty() {
            return again;
        }
        let batch: Vec<_> = records.iter().map(|(_, record)| record.clone()).collect();
        let Some(answers) = self.persist("record", || self.store.record(batch.clone())).await else {
            tally.lost += records.len() as u64;
            return again;
        };
        let now = self.clock.now();
        for ((lane, record), answer) in records.into_iter().zip(answers) {
            if let Recorded::LostLease { completed } = answer {
                tracing::warn!(
                    notification.id = %record.id, completed,
                    "a result came after its lease had ended; what was learned was added"
                );
                tally.lost += 1;
                continue;
            }
            let (status, code) = match record.ended {
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
                    again.push((lane, now + after));
                    (Status::Retrying, Some(code))
                }
                Ended::Wait { code, .. } => {
                    tally.waiting += 1;
                    (Status::Retrying, Some(code))
                }
            };
            if self.changes.is_watched() {
                self.changes.tell(Change {
                    tenant: record.tenant,
                    id: record.id,
                    status,
                    code,
                });
            }
        }
        again
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

/// The failure that says something about the far end as a whole, if there is one.
fn lane_failure(outcome: &Outcome) -> Option<&Failure> {
    let about_lane = |f: &&Failure| f.is_lane_down() || f.hold.is_some();
    match outcome {
        Outcome::Delivered(_) => None,
        Outcome::Failed(failure) => Some(failure).filter(about_lane),
        Outcome::Mixed(reports) => reports
            .iter()
            .filter_map(|r| r.result.as_ref().err())
            .find(about_lane),
    }
}

fn wait(step: Step, reason: HoldReason) -> Step {
    match step {
        Step::Retry { code, error, .. } => Step::Wait {
            reason,
            retry_after: None,
            code,
            error,
        },
        other => other,
    }
}

fn hold(row: &Row, entry: &LaneEntry, reason: HoldReason, failure: Option<&Failure>) -> HoldLane {
    let asked = failure.and_then(|f| f.retry_after);
    HoldLane {
        lane: row.lane,
        config_version: Some(entry.version),
        reason,
        detail: failure.map(|f| f.detail.clone()),
        probe_after: next_probe(
            reason,
            row.probe.as_ref().map_or(0, |hold| hold.probes + 1),
            asked,
        ),
        actor: Actor::system(),
    }
}

fn record(
    row: &Row,
    settlement: Settlement,
    targets: &[String],
    attempt: Option<AttemptAudit>,
) -> AttemptRecord {
    let Settlement { step, recipients } = settlement;
    let ended = match step {
        Step::Delivered {
            provider_message_id, ..
        } => Ended::Delivered {
            provider_message_id,
            resolved_targets: reached(row, &recipients, targets, true),
        },
        Step::Retry {
            after,
            unknown,
            code,
            error,
        } => Ended::Retry {
            after,
            unknown,
            code,
            error: cut(error),
        },
        Step::Wait { code, error, .. } => Ended::Wait {
            code,
            error: cut(error),
        },
        Step::Park { code, error } => Ended::Park {
            code,
            error: cut(error),
            resolved_targets: reached(row, &recipients, targets, false),
        },
    };
    AttemptRecord {
        lease: row.lease,
        tenant: row.tenant,
        id: row.id,
        ended,
        recipients,
        attempt,
        after_interruption: row.interruptions > 0,
    }
}

/// Who has it: everybody who accepted, now or earlier.
fn reached(row: &Row, updates: &[RecipientUpdate], targets: &[String], delivered: bool) -> Vec<String> {
    let mut reached: Vec<String> = row
        .known
        .iter()
        .filter(|r| r.state == RecipientState::Accepted)
        .map(|r| r.address.clone())
        .collect();
    if updates.is_empty() && delivered {
        reached.extend(targets.iter().cloned());
    }
    reached.extend(
        updates
            .iter()
            .filter(|u| u.state == RecipientState::Accepted)
            .map(|u| u.address.clone()),
    );
    reached
}

fn cut(text: String) -> String {
    match text.char_indices().nth(domain::submission::limit::ERROR) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

fn audit(entry: &LaneEntry, outcome: &Outcome, took: Duration) -> AttemptAudit {
    let (code, detail) = match outcome {
        Outcome::Delivered(accepted) => (None, accepted.detail.clone()),
        Outcome::Failed(failure) => (Some(failure.code.to_string()), Some(failure.detail.clone())),
        Outcome::Mixed(reports) => {
            let failed: Vec<_> = reports.iter().filter_map(|r| r.result.as_ref().err()).collect();
            let first = failed.first().map_or("", |f| f.detail.as_str());
            let text = format!(
                "{} accepted, {} failed: {first}",
                reports.len() - failed.len(),
                failed.len()
            );
            (failed.first().map(|f| f.code.to_string()), Some(text))
        }
    };
    AttemptAudit {
        target: entry
            .provider
            .as_ref()
            .map_or_else(String::new, ToString::to_string),
        duration_ms: u32::try_from(took.as_millis()).unwrap_or(u32::MAX),
        code,
        detail: detail.map(cut),
    }
}

fn count_attempt(outcome: &Outcome, entry: &LaneEntry, took: Duration) {
    let result = match outcome {
        Outcome::Delivered(_) => "delivered",
        Outcome::Mixed(_) => "mixed",
        Outcome::Failed(failure) => match failure.kind {
            FailureKind::Transient => "transient",
            FailureKind::Permanent => "permanent",
            FailureKind::Unknown => "unknown",
            FailureKind::Ambiguous => "ambiguous",
        },
    };
    let provider = entry
        .provider
        .as_ref()
        .map_or_else(String::new, ToString::to_string);
    metrics::counter!("waypost_attempts_total", "result" => result, "provider" => provider).increment(1);
    metrics::histogram!("waypost_attempt_seconds", "result" => result).record(took.as_secs_f64());
}
