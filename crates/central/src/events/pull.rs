//! Brings events from applications' own databases to central's outbox.
//!
//! Always true: central commits first, then the source is marked; whatever happens in between, the event comes again
//! under its id and is known. One node reads a source at a time. A source that cannot be reached is asked again at its
//! next probe. None waits for another: a look that takes long goes on while the others have theirs. What could not be marked
//! keeps nothing from being brought, and is marked later.

use super::{
    EventService,
    looks::Looks,
    reader::{Reader, Reads},
};
use domain::{chain, retry};
use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};
use store::{
    loops::{Swept, Work},
    sources::{EventSource, Mark, Pending, Refused, SourceError},
};
use tokio_util::task::AbortOnDropHandle;

/// So many rows of a source are read at a time.
const BATCH: u32 = 200;
/// What was taken is deleted in chunks of so many, and looked for once in a while.
const FORGET_CHUNK: u32 = 1_000;
const FORGET_INTERVAL: Duration = Duration::from_secs(60);
/// After a full chunk there is more: a source may give thousands of events a minute, and all have to go again.
const FORGET_PAUSE: Duration = Duration::from_secs(1);
/// An application's own write keeps a mark waiting now and then; that often in a row, somebody has to know.
const MARK_FAILURES_TOLD: u32 = 5;
/// While so many wait to be marked, no more are brought.
const UNMARKED_LIMIT: usize = 10_000;

/// The sources of a node, and where it stands with each.
#[derive(Debug)]
pub(crate) struct Puller {
    events: EventService,
    sources: Vec<Looked>,
    pause: Duration,
}

/// A source, and the look that is under way.
#[derive(Debug)]
struct Looked {
    source: Arc<EventSource>,
    /// None while somebody looks.
    stands: Option<Pulled>,
    look: Option<AbortOnDropHandle<(Pulled, store::Result<usize>)>>,
    /// Why it does not answer, as the last look had it that ended.
    held: Option<String>,
}

#[derive(Debug)]
struct Pulled {
    source: Arc<EventSource>,
    looks: Looks<i64>,
    reader: Reader,
    /// What is at central, and not marked yet.
    unmarked: Vec<Mark>,
    mark_failures: u32,
    mark_at: Option<Instant>,
    /// When it is next looked for what can be deleted.
    forget_at: Option<Instant>,
    failures: u32,
    held_until: Option<Instant>,
    why: String,
}

impl Puller {
    pub fn new(events: EventService, sources: &[Arc<EventSource>]) -> Self {
        let looked = |source: &Arc<EventSource>| Looked {
            source: source.clone(),
            stands: None,
            look: None,
            held: None,
        };
        Self {
            pause: events.settings.poll_interval,
            sources: sources.iter().map(looked).collect(),
            events,
        }
    }

    pub async fn sweep(&mut self) -> Swept {
        let longest = self.events.settings.poll_interval;
        let until = tokio::time::Instant::now() + longest;
        for source in &mut self.sources {
            source.begin(&self.events);
        }
        let (mut brought, mut held, mut failed) = (0, vec![], None);
        for source in &mut self.sources {
            match source.end(until).await {
                Ok(n) => brought += n,
                Err(error) => failed = Some(error),
            }
            if let Some(why) = &source.held {
                held.push(format!("{}: {why}", source.source.name()));
            }
        }
        if let Some(error) = failed {
            return Swept::failed(chain(&error)).not_before(retry::probe_source(1));
        }
        self.pause = retry::next_poll(self.pause, brought > 0, longest);
        let swept = match held.is_empty() {
            true => {
                let counts = [(brought as u64, "event", "events")];
                Work::of("brought", &counts, "the sources have nothing new").into()
            }
            false => Swept::failed(held.join("; ")),
        };
        swept.within(self.pause)
    }
}

impl Looked {
    /// Has somebody look, unless somebody does.
    fn begin(&mut self, events: &EventService) {
        if self.look.is_some() {
            return;
        }
        let mut stands = self.stands.take().unwrap_or_else(|| Pulled::new(&self.source));
        let events = events.clone();
        let look = tokio::spawn(async move {
            let done = stands.pull(&events).await;
            (stands, done)
        });
        self.look = Some(AbortOnDropHandle::new(look));
    }

    /// How many events were brought, by a look that ends by then.
    async fn end(&mut self, until: tokio::time::Instant) -> store::Result<usize> {
        let Some(look) = &mut self.look else {
            return Ok(0);
        };
        let Ok(ended) = tokio::time::timeout_at(until, look).await else {
            return Ok(0);
        };
        self.look = None;
        let (stands, done) = ended.map_err(store::Error::unavailable)?;
        self.held = stands.trouble().map(str::to_owned);
        self.stands = Some(stands);
        done
    }
}

impl Pulled {
    fn new(source: &Arc<EventSource>) -> Self {
        Self {
            source: source.clone(),
            looks: Looks::default(),
            reader: Reader::of(format!("source:{}", source.name())),
            unmarked: vec![],
            mark_failures: 0,
            mark_at: None,
            forget_at: None,
            failures: 0,
            held_until: None,
            why: String::new(),
        }
    }

    /// How many events were brought. An error is central's own; what the source does is kept here.
    async fn pull(&mut self, events: &EventService) -> store::Result<usize> {
        let (mut brought, mut first, mut goes_on) = (0, true, true);
        while std::mem::take(&mut goes_on) {
            let batch = self.batch(events, std::mem::take(&mut first), Instant::now());
            let (found, more) = batch.await?;
            brought += found;
            goes_on = more;
        }
        Ok(brought)
    }

