//! Reads the outbox and publishes what is due.
//!
//! Always true: there is no high-water mark ([`super::looks`]). One event that fails never keeps the rest.

use super::{
    EventService, PLANNED_AT_ONCE, accepted, known,
    looks::{Look, Looks},
    plan::Plan,
    reader::{Reader, Reads},
};
use domain::{chain, retry};
use futures_util::{StreamExt, TryStreamExt, stream};
use std::time::{Duration, Instant};
use store::{
    events::{
        CancelSchedules, Event, EventEnd, EventPlace, EventsDue, NewSchedule, PublishEvent, SettleEvent,
    },
    loops::{Swept, Work},
};
use tokio_util::task::AbortOnDropHandle;

/// What the outbox of the store itself is called where one node reads it.
const OWN_OUTBOX: &str = "own";
/// A sweep ends after so many batches, so that it is seen what it does.
const BATCHES_PER_SWEEP: usize = 200;

/// In a backlog so many batches are published in one transaction, each of which waits for the disk once. Keys of messages are in no
/// order: on SQLite each transaction writes nearly every page of their index, however few or many keys it adds.
const BACKLOG_BATCHES: u32 = 20;
/// At most so many events.
const BACKLOG_LIMIT: u32 = 1_000;
/// Unless their payloads are longer than this: what is worked on at once stays small.
const BACKLOG_BYTES: usize = 1 << 20;

/// Why nothing is made of an event whose id was purged.
const SPENT: &str = "an event of this id came before and was purged; it is not sent again";

/// What the materializer remembers from one sweep to the next. Nothing depends on it but how soon something is seen.
#[derive(Debug)]
pub(crate) struct Materializer {
    events: EventService,
    looks: Looks<EventPlace>,
    reader: Reader,
    pause: Duration,
    /// The store knows whether producers are to wake this node.
    notify_told: bool,
    /// How many events the next look takes.
    limit: u32,
}

/// What one sweep did.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Materialized {
    pub published: usize,
    pub settled: usize,
    /// Somebody else had them.
    pub lost: usize,
}

/// What was done, in words that stand where nothing was published, too.
fn work(published: usize, settled: usize) -> Work {
    let (did, one, many) = match published {
        0 => ("", "event put off or failed", "events put off or failed"),
        _ => ("published", "put off or failed", "put off or failed"),
    };
    let counts = [(published as u64, "event", "events"), (settled as u64, one, many)];
    Work::of(did, &counts, "no event waits")
}

impl Materialized {
    pub fn total(&self) -> usize {
        self.published + self.settled + self.lost
    }

    pub(super) fn add(&mut self, other: Self) {
        self.published += other.published;
        self.settled += other.settled;
        self.lost += other.lost;
    }
}

impl Materializer {
    pub fn new(events: EventService) -> Self {
        Self {
            pause: events.settings.poll_interval,
            limit: events.settings.batch_size,
            events,
            looks: Looks::default(),
            reader: Reader::of(OWN_OUTBOX.to_owned()),
            notify_told: false,
        }
    }

    pub async fn woken(&self) {
        self.events.woken().await;
    }

    /// Works on what is due until nothing is, and says when to look again.
    pub async fn sweep(&mut self) -> Swept {
        match self.run().await {
            Ok(done) => {
                let longest = self.events.settings.poll_interval;
                self.pause = retry::next_poll(self.pause, done.total() > 0, longest);
                let Materialized {
                    published, settled, ..
                } = done;
                Swept::from(work(published, settled)).within(self.pause)
            }
            Err(error) => {
                self.looks.take_back();
                Swept::failed(chain(&error)).not_before(retry::probe_source(1))
            }
        }
    }

