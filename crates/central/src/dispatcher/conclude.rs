//! What follows from an attempt that is over: for its row, for its recipients, for its lane. Asks nobody.

mod record;

use super::{
    StoreClock,
    attempt::{AttemptResult, Finished, Row, Sent},
    lane_history::LaneHistory,
    lanes::Behaviour,
    pauses::{self, lane_failure},
    sent::sent_to,
};
use crate::directory::LaneEntry;
use domain::{
    Actor, AttemptFacts, Failure, FailureKind, Hold, HoldReason, Jitter, LaneId, Outcome, Seq, Timestamp,
    TraceContext,
    lock::lock,
    retry::next_probe,
    settle::{Cause, Ended, RecipientUpdate, Settlement, Targets, settle},
    suppression::NewSuppression,
};
use record::{audit, record};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use store::outbox::{AttemptRecord, HoldLane, Lease, NewPause};

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
    /// Pauses narrower than the lane.
    pub pauses: Vec<NewPause>,
    /// Who wants no more.
    pub opted_out: Vec<NewSuppression>,
    /// None: give the row back uncounted.
    pub record: Option<AttemptRecord>,
    /// The attempt's step of a trace.
    pub attempt_step: Option<TraceContext>,
}

/// Draws conclusions, one attempt after the other, and remembers how each lane has been doing.
#[derive(Debug)]
pub(super) struct Judge {
    clock: Arc<StoreClock>,
    histories: Mutex<HashMap<LaneId, LaneHistory>>,
}

impl Judge {
    pub fn new(clock: Arc<StoreClock>) -> Self {
        Self {
            clock,
            histories: Mutex::default(),
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
            pauses: vec![],
            opted_out: vec![],
            record: None,
            attempt_step: row.attempt_step,
        };
        match result {
            AttemptResult::Release => {}
            AttemptResult::Concluded(ended) => {
                match &row.probe {
                    // Nobody was asked, but the lane does what it should: let it go on at full width.
                    None => conclusion.behaviour = Behaviour::Answered,
                    // A probe that asked nobody has shown nothing; the next row does.
                    Some(probe) => conclusion.hold = Some(still_held(&row, &entry, probe)),
                }
                let settlement = Settlement {
                    ended,
                    hold: None,
                    recipients: row.left_out_if_tracked(),
                };
                conclusion.record = Some(record(&row, settlement, &[], None));
            }
            AttemptResult::Postponed { until, cause } => {
                conclusion.behaviour = Behaviour::Spared;
                // A probe that asked nobody has shown nothing; the next row, which may go out now, does.
                conclusion.hold = row.probe.as_ref().map(|probe| still_held(&row, &entry, probe));
                let settlement = Settlement {
                    ended: self.postpone(&row, &entry, until, cause),
                    hold: None,
                    recipients: row.reopened.clone(),
                };
                conclusion.record = Some(record(&row, settlement, &[], None));
            }
            AttemptResult::Sent(sent) => self.conclude_sent(&mut conclusion, row, &entry, sent, took),
        }
        conclusion
    }

    /// Rows that come back at one moment come at the lane's rate.
    fn postpone(&self, row: &Row, entry: &LaneEntry, until: Timestamp, cause: Cause) -> Ended {
        let spread = self.history(row.lane, |history| {
            history.postponed(until, entry.limits.per_second)
        });
        Ended::Postpone {
            after: until.since(self.clock.now()).saturating_add(spread),
            cause,
        }
    }

