//! The store under the steps of the model, in a lane of its own.

use super::{Answer, End, Step, rules::Model};
use crate::harness::*;
use domain::{
    Channel, Clock, Content, Correlation, LaneId, LeaseToken, NotificationId, Receipt, ReceiptState,
    Submission, Target, Timestamp,
};
use std::time::Duration;
use store::{
    outbox::{AttemptRecord, Cause, Claimed, Ended, LaneWant},
    receipts::{ReceiptRules, ReceiptsFrom},
};

const ANN: &str = "+919876543210";

fn text_to_ann() -> Submission {
    saying(mail(), |content| {
        *content = Content {
            channel: Some(Channel::Sms),
            target: Target::Recipients(vec![ANN.into()]),
            subject: "Tank 7 is full".into(),
            ..Content::default()
        }
    })
}

/// The store under the same steps, in a lane of its own.
pub(super) struct Real<'a> {
    t: &'a TestStore,
    lane: LaneId,
    start: Timestamp,
    ids: Vec<NotificationId>,
    claims: Vec<Claimed>,
}

impl<'a> Real<'a> {
    pub(super) fn new(t: &'a TestStore, lane: LaneId) -> Self {
        Self {
            t,
            lane,
            start: t.clock.now(),
            ids: vec![],
            claims: vec![],
        }
    }

    pub(super) async fn step(&mut self, step: &Step) -> Answer {
        let (t, store) = (self.t, &self.t.store);
        match step {
            Step::Send => {
                self.ids.push(t.accept(self.lane, text_to_ann()).await);
                Answer::Nothing
            }
            Step::Advance(seconds) => {
                t.clock.advance(Duration::from_secs(u64::from(*seconds)));
                Answer::Nothing
            }
            Step::Claim(n) => {
                let want = LaneWant {
                    lane: self.lane,
                    n: u32::from(*n),
                };
                let claims = store.claim_due(&[want], LeaseToken::mint(), LEASE).await.unwrap();
                let given = claims.rows.iter().map(|row| {
                    let i = self.ids.iter().position(|id| *id == row.id).unwrap();
                    (i, row.attempts, row.interruptions)
                });
                let answer = Answer::Claimed(given.collect());
                self.claims.extend(claims.rows);
                answer
            }
            Step::Record(claim, end) => match self.claim(*claim) {
                Some(claim) => Answer::Recorded(t.record(attempt(claim, *end)).await),
                None => Answer::Nothing,
            },
            Step::Release(claim) => {
                if let Some(claim) = self.claim(*claim) {
                    store.release(&[claim.lease]).await.unwrap();
                }
                Answer::Nothing
            }
            Step::Renew(claim) => match self.claim(*claim) {
                Some(claim) => Answer::Held(!store.renew(&[claim.lease], LEASE).await.unwrap().is_empty()),
                None => Answer::Held(false),
            },
            Step::Requeue(row) => match self.id(*row) {
                Some(id) => {
                    let acted = store.requeue(TENANT, &[(id, self.lane)], &admin()).await.unwrap();
                    Answer::Acted(acted[0])
                }
                None => Answer::Nothing,
            },
            Step::Discard(row) => match self.id(*row) {
                Some(id) => Answer::Acted(store.discard(TENANT, &[id], &admin()).await.unwrap()[0]),
                None => Answer::Nothing,
            },
            Step::Cancel(row) => match self.id(*row) {
                Some(id) => Answer::Acted(store.cancel(TENANT, id, &admin()).await.unwrap()),
                None => Answer::Nothing,
            },
            Step::Tell(row, before, state) => {
                self.tell(*row, *before, *state).await;
                Answer::Nothing
            }
        }
    }

    /// Keeps the receipt, and works on all that are due.
    async fn tell(&self, row: usize, before: u8, state: ReceiptState) {
        let Some(id) = self.id(row) else { return };
        let generation = self.t.get(id).await.generation - i32::from(before);
        if generation >= 0 {
            let receipt = Receipt {
                correlation: Some(Correlation {
                    id,
                    generation,
                    recipient: Some(ANN.into()),
                }),
                ..Receipt::new(state)
            };
            let from = ReceiptsFrom {
                tenant: TENANT,
                lane: self.lane,
            };
            self.t.store.keep_receipts(from, vec![receipt]).await.unwrap();
        }
        self.t
            .store
            .work_on_receipts(10_000, &ReceiptRules::default())
            .await
            .unwrap();
    }

    fn claim(&self, n: usize) -> Option<&Claimed> {
        n.checked_rem(self.claims.len()).map(|n| &self.claims[n])
    }

    fn id(&self, n: usize) -> Option<NotificationId> {
        n.checked_rem(self.ids.len()).map(|n| self.ids[n])
    }

    pub(super) async fn agrees_with(&self, model: &Model) {
        for (id, row) in self.ids.iter().zip(&model.rows) {
            let real = self.t.get(*id).await;
            assert_eq!(real.status, row.status, "{row:?}");
            assert_eq!(
                (real.retry_count, real.generation),
                (row.attempts, row.generation),
                "{row:?}"
            );
            let shown = row.shown.map(|state| state.to_string());
            assert_eq!(real.receipt, shown, "{row:?}");
            let due = row.waits().then(|| self.start + Duration::from_secs(row.next()));
            assert_eq!(real.next_attempt_at, due, "{row:?}");
            let log = self.t.store.attempts(TENANT, *id).await.unwrap().unwrap();
            let attempts = log
                .iter()
                .filter(|entry| entry.detail.as_deref() == Some("250 ok"));
            let attempts = attempts.filter(|entry| entry.status == domain::AuditStatus::Attempted);
            assert_eq!(
                attempts.count(),
                row.on_record,
                "each result is on record once: {row:?}"
            );
        }
        assert_eq!(self.t.clock.now(), self.start + Duration::from_secs(model.now));
    }
}

fn attempt(claim: &Claimed, end: End) -> AttemptRecord {
    match end {
        End::Delivered => delivered(claim),
        End::Retry(after) => retry(claim, Duration::from_secs(u64::from(after))),
        End::Wait => wait(claim),
        End::Park => park(claim),
        End::Suppress => AttemptRecord {
            ended: Ended::Discard {
                cause: Cause::new("SUPPRESSED", "nobody is left who may be written to"),
            },
            ..park(claim)
        },
    }
}