    async fn run(&mut self) -> store::Result<Materialized> {
        if !self.notify_told {
            self.events
                .store
                .notify_emits(self.events.settings.notify)
                .await?;
            self.notify_told = true;
        }
        let mut done = Materialized::default();
        let mut writing = Writing::default();
        for number in 0..BATCHES_PER_SWEEP {
            let look = self.looks.next(Instant::now(), number == 0);
            if look.goes_back {
                // What is being written would be found once more.
                done.add(writing.end().await?);
            }
            let due = match self.look(look).await {
                Ok(due) => due,
                Err(error) => {
                    // Broken off, it would have to be found once more.
                    writing.end().await?;
                    return Err(error);
                }
            };
            let full = due.more;
            // What is tried again stands behind all that is new: its place says nothing about the next new one.
            let (again, new): (Vec<_>, Vec<_>) =
                due.rows.iter().partition(|event| event.last_error.is_some());
            let tried_again = !again.is_empty();
            let newest = new.into_iter().map(Event::place).max();
            self.looks.found(newest, due.rows.last().map(Event::place), full);
            // Who does not read knows the place as well, and looks from the start no more often.
            if !due.rows.is_empty() && !self.may_read().await? {
                break;
            }
            if !due.rows.is_empty() {
                self.events.directory.saw_version(due.directory_version);
                let plans = self.events.plans(due).await?;
                done.add(writing.go_on(&self.events, plans).await?);
            }
            if tried_again {
                // The next look would find them once more, and count a failure twice.
                done.add(writing.end().await?);
            }
            if !full && !self.looks.is_due_again(Instant::now()) {
                break;
            }
        }
        done.add(writing.end().await?);
        Ok(done)
    }

    async fn look(&mut self, look: Look<EventPlace>) -> store::Result<EventsDue> {
        let asked = Instant::now();
        let found = self.events.store.due_events(look.after, self.limit).await;
        let due = found.inspect_err(|_| self.looks.failed(look, asked.elapsed()))?;
        let now = Instant::now();
        self.looks.answered(look, &due.running, due.took, now);
        self.limit = self.events.next_limit(&due);
        Ok(due)
    }

    async fn may_read(&mut self) -> store::Result<bool> {
        let reads = self.reader.ask(&self.events, Instant::now()).await?;
        if reads == Reads::OursFromNow {
            self.looks.start_over();
        }
        Ok(reads != Reads::Another)
    }
}

/// The batch that is being written while the next one is planned.
#[derive(Debug, Default)]
struct Writing(Option<AbortOnDropHandle<store::Result<Materialized>>>);

impl Writing {
    /// Waits for the one before and starts with this one; answers with what came of the one before.
    async fn go_on(
        &mut self,
        events: &EventService,
        plans: Vec<(Event, Plan)>,
    ) -> store::Result<Materialized> {
        let done = self.end().await?;
        let events = events.clone();
        let write = tokio::spawn(async move { events.carry_out(plans).await });
        self.0 = Some(AbortOnDropHandle::new(write));
        Ok(done)
    }

    async fn end(&mut self) -> store::Result<Materialized> {
        match self.0.take() {
            Some(write) => write.await.map_err(store::Error::unavailable)?,
            None => Ok(Materialized::default()),
        }
    }
}

impl EventService {
    /// Plans and publishes what is due now, whoever else reads. For tests and commands.
    pub async fn sweep(&self) -> store::Result<Materialized> {
        let mut done = Materialized::default();
        let (mut writing, mut after) = (Writing::default(), None);
        let mut limit = self.settings.batch_size;
        loop {
            let due = self.store.due_events(after, limit).await?;
            self.directory.saw_version(due.directory_version);
            let full = due.more;
            limit = self.next_limit(&due);
            after = due.rows.last().map(Event::place);
            let plans = self.plans(due).await?;
            done.add(writing.go_on(self, plans).await?);
            if !full {
                done.add(writing.end().await?);
                return Ok(done);
            }
        }
    }

    /// How many events the look after this one takes.
    fn next_limit(&self, found: &EventsDue) -> u32 {
        let bytes: usize = found.rows.iter().map(|event| event.payload.len()).sum();
        let backlog = found.more && bytes <= BACKLOG_BYTES;
        let batch = self.settings.batch_size;
        match backlog {
            true => batch
                .saturating_mul(BACKLOG_BATCHES)
                .min(BACKLOG_LIMIT)
                .max(batch),
            false => batch,
        }
    }