    fn conclude_sent(
        &self,
        conclusion: &mut Conclusion,
        row: Row,
        entry: &LaneEntry,
        sent: Sent,
        took: Duration,
    ) {
        let failure = lane_failure(&sent.outcome).cloned();
        let says_nothing = failure.is_none() && sent.outcome.is_ours();
        let (throttles, down) = match says_nothing {
            true => (0, false),
            false => self.count(row.lane, row.lease.seq, failure.as_ref()),
        };
        let now = self.clock.now();
        let facts = AttemptFacts {
            number: row.attempts.saturating_add(1),
            unknowns: row.unknowns,
            age: now.since(row.waiting_since),
            on_ambiguous: entry.on_ambiguous,
            throttles,
        };
        let audit = audit(entry, &sent, took);
        let in_doubt = is_in_doubt(&sent.outcome);
        entry.figures.count(&sent.outcome, took);
        conclusion.pause = failure
            .as_ref()
            .and_then(|failure| entry.retry.pause(failure, throttles));
        conclusion.pauses = pauses::narrow(
            &entry.retry,
            row.attempts,
            &sent.outcome,
            &sent.targets,
            sent.template.as_deref(),
        );
        conclusion.opted_out = sent.opted_out;
        let later = sent.later.map(|(until, cause)| (until.since(now), cause));
        let aims = Targets {
            open: &sent.targets,
            later: later.as_ref(),
            known: &row.known,
            generation: row.generation,
            suppressed: row.left_out.len(),
        };
        let mut settlement = settle(&entry.retry, facts, aims, sent.outcome, Jitter::random());
        settlement.recipients.extend(row.left_out.iter().cloned());
        settlement.recipients.extend(row.reopened.iter().cloned());
        conclusion.behaviour = match &failure {
            Some(_) => Behaviour::Silent,
            None if says_nothing && !in_doubt && row.probe.is_none() => Behaviour::Refused,
            None if says_nothing => Behaviour::NotAsked,
            None => Behaviour::Answered,
        };
        // Whatever becomes of the row itself: one that parks has shown as much as one that is tried again.
        let reason = settlement.hold.or(match (&row.probe, &failure) {
            // A failed probe keeps the hold it was to end.
            (Some(probe), Some(_)) => Some(probe.reason),
            (None, Some(_)) if down => Some(HoldReason::Down),
            _ => None,
        });
        if let Some(reason) = reason {
            settlement.ended = settlement.ended.waiting();
            conclusion.hold = Some(hold(&row, entry, reason, failure.as_ref()));
        } else if let (true, Some(probe)) = (says_nothing, &row.probe) {
            conclusion.hold = Some(not_ended(&row, entry, probe, in_doubt));
        }
        let mut record = record(&row, settlement, &sent.targets, Some(audit));
        record.in_doubt |= in_doubt;
        if entry.receipts {
            record.messages = sent_to(&row, &record, &sent.targets);
        }
        let known = |update: &RecipientUpdate| sent.noted.contains(&update.address);
        record.recipients.retain(|update| !known(update));
        conclusion.record = Some(record);
    }

    /// Counts the lane's failures in a row. Answers how often it was throttled in a row before this, and whether it is to be
    /// held as down.
    fn count(&self, lane: LaneId, seq: Seq, failure: Option<&Failure>) -> (u32, bool) {
        match failure {
            None => {
                let mut histories = lock(&self.histories);
                // Nearly always there is nothing to remember.
                if histories.get_mut(&lane).is_some_and(LaneHistory::answered) {
                    histories.remove(&lane);
                }
                (0, false)
            }
            Some(failure) => self.history(lane, |history| history.failed(seq, failure)),
        }
    }

    fn history<T>(&self, lane: LaneId, see: impl FnOnce(&mut LaneHistory) -> T) -> T {
        see(lock(&self.histories).entry(lane).or_default())
    }
}

/// Whether somebody may have it who is not known to: the answer never came, or there is no rule for it.
fn is_in_doubt(outcome: &Outcome) -> bool {
    let in_doubt = |f: &Failure| matches!(f.kind, FailureKind::Ambiguous | FailureKind::Unknown);
    match outcome {
        Outcome::Delivered(_) => false,
        Outcome::Failed(failure) => in_doubt(failure),
        Outcome::Mixed(reports) => reports
            .iter()
            .filter_map(|r| r.result.as_ref().err())
            .any(in_doubt),
    }
}

fn hold(row: &Row, entry: &LaneEntry, reason: HoldReason, failure: Option<&Failure>) -> HoldLane {
    let asked = failure.and_then(|f| f.retry_after);
    HoldLane {
        lane: row.lane,
        config_version: Some(entry.version),
        reason,
        detail: failure.map(|f| f.detail.clone()),
        code: failure.map(|f| f.provider_code.as_ref().unwrap_or(&f.code).to_string()),
        probe_after: next_probe(
            reason,
            row.probe.as_ref().map_or(0, |hold| hold.probes.saturating_add(1)),
            asked,
        ),
        actor: Actor::system(),
    }
}

/// The same hold, to be probed again at once.
fn still_held(row: &Row, entry: &LaneEntry, probe: &Hold) -> HoldLane {
    HoldLane {
        lane: row.lane,
        config_version: Some(entry.version),
        reason: probe.reason,
        detail: probe.detail.clone(),
        code: probe.code.clone(),
        probe_after: Some(Duration::ZERO),
        actor: Actor::system(),
    }
}

/// The same hold, after a probe that has shown nothing. `in_doubt`: somebody may have been asked, so that it counts as one.
fn not_ended(row: &Row, entry: &LaneEntry, probe: &Hold, in_doubt: bool) -> HoldLane {
    let same = still_held(row, entry, probe);
    match in_doubt {
        false => same,
        true => HoldLane {
            probe_after: next_probe(probe.reason, probe.probes.saturating_add(1), None),
            ..same
        },
    }
}