    /// One look, and what comes of it: how many events were brought, and whether there is more to do at once.
    async fn batch(
        &mut self,
        events: &EventService,
        first: bool,
        now: Instant,
    ) -> store::Result<(usize, bool)> {
        let nothing = (0, false);
        if self.held_until.is_some_and(|until| now < until) {
            return Ok(nothing);
        }
        if self.unmarked.len() >= UNMARKED_LIMIT {
            self.mark(now).await;
            return Ok((0, self.unmarked.is_empty()));
        }
        let look = self.looks.next(now, first);
        let asked = Instant::now();
        let pending = match self.source.pending(look.after, BATCH).await {
            Ok(pending) => pending,
            Err(error) => {
                self.looks.failed(look, asked.elapsed());
                self.hold(&error);
                return Ok(nothing);
            }
        };
        let answered = now + pending.took;
        self.looks
            .answered(look, &pending.running, pending.took, answered);
        // It answers, whoever reads it.
        self.failures = 0;
        self.held_until = None;
        let (last, more) = (pending.last, pending.more);
        // Who does not read knows the place as well, and looks from the start no more often.
        self.looks.found(last, last, more);
        let mut brought = 0;
        if last.is_some() {
            let reads = self.reader.ask(events, now).await;
            match reads.inspect_err(|_| self.looks.take_back())? {
                Reads::Another => return Ok(nothing),
                Reads::OursFromNow => self.looks.start_over(),
                Reads::Ours => {}
            }
            brought = self.bring(events, pending).await?;
        }
        self.mark(now).await;
        self.forget(now).await;
        Ok((brought, more || self.looks.is_due_again(answered)))
    }

    /// Those that are not at central already, waiting for their mark.
    async fn bring(&mut self, events: &EventService, found: Pending) -> store::Result<usize> {
        let known: HashSet<&Mark> = self.unmarked.iter().collect();
        let (new, marks): (Vec<_>, Vec<_>) = found
            .events
            .into_iter()
            .zip(found.marks)
            .filter(|(_, mark)| !known.contains(mark))
            .unzip();
        let mut refused = found.refused;
        refused.retain(|refused| !known.contains(&refused.mark));
        let brought = new.len() + refused.len();
        if !new.is_empty() {
            let done = events.bring(new).await;
            done.inspect_err(|_| self.looks.take_back())?;
        }
        self.unmarked.extend(marks);
        for Refused { event, mark, why } in refused {
            let done = events.set_apart(event, &why).await;
            done.inspect_err(|_| self.looks.take_back())?;
            self.unmarked.push(mark);
        }
        Ok(brought)
    }

    /// Marks what is at central. Where that fails it alone is tried again: the events were brought, and the source answers.
    async fn mark(&mut self, now: Instant) {
        if self.mark_at.is_some_and(|at| now < at) {
            return;
        }
        while !self.unmarked.is_empty() {
            let some = self.unmarked.len().min(BATCH as usize);
            if let Err(error) = self.source.mark(&self.unmarked[..some]).await {
                self.mark_failed(&error);
                return;
            }
            self.unmarked.drain(..some);
        }
        self.mark_failures = 0;
        self.mark_at = None;
    }

    fn mark_failed(&mut self, error: &SourceError) {
        self.mark_failures = self.mark_failures.saturating_add(1);
        self.mark_at = Some(Instant::now() + retry::mark_again(self.mark_failures));
        self.why = format!("what was taken cannot be marked: {error}");
        if self.mark_failures == MARK_FAILURES_TOLD {
            tracing::warn!(
                event.source = self.source.name(),
                error = error as &dyn std::error::Error,
                "what was taken from an event source cannot be marked there; it is tried again"
            );
        }
    }

    /// What somebody has to know about the source.
    fn trouble(&self) -> Option<&str> {
        let is_told = self.held_until.is_some() || self.mark_failures >= MARK_FAILURES_TOLD;
        is_told.then_some(self.why.as_str())
    }

    fn hold(&mut self, error: &SourceError) {
        self.failures = self.failures.saturating_add(1);
        let wait = retry::probe_source(self.failures);
        if self.failures == 1 {
            tracing::warn!(
                event.source = self.source.name(),
                error = error as &dyn std::error::Error,
                "an event source does not answer; what waits in it waits uncounted"
            );
        }
        self.held_until = Some(Instant::now() + wait);
        self.why = error.to_string();
    }

    /// Deletes what was taken long ago; that it fails now says nothing but that it is tried again.
    async fn forget(&mut self, now: Instant) {
        if self.forget_at.is_some_and(|at| now < at) {
            return;
        }
        let forgotten = self.source.forget(FORGET_CHUNK).await;
        if let Err(error) = &forgotten {
            tracing::debug!(
                event.source = self.source.name(),
                error = error as &dyn std::error::Error,
                "what was taken could not be deleted now"
            );
        }
        self.forget_at = Some(now + forget_again_after(forgotten.unwrap_or_default()));
    }
}

fn forget_again_after(forgotten: u64) -> Duration {
    match forgotten < u64::from(FORGET_CHUNK) {
        true => FORGET_INTERVAL,
        false => FORGET_PAUSE,
    }
}

#[cfg(test)]
#[path = "pull_tests.rs"]
mod tests;