    /// What is to become of each, in their order; nothing is written yet.
    async fn plans(&self, due: EventsDue) -> store::Result<Vec<(Event, Plan)>> {
        let (now, spent) = (due.now, due.spent);
        let waits = self.briefly();
        let plans = stream::iter(due.rows).map(async |event| {
            let plan = match spent.contains(&event.seq) {
                true => Plan::Settle(EventEnd::Failed, SPENT.into()),
                false => self.plan(&event, now, waits).await?,
            };
            Ok((event, plan))
        });
        plans.buffered(PLANNED_AT_ONCE).try_collect().await
    }

    async fn carry_out(&self, mut plans: Vec<(Event, Plan)>) -> store::Result<Materialized> {
        self.call_off_overtaken(&mut plans).await?;
        let mut done = Materialized::default();
        let (mut publish, mut settle) = (vec![], vec![]);
        for (event, plan) in plans {
            match plan {
                Plan::Settle(to, error) => settle.push(SettleEvent {
                    seq: event.seq,
                    to,
                    error,
                }),
                Plan::Schedule(planned) => {
                    if !planned.cancels.is_empty() {
                        // What it calls off may have come just before it.
                        done.add(self.publish(std::mem::take(&mut publish)).await?);
                        self.call_off(&event, &planned.entity_type, planned.tenant, &planned.cancels)
                            .await?;
                    }
                    publish.push(published(event, *planned));
                }
            }
        }
        done.add(self.publish(publish).await?);
        done.settled += settle.len();
        if !settle.is_empty() {
            self.store.settle_events(settle).await?;
        }
        metrics::counter!("waypost_events_published_total").increment(done.published as u64);
        metrics::counter!("waypost_events_settled_total").increment(done.settled as u64);
        Ok(done)
    }

    /// Publishes a batch; where that fails, one after the other, so that one that cannot be written keeps nobody.
    async fn publish(&self, batch: Vec<PublishEvent>) -> store::Result<Materialized> {
        if batch.is_empty() {
            return Ok(Materialized::default());
        }
        let name = |work: &PublishEvent| (work.schedule.tenant, work.schedule.event);
        let named: Vec<_> = batch.iter().map(name).collect();
        match self.publish_some(batch).await {
            Ok(done) => Ok(done),
            Err(error) => self.publish_alone(&named, error).await,
        }
    }

    pub(super) async fn publish_some(&self, works: Vec<PublishEvent>) -> store::Result<Materialized> {
        let keys: Vec<_> = works.iter().map(|work| known(&work.notifications)).collect();
        let answers = self.store.publish_events(works).await?;
        let mut done = Materialized::default();
        let mut taken = vec![];
        for (keys, answer) in keys.into_iter().zip(answers) {
            match answer {
                Some(answers) => {
                    done.published += 1;
                    taken.extend(accepted(keys, &answers));
                }
                None => done.lost += 1,
            }
        }
        self.taken_in(taken);
        if done.lost > 0 {
            // Perhaps by our own commit whose answer was lost: its notifications wait.
            self.ingest.look();
        }
        Ok(done)
    }

    /// Before the event is published: if that does not happen, this happens again.
    async fn call_off(
        &self,
        event: &Event,
        entity_type: &str,
        tenant: domain::TenantId,
        cancels: &[String],
    ) -> store::Result<()> {
        let reason = format!("called off by {} ({})", event.event_type, event.id);
        let cancel = CancelSchedules {
            tenant,
            entity_type: entity_type.to_owned(),
            entity_id: event.entity_id.clone(),
            event_types: cancels.to_vec(),
            before: event.seq,
            reason: reason.clone(),
        };
        let waiting = self.store.cancel_schedules(cancel).await?;
        let system = domain::Actor::system();
        self.operator
            .cancel_noted(tenant, &waiting, &system, Some(&reason))
            .await?;
        Ok(())
    }
}

pub(super) fn published(event: Event, planned: super::plan::Planned) -> PublishEvent {
    PublishEvent {
        seq: event.seq,
        schedule: NewSchedule {
            tenant: planned.tenant,
            event: event.id,
            event_type: event.event_type,
            entity_type: planned.entity_type,
            entity_id: event.entity_id,
            status: planned.status,
            due_at: planned.due_at,
            next_look_at: planned.next_look_at,
            last_error: planned.error,
            messages: planned.messages,
        },
        notifications: planned.notifications,
    }
}

#[cfg(test)]
#[path = "materializer_tests.rs"]
pub(super) mod tests;
