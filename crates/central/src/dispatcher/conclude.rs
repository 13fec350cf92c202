//! What follows from an attempt that is over: for its row, for its recipients, for its lane. Asks nobody.

use super::{
    StoreClock,
    attempt::{AttemptResult, Finished, Row},
    lanes::Behaviour,
    sent::sent_to,
};
use crate::directory::LaneEntry;
use domain::{
    Actor, AttemptFacts, Failure, FailureKind, Hold, HoldReason, Jitter, LaneId, Outcome, RecipientState,
    Seq, TraceContext,
    lock::lock,
    retry::{DOWN_AFTER_FAILURES, DOWN_AFTER_ROWS, lane_pause, next_probe},
    settle::{Ended, RecipientUpdate, Settlement, Targets, settle},
};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex},
    time::Duration,
};
use store::outbox::{AttemptAudit, AttemptRecord, HoldLane, Lease};

/// Failures of the far end in a row, and over how many rows.
#[derive(Debug, Default)]
struct Streak {
    failures: u32,
    rows: BTreeSet<Seq>,
}

impl Streak {
    fn is_down(&self) -> bool {
        self.failures >= DOWN_AFTER_FAILURES && self.rows.len() >= DOWN_AFTER_ROWS
    }
}

/// One finished attempt, with everything that follows from it.
pub(super) struct Conclusion {
    pub lease: Lease,
    pub lane: LaneId,
    /// On record before this one.
    pub attempts: u32,
    pub behaviour: Behaviour,
    pub probe: Option<Hold>,
    pub hold: Option<HoldLane>,
    pub pause: Option<Duration>,
    /// None: give the row back uncounted.
    pub record: Option<AttemptRecord>,
    /// The attempt's step of a trace.
    pub attempt_step: Option<TraceContext>,
}

/// Draws conclusions, one attempt after the other, and remembers how each lane has been doing.
#[derive(Debug)]
pub(super) struct Judge {
    clock: Arc<StoreClock>,
    streaks: Mutex<HashMap<LaneId, Streak>>,
}

impl Judge {
    pub fn new(clock: Arc<StoreClock>) -> Self {
        Self {
            clock,
            streaks: Mutex::default(),
        }
    }

