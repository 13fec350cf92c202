//! A fault of this program itself, on one message: it costs that attempt alone.

use super::{Tally, attempt::Finished, conclude::Conclusion, lanes::Behaviour, recorder::Feedback};
use domain::settle::{Cause, Ended};
use futures_util::FutureExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use store::outbox::AttemptRecord;

/// Where a row goes on which waypost itself failed: where a person sees it. Trying it again would fail again, perhaps
/// each time after it went out.
pub(super) fn internal_fault() -> Ended {
    Ended::Park {
        cause: Cause::new(
            "INTERNAL",
            "waypost itself failed on this message; it may have gone out. The cause is in the server's log",
        ),
    }
}

/// What `judge` concludes; if it panics, the row is parked and its place is freed.
pub(super) fn or_park(finished: Finished, judge: impl FnOnce(Finished) -> Conclusion) -> Conclusion {
    let row = &finished.row;
    let (lease, lane, probe) = (row.lease, row.lane, row.probe.clone());
    let (attempts, attempt_step) = (row.attempts, row.attempt_step);
    let (tenant, id, after_interruption) = (row.tenant, row.id, row.interruptions > 0);
    catch_unwind(AssertUnwindSafe(|| judge(finished))).unwrap_or_else(|_| {
        tracing::error!(notification.id = %id, "concluding an attempt panicked; it is parked, the others go on");
        Conclusion {
            lease,
            lane,
            attempts,
            behaviour: Behaviour::NotAsked,
            probe,
            hold: None,
            pause: None,
            pauses: vec![],
            opted_out: vec![],
            attempt_step,
            record: Some(AttemptRecord {
                lease,
                tenant,
                id,
                ended: internal_fault(),
                resolved_targets: vec![],
                recipients: vec![],
                messages: vec![],
                attempt: None,
                after_interruption,
                in_doubt: true,
            }),
        }
    })
}

/// What writing down so many rows came to; if it panics, all of them count as lost, so that nobody waits for them.
pub(super) async fn or_lost(rows: usize, write_down: impl Future<Output = Feedback>) -> Feedback {
    let written = AssertUnwindSafe(write_down).catch_unwind().await;
    written.unwrap_or_else(|_| {
        tracing::error!(n = rows, "writing down results panicked; their leases will end");
        let tally = Tally {
            lost: rows as u64,
            ..Tally::default()
        };
        Feedback::Recorded { tally, again: vec![] }
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::{super::attempt::AttemptResult, super::attempt::Row, *};
    use crate::directory::{AttemptFigures, LaneAdapter, LaneEntry};
    use domain::{
        LaneId, LeaseToken, Limits, NotificationId, OnAmbiguous, RetryPolicy, Seq, TenantId, Timestamp,
    };
    use std::{sync::Arc, time::Duration};
    use store::outbox::Lease;

    pub(in crate::dispatcher) fn finished() -> Finished {
        Finished {
            row: Row {
                lease: Lease {
                    seq: Seq(7),
                    token: LeaseToken::mint(),
                },
                tenant: TenantId::DEFAULT,
                id: NotificationId::mint(),
                lane: LaneId(3),
                generation: 0,
                superseded: false,
                attempts: 0,
                unknowns: 0,
                interruptions: 0,
                waiting_since: Timestamp::EPOCH,
                known: vec![],
                left_out: vec![],
                reopened: vec![],
                unsubscribe: None,
                probe: None,
                claim_step: None,
                attempt_step: None,
            },
            entry: Arc::new(LaneEntry {
                tenant: TenantId::DEFAULT,
                provider: None,
                figures: AttemptFigures::of("none"),
                version: 1,
                adapter: LaneAdapter::Gone,
                retry: RetryPolicy::default(),
                limits: Limits::default(),
                on_ambiguous: OnAmbiguous::default(),
                receipts: false,
                opt_outs: &[],
            }),
            result: AttemptResult::Release,
            took: Duration::ZERO,
        }
    }

    #[test]
    fn an_attempt_whose_conclusion_panics_is_parked_and_its_place_is_free() {
        let finished = finished();
        let (lease, id) = (finished.row.lease, finished.row.id);
        let conclusion = or_park(finished, |_| panic!("on purpose"));
        assert_eq!((conclusion.lease, conclusion.lane), (lease, LaneId(3)));
        let record = conclusion.record.unwrap();
        assert_eq!(record.id, id);
        let Ended::Park { cause } = record.ended else {
            panic!("not parked: {:?}", record.ended)
        };
        assert_eq!(cause.code, "INTERNAL");
    }

    #[tokio::test]
    async fn results_whose_writing_down_panics_are_counted_as_lost_so_that_nobody_waits_for_them() {
        let told = or_lost(3, async { panic!("on purpose") }).await;
        let Feedback::Recorded { tally, again } = told else {
            panic!("not recorded")
        };
        assert_eq!((tally.lost, tally.rows()), (3, 3));
        assert!(again.is_empty());
    }
}
