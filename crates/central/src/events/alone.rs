//! Publishing one by one, after a batch could not be written.
//!
//! Always true: what fails while others get through is the event's own trouble and counts against it; where nothing gets
//! through it is the store's, and counts against nobody. The same holds for schedules.

use super::{
    EventService,
    materializer::{Materialized, published},
    plan::{Plan, Unknown},
    sender::Turn,
};
use domain::{EventId, EventStatus, LeaseToken, TenantId, Timestamp, chain};
use store::events::{DueSchedule, SettleEvent, SettleSchedule};

/// After so many failures without a success the store itself is in trouble.
const STORE_TROUBLE: usize = 3;

impl EventService {
    /// Each event by itself, as it is now. `cause`: why it could not be done with all of them.
    pub(super) async fn publish_alone(
        &self,
        named: &[(TenantId, EventId)],
        cause: store::Error,
    ) -> store::Result<Materialized> {
        let mut done = Materialized::default();
        let mut failed = vec![];
        for (tenant, id) in named {
            let event = self.store.event(*tenant, *id).await?;
            let Some(event) = event.filter(|event| event.status == EventStatus::Pending) else {
                done.lost += 1;
                continue;
            };
            let (seq, attempts) = (event.seq, event.attempts);
            let now = self.queries.now().await?;
            let plan = self.plan(&event, now).await?;
            let mut plans = [(event, plan)];
            self.call_off_overtaken(&mut plans).await?;
            let [(event, plan)] = plans;
            // Anything else than a schedule is come to by the next look.
            let Plan::Schedule(planned) = plan else { continue };
            match self.publish_some(vec![published(event, *planned)]).await {
                Ok(one) => done.add(one),
                Err(error) => failed.push((seq, *id, attempts, error)),
            }
            if done.published == 0 && failed.len() >= STORE_TROUBLE {
                break;
            }
        }
        let of_the_store = failed.iter().all(|(.., error)| error.may_pass());
        if !failed.is_empty() && done.published == 0 && of_the_store {
            return Err(cause);
        }
        for (seq, id, attempts, error) in failed {
            tracing::warn!(event.id = %id, error = &error as &dyn std::error::Error, "an event could not be published");
            let to = self.again(attempts);
            let error = chain(&error);
            let settle = SettleEvent { seq, to, error };
            self.store.settle_events(vec![settle]).await?;
            done.settled += 1;
        }
        Ok(done)
    }

    /// Each schedule by itself. Those of the batch that were published before it failed are found to be.
    pub(super) async fn take_turns_alone(
        &self,
        claimed: &[DueSchedule],
        token: LeaseToken,
        now: Timestamp,
        cause: store::Error,
    ) -> store::Result<()> {
        let (mut published, mut failed) = (0_usize, vec![]);
        for due in claimed {
            let Turn::Publish(work) = self.turn(due, token, now).await? else {
                continue;
            };
            match self.publish_turns(vec![*work]).await {
                Ok(()) => published += 1,
                Err(error) => failed.push((&due.schedule, error)),
            }
            if published == 0 && failed.len() >= STORE_TROUBLE {
                break;
            }
        }
        let of_the_store = failed.iter().all(|(_, error)| error.may_pass());
        if !failed.is_empty() && published == 0 && of_the_store {
            return Err(cause);
        }
        for (schedule, error) in failed {
            tracing::warn!(event.id = %schedule.event, error = &error as &dyn std::error::Error, "a schedule could not be published");
            let to = self.unknown(Unknown::Again(chain(&error)), schedule.attempts);
            let seq = schedule.seq;
            let settle = SettleSchedule { seq, token, to };
            self.store.settle_schedules(vec![settle]).await?;
        }
        Ok(())
    }
}
