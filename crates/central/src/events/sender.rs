//! Schedules that wait for their time: looked at when due, every now and then, and on any event of their entity.

use super::{
    EventService, PLANNED_AT_ONCE, accepted,
    asking::Asker,
    known,
    lookup::Waits,
    plan::{Standing, Unknown, due, missing, standing},
};
use domain::{LeaseToken, Timestamp, chain, retry};
use futures_util::{StreamExt, stream};
use std::time::Duration;
use store::events::{DueSchedule, EventEnd, PublishSchedule, ScheduleEnd, SettleSchedule};

/// So long a claimed schedule is kept from the other nodes; longer than the lookups of a batch.
const SCHEDULE_LEASE: Duration = Duration::from_secs(120);

/// What becomes of one schedule.
pub(super) enum Turn {
    Publish(Box<PublishSchedule>),
    Settle(ScheduleEnd),
}

impl EventService {
    /// Works on every schedule whose turn it is. Answers with how many there were.
    pub async fn sweep_schedules(&self) -> store::Result<usize> {
        let mut done = 0;
        loop {
            let token = LeaseToken::mint();
            let limit = self.settings.batch_size;
            let due = self.store.claim_schedules(token, SCHEDULE_LEASE, limit).await?;
            let (claimed, more) = (due.rows, due.more);
            if claimed.is_empty() {
                return Ok(done);
            }
            done += claimed.len();
            let seqs: Vec<i64> = claimed.iter().map(|due| due.schedule.seq).collect();
            if let Err(error) = self.take_claimed(claimed, token).await {
                self.give_back(&seqs, token, &error).await;
                return Err(error);
            }
            if !more {
                return Ok(done);
            }
        }
    }

    async fn take_claimed(&self, claimed: Vec<DueSchedule>, token: LeaseToken) -> store::Result<()> {
        self.directory.refresh().await?;
        let now = self.queries.now().await?;
        self.take_turns(claimed, token, now).await
    }

    /// Those that the store's trouble left claimed are looked at again as soon as it has passed, not when the lease is over.
    async fn give_back(&self, seqs: &[i64], token: LeaseToken, why: &store::Error) {
        let settle = seqs.iter().map(|seq| SettleSchedule {
            seq: *seq,
            token,
            to: ScheduleEnd::Held {
                after: retry::probe_source(1),
                error: chain(why),
            },
        });
        if let Err(error) = self.store.settle_schedules(settle.collect()).await {
            tracing::debug!(
                error = &error as &dyn std::error::Error,
                "claimed schedules could not be given back; their lease ends"
            );
        }
    }

    async fn take_turns(
        &self,
        claimed: Vec<DueSchedule>,
        token: LeaseToken,
        now: Timestamp,
    ) -> store::Result<()> {
        let (mut publish, mut publishing, mut settle) = (vec![], vec![], vec![]);
        let waits = self.briefly();
        let turns = stream::iter(claimed).map(async |due| {
            let turn = self.turn(&due, token, now, waits).await;
            (due, turn)
        });
        // One after the other, slow lookups of a batch would outlast its lease.
        let turns: Vec<_> = turns.buffered(PLANNED_AT_ONCE).collect().await;
        for (due, turn) in turns {
            let seq = due.schedule.seq;
            match turn? {
                Turn::Publish(work) => {
                    publish.push(*work);
                    publishing.push(due);
                }
                Turn::Settle(to) => settle.push(SettleSchedule { seq, token, to }),
            }
        }
        if !settle.is_empty() {
            self.store.settle_schedules(settle).await?;
        }
        match self.publish_turns(publish).await {
            Ok(()) => Ok(()),
            Err(cause) => self.take_turns_alone(&publishing, token, now, cause).await,
        }
    }

    pub(super) async fn publish_turns(&self, publish: Vec<PublishSchedule>) -> store::Result<()> {
        if publish.is_empty() {
            return Ok(());
        }
        let keys: Vec<_> = publish.iter().map(|work| known(&work.notifications)).collect();
        let answers = self.store.publish_schedules(publish).await?;
        let mut taken = vec![];
        let mut lost = false;
        for (keys, answer) in keys.into_iter().zip(answers) {
            match answer {
                Some(answers) => taken.extend(accepted(keys, &answers)),
                None => lost = true,
            }
        }
        self.taken_in(taken);
        if lost {
            // Perhaps by our own commit whose answer was lost: its notifications wait.
            self.ingest.look();
        }
        Ok(())
    }

    pub(super) async fn turn(
        &self,
        due_schedule: &DueSchedule,
        token: LeaseToken,
        now: Timestamp,
        waits: Waits,
    ) -> store::Result<Turn> {
        let DueSchedule { schedule, event, .. } = due_schedule;
        let asker = Asker::claimed(due_schedule, token);
        let known = match self.know(event, asker, now, waits).await? {
            Ok(known) => known,
            Err(unknown) => return Ok(Turn::Settle(self.unknown(unknown, schedule.attempts))),
        };
        let due_at = match due(event, &known, now) {
            Ok(due_at) => due_at,
            Err(why) => return Ok(Turn::Settle(ScheduleEnd::Failed(why))),
        };
        match standing(event, &known, due_at, now) {
            Standing::Cancelled(why) => Ok(Turn::Settle(ScheduleEnd::Cancelled(why))),
            Standing::Waits => Ok(Turn::Settle(ScheduleEnd::Waits {
                due_at,
                next_look_at: due_at.min(now + self.settings.recheck),
            })),
            Standing::Due => {
                // The lookup may say less than when the event came.
                if let Some(missing) = missing(&known) {
                    return Ok(Turn::Settle(ScheduleEnd::Failed(missing)));
                }
                let messages = self.messages(event, &known, due_at, now).await?;
                Ok(Turn::Publish(Box::new(PublishSchedule {
                    seq: schedule.seq,
                    token,
                    status: messages.status(),
                    last_error: messages.failed,
                    messages: messages.listed,
                    notifications: messages.notifications,
                })))
            }
        }
    }

    pub(super) fn unknown(&self, unknown: Unknown, attempts: u32) -> ScheduleEnd {
        match unknown {
            Unknown::Failed(why) | Unknown::Deferred(why) => ScheduleEnd::Failed(why),
            // It was there when the event came.
            Unknown::Gone => ScheduleEnd::Cancelled("the entity is gone: the lookup found no row".into()),
            Unknown::Again(error) => match self.again(attempts) {
                EventEnd::Retry(after) => ScheduleEnd::Retry { after, error },
                _ => ScheduleEnd::Failed(error),
            },
            Unknown::Held(after, error) => ScheduleEnd::Held {
                after: after.max(retry::probe_source(1)),
                error,
            },
        }
    }
}
