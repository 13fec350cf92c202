//! Writing conclusions down: released rows, then records, then the news of both.

use super::{Feedback, Recorder};
use crate::{
    changes::Change,
    dispatcher::{Tally, claim::RELEASED_LANE_WAIT, conclude::Conclusion},
};
use domain::{
    LaneId, Status, Timestamp, TraceContext,
    retry::slower,
    settle::SUPERSEDED,
    trace::{Span, SpanKind},
};
use std::{sync::Arc, time::Duration};
use store::outbox::{AttemptRecord, Ended, Recorded};
use tokio::time::Instant;

impl Recorder {
    pub(super) async fn write_down(&self, conclusions: Vec<Conclusion>) -> Feedback {
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
                    again.push((conclusion.lane, self.clock.now() + RELEASED_LANE_WAIT));
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
            if answer == Recorded::Superseded {
                tally.discarded += 1;
                self.changed(record, Status::Discarded, Some(&SUPERSEDED.to_owned()));
                continue;
            }
            let (status, cause) = match &record.ended {
                Ended::Delivered { .. } => {
                    tally.delivered += 1;
                    (Status::Delivered, None)
                }
                Ended::Park { cause } => {
                    tally.parked += 1;
                    (Status::Parked, Some(cause))
                }
                Ended::Discard { cause } => {
                    tally.discarded += 1;
                    (Status::Discarded, Some(cause))
                }
                Ended::Retry { after, cause, .. } => {
                    tally.retried += 1;
                    again.push((*lane, now + *after));
                    (Status::Retrying, Some(cause))
                }
                Ended::Postpone { after, cause } => {
                    tally.postponed += 1;
                    again.push((*lane, now + *after));
                    (stood(*attempts), Some(cause))
                }
                // Uncounted: it stands where it stood.
                Ended::Wait { cause } => {
                    tally.waiting += 1;
                    (stood(*attempts), Some(cause))
                }
            };
            self.changed(record, status, cause.map(|cause| &cause.code));
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
    pub(super) async fn persist<T, F>(&self, what: &'static str, call: impl Fn() -> F) -> Option<T>
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

/// The status of a row that waits, with so many attempts behind it.
fn stood(attempts: u32) -> Status {
    match attempts {
        0 => Status::Pending,
        _ => Status::Retrying,
    }
}
