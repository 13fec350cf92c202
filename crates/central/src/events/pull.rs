//! Brings events from applications' own databases to central's outbox.
//!
//! Always true: central commits first, then the source is marked; whatever happens in between, the event comes again
//! under its id and is known. One node reads a source at a time. A source that cannot be reached is asked again at its
//! next probe. None waits for another: a look that takes long goes on while the others have theirs.

use super::{EventService, WholeLook};
use domain::{chain, retry};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use store::{
    loops::{Swept, Work},
    sources::{EventSource, SourceError},
};
use tokio_util::task::AbortOnDropHandle;

const READER_LEASE: Duration = Duration::from_secs(10);
/// So many rows of a source are read at a time.
const BATCH: u32 = 200;
/// What was taken is deleted in chunks of so many, and looked for once in a while.
const FORGET_CHUNK: u32 = 1_000;
const FORGET_INTERVAL: Duration = Duration::from_secs(60);
/// After a full chunk there is more: a source may give thousands of events a minute, and all have to go again.
const FORGET_PAUSE: Duration = Duration::from_secs(1);

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
    place: Option<i64>,
    whole: Option<WholeLook>,
    reader_since: Option<Instant>,
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
        self.held = stands.held_until.map(|_| stands.why.clone());
        self.stands = Some(stands);
        done
    }
}

impl Pulled {
    fn new(source: &Arc<EventSource>) -> Self {
        Self {
            source: source.clone(),
            place: None,
            whole: None,
            reader_since: None,
            forget_at: None,
            failures: 0,
            held_until: None,
            why: String::new(),
        }
    }

    /// How many events were brought. An error is central's own; what the source does is kept here.
    async fn pull(&mut self, events: &EventService) -> store::Result<usize> {
        let now = Instant::now();
        if self.held_until.is_some_and(|until| now < until) {
            return Ok(0);
        }
        let mut brought = 0;
        loop {
            let whole = WholeLook::is_due(self.whole, now);
            let after = self.place.filter(|_| !whole);
            let pending = match self.source.pending(after, BATCH).await {
                Ok(pending) => pending,
                Err(error) => return Ok(self.hold(&error, brought)),
            };
            if whole {
                let took = now.elapsed();
                self.whole = Some(WholeLook { at: now, took });
            }
            if pending.events.is_empty() {
                break;
            }
            if !self.may_read(events, now).await? {
                return Ok(brought);
            }
            let found = pending.events.len();
            events.bring(pending.events).await?;
            brought += found;
            if let Err(error) = self.source.mark(&pending.marks).await {
                return Ok(self.hold(&error, brought));
            }
            self.place = self.place.max(pending.last);
            if !pending.more {
                break;
            }
        }
        self.failures = 0;
        self.held_until = None;
        self.forget(now).await;
        Ok(brought)
    }

    async fn may_read(&mut self, events: &EventService, now: Instant) -> store::Result<bool> {
        if self
            .reader_since
            .is_some_and(|since| now.duration_since(since) < READER_LEASE / 3)
        {
            return Ok(true);
        }
        let name = format!("source:{}", self.source.name());
        let ours = events.store.own_reader(&name, &events.node, READER_LEASE).await?;
        self.reader_since = ours.then_some(now);
        Ok(ours)
    }

    fn hold(&mut self, error: &SourceError, brought: usize) -> usize {
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
        brought
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
mod tests {
    use super::*;

    #[test]
    fn while_there_is_more_to_delete_than_a_chunk_it_goes_on() {
        assert_eq!(forget_again_after(0), FORGET_INTERVAL);
        assert_eq!(forget_again_after(999), FORGET_INTERVAL);
        assert_eq!(forget_again_after(1_000), FORGET_PAUSE);
    }
}
