//! Publishing one by one, after a batch could not be written.
//!
//! Always true: what the store refuses for its own value, and what fails while others get through, is the event's own
//! trouble and counts against it; where nothing gets through it is the store's, and counts against nobody. The same holds for
//! schedules.

use super::{
    EventService,
    lookup::Waits,
    materializer::{Materialized, published},
    plan::{Plan, Unknown},
    sender::Turn,
};
use domain::{EventId, EventStatus, LeaseToken, TenantId, Timestamp, chain};
use store::events::{DueSchedule, SettleEvent, SettleSchedule};

/// After so many failures at each end of a batch without a success the store itself is in trouble.
const STORE_TROUBLE: usize = 3;

/// One that could not be published by itself.
struct Failure {
    seq: i64,
    event: EventId,
    attempts: u32,
    error: store::Error,
}

/// What came of trying one by one.
#[derive(Default)]
struct Tries {
    got_through: bool,
    failed: Vec<Failure>,
}

impl Tries {
    /// Nothing got through at either end, for no reason of its own.
    fn is_store_trouble(&self) -> bool {
        let may_pass = |one: &Failure| one.error.may_pass();
        !self.got_through && self.failed.len() >= 2 * STORE_TROUBLE && self.failed.iter().all(may_pass)
    }

    /// Those that failed for their own reasons, and whether any did for the store's.
    fn own_failures(self) -> (Vec<Failure>, bool) {
        let got_through = self.got_through;
        let (own, of_store): (Vec<_>, Vec<_>) = self
            .failed
            .into_iter()
            .partition(|one| got_through || !one.error.may_pass());
        (own, !of_store.is_empty())
    }
}

/// The first few, then the last few, then all others in their order: what fails at the front says something about the store
/// only if the end fails as well.
fn order(count: usize) -> impl Iterator<Item = usize> {
    let front = count.min(STORE_TROUBLE);
    let end = count.saturating_sub(STORE_TROUBLE).max(front);
    (0..front).chain((end..count).rev()).chain(front..end)
}

impl EventService {
    /// Each event by itself, as it is now. `cause`: why it could not be done with all of them.
    pub(super) async fn publish_alone(
        &self,
        named: &[(TenantId, EventId)],
        cause: store::Error,
    ) -> store::Result<Materialized> {
        // Parts of the batch may have been committed, and nobody was told of their notifications.
        self.ingest.look();
        let mut done = Materialized::default();
        let mut tries = Tries::default();
        for (tenant, id) in order(named.len()).map(|i| named[i]) {
            let event = self.store.event(tenant, id).await?;
            let Some(event) = event.filter(|event| event.status == EventStatus::Pending) else {
                done.lost += 1;
                continue;
            };
            let (seq, attempts) = (event.seq, event.attempts);
            let now = self.queries.now().await?;
            // To the end: the answers of the batch are spent, and what waits for one would never be published beside one that cannot be.
            let plan = self.plan(&event, now, Waits::ToTheEnd).await?;
            let mut plans = [(event, plan)];
            self.call_off_overtaken(&mut plans).await?;
            let [(event, plan)] = plans;
            // Anything else than a schedule is come to by the next look.
            let Plan::Schedule(planned) = plan else { continue };
            match self.publish_some(vec![published(event, *planned)]).await {
                Ok(one) => {
                    tries.got_through = true;
                    done.add(one);
                }
                Err(error) => tries.failed.push(Failure {
                    seq,
                    event: id,
                    attempts,
                    error,
                }),
            }
            if tries.is_store_trouble() {
                break;
            }
        }
        let (own, of_store) = tries.own_failures();
        for Failure {
            seq,
            event,
            attempts,
            error,
        } in own
        {
            tracing::warn!(event.id = %event, error = &error as &dyn std::error::Error, "an event could not be published");
            let to = self.again(attempts);
            let error = chain(&error);
            let settle = SettleEvent { seq, to, error };
            self.store.settle_events(vec![settle]).await?;
            done.settled += 1;
        }
        match of_store {
            true => Err(cause),
            false => Ok(done),
        }
    }

    /// Each schedule by itself. Those of the batch that were published before it failed are found to be.
    pub(super) async fn take_turns_alone(
        &self,
        claimed: &[DueSchedule],
        token: LeaseToken,
        now: Timestamp,
        cause: store::Error,
    ) -> store::Result<()> {
        self.ingest.look();
        let mut tries = Tries::default();
        for due in order(claimed.len()).map(|i| &claimed[i]) {
            let seq = due.schedule.seq;
            let work = match self.turn(due, token, now, Waits::ToTheEnd).await? {
                Turn::Publish(work) => work,
                Turn::Settle(to) => {
                    let settle = SettleSchedule { seq, token, to };
                    self.store.settle_schedules(vec![settle]).await?;
                    continue;
                }
            };
            match self.publish_turns(vec![*work]).await {
                Ok(()) => tries.got_through = true,
                Err(error) => tries.failed.push(Failure {
                    seq,
                    event: due.schedule.event,
                    attempts: due.schedule.attempts,
                    error,
                }),
            }
            if tries.is_store_trouble() {
                break;
            }
        }
        let (own, of_store) = tries.own_failures();
        for failure in own {
            let (seq, error) = (failure.seq, failure.error);
            tracing::warn!(event.id = %failure.event, error = &error as &dyn std::error::Error, "a schedule could not be published");
            let to = self.unknown(Unknown::Again(chain(&error)), failure.attempts);
            let settle = SettleSchedule { seq, token, to };
            self.store.settle_schedules(vec![settle]).await?;
        }
        match of_store {
            true => Err(cause),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(got_through: bool, errors: Vec<store::Error>) -> Tries {
        let failed = errors.into_iter().zip(0..).map(|(error, seq)| Failure {
            seq,
            event: EventId::mint(),
            attempts: 0,
            error,
        });
        Tries {
            got_through,
            failed: failed.collect(),
        }
    }

    fn away() -> store::Error {
        store::Error::unavailable("no answer")
    }

    #[test]
    fn both_ends_of_a_batch_are_tried_before_its_middle_and_each_once() {
        assert_eq!(order(9).collect::<Vec<_>>(), [0, 1, 2, 8, 7, 6, 3, 4, 5]);
        assert_eq!(order(4).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(order(2).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(order(0).count(), 0);
    }

    #[test]
    fn what_fails_where_nothing_gets_through_is_the_stores_and_what_is_refused_never_is() {
        let six = || (0..6).map(|_| away()).collect::<Vec<_>>();
        assert!(tried(false, six()).is_store_trouble());
        assert!(
            !tried(false, six().split_off(1)).is_store_trouble(),
            "the end may go"
        );
        assert!(!tried(true, six()).is_store_trouble());
        let (own, of_store) = tried(true, six()).own_failures();
        assert_eq!((own.len(), of_store), (6, false));
        let refused = store::Error::Refused("timestamp out of range".into());
        let (own, of_store) = tried(false, vec![away(), refused, away()]).own_failures();
        assert_eq!(own.iter().map(|one| one.seq).collect::<Vec<_>>(), [1]);
        assert!(of_store);
    }
}