    pub fn conclude(&self, finished: Finished) -> Conclusion {
        let Finished {
            row,
            entry,
            result,
            took,
        } = finished;
        let mut conclusion = Conclusion {
            lease: row.lease,
            lane: row.lane,
            attempts: row.attempts,
            behaviour: Behaviour::NotAsked,
            probe: row.probe.clone(),
            hold: None,
            pause: None,
            record: None,
            attempt_step: row.attempt_step,
        };
        match result {
            AttemptResult::Release => {}
            AttemptResult::Concluded(ended) => {
                // Nobody was asked, but the lane does what it should: let it go on at full width.
                conclusion.behaviour = Behaviour::Answered;
                let settlement = Settlement {
                    ended,
                    hold: None,
                    recipients: row.left_out_if_tracked(),
                };
                conclusion.record = Some(record(&row, settlement, &[], None));
            }
            AttemptResult::Sent { targets, outcome } => {
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
            number: row.attempts.saturating_add(1),
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
            suppressed: row.left_out.len(),
        };
        let mut settlement = settle(&entry.retry, facts, aims, outcome, Jitter::random());
        settlement.recipients.extend(row.left_out.iter().cloned());
        conclusion.behaviour = if failure.is_some() {
            Behaviour::Silent
        } else {
            Behaviour::Answered
        };
        conclusion.pause = failure.as_ref().and_then(lane_pause);
        let down = self.count(row.lane, row.lease.seq, failure.as_ref());
        let reason = settlement.hold.or(match (&settlement.ended, &failure) {
            // A failed probe keeps the hold it was to end.
            (Ended::Retry { .. }, Some(_)) if row.probe.is_some() => {
                row.probe.as_ref().map(|hold| hold.reason)
            }
            (Ended::Retry { .. }, Some(_)) if down => Some(HoldReason::Down),
            _ => None,
        });
        if let Some(reason) = reason {
            settlement.ended = settlement.ended.waiting();
            conclusion.hold = Some(hold(&row, entry, reason, failure.as_ref()));
        }
        let mut record = record(&row, settlement, &targets, Some(audit));
        if entry.receipts {
            record.messages = sent_to(&row, &record, &targets);
        }
        conclusion.record = Some(record);
    }

    /// Counts the lane's failures in a row. Answers whether it is to be held as down.
    fn count(&self, lane: LaneId, seq: Seq, failure: Option<&Failure>) -> bool {
        let mut streaks = lock(&self.streaks);
        if failure.is_none() {
            streaks.remove(&lane);
            return false;
        }
        let streak = streaks.entry(lane).or_default();
        streak.failures = streak.failures.saturating_add(1);
        streak.rows.insert(seq);
        let down = streak.is_down();
        if down {
            streaks.remove(&lane);
        }
        down
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

fn hold(row: &Row, entry: &LaneEntry, reason: HoldReason, failure: Option<&Failure>) -> HoldLane {
    let asked = failure.and_then(|f| f.retry_after);
    HoldLane {
        lane: row.lane,
        config_version: Some(entry.version),
        reason,
        detail: failure.map(|f| f.detail.clone()),
        probe_after: next_probe(
            reason,
            row.probe.as_ref().map_or(0, |hold| hold.probes.saturating_add(1)),
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
    let Settlement {
        ended, recipients, ..
    } = settlement;
    let resolved_targets = match ended {
        Ended::Delivered { .. } => reached(row, &recipients, targets, true),
        Ended::Park { .. } | Ended::Discard { .. } => reached(row, &recipients, targets, false),
        Ended::Retry { .. } | Ended::Wait { .. } => vec![],
    };
    AttemptRecord {
        lease: row.lease,
        tenant: row.tenant,
        id: row.id,
        ended: shortened(ended),
        resolved_targets,
        recipients,
        messages: vec![],
        attempt,
        after_interruption: row.interruptions > 0,
    }
}

/// With an error of the length that is kept.
fn shortened(mut ended: Ended) -> Ended {
    if let Ended::Retry { cause, .. }
    | Ended::Wait { cause }
    | Ended::Park { cause }
    | Ended::Discard { cause } = &mut ended
    {
        cause.error = cut(std::mem::take(&mut cause.error));
    }
    ended
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
    let (failure, detail) = match outcome {
        Outcome::Delivered(accepted) => (None, accepted.detail.clone()),
        Outcome::Failed(failure) => (Some(failure), Some(failure.detail.clone())),
        Outcome::Mixed(reports) => {
            let failed: Vec<_> = reports.iter().filter_map(|r| r.result.as_ref().err()).collect();
            let first = failed.first().map_or("", |f| f.detail.as_str());
            let text = format!(
                "{} accepted, {} failed: {first}",
                reports.len() - failed.len(),
                failed.len()
            );
            (failed.first().copied(), Some(text))
        }
    };
    AttemptAudit {
        target: entry
            .provider
            .as_ref()
            .map_or_else(String::new, ToString::to_string),
        duration_ms: u32::try_from(took.as_millis()).unwrap_or(u32::MAX),
        code: failure.map(|failure| failure.code.to_string()),
        provider_code: failure.and_then(|failure| failure.provider_code.as_ref().map(ToString::to_string)),
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
    // By kind and not by provider: everybody who can reach `/metrics` reads them, and tenants make providers as they like.
    let kind = metrics::SharedString::from_shared(entry.kind.clone());
    metrics::counter!("waypost_attempts_total", "result" => result, "kind" => kind).increment(1);
    metrics::histogram!("waypost_attempt_seconds", "result" => result).record(took.as_secs_f64());
}
