//! One node reads an outbox at a time: a second reader would cost work, never a message.

use super::EventService;
use std::time::{Duration, Instant};

/// For so long a node is the one that reads, unless it says so again.
const READER_LEASE: Duration = Duration::from_secs(10);

/// What this node knows about whether it is the one.
#[derive(Debug)]
pub(super) struct Reader {
    /// What the outbox is called at central.
    outbox: String,
    since: Option<Instant>,
}

/// Who reads an outbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// This node, and it did before.
    Ours,
    /// This node from now on. What another one saw and did not come to is before the place that is remembered.
    OursFromNow,
    Another,
}

impl Reader {
    pub fn of(outbox: String) -> Self {
        Self { outbox, since: None }
    }

    pub async fn ask(&mut self, events: &EventService, now: Instant) -> store::Result<Reads> {
        let said = |since| now.duration_since(since) < READER_LEASE / 3;
        if self.since.is_some_and(said) {
            return Ok(Reads::Ours);
        }
        let ours = events
            .store
            .own_reader(&self.outbox, &events.node, READER_LEASE)
            .await?;
        let before = std::mem::replace(&mut self.since, ours.then_some(now));
        Ok(match (ours, before) {
            (false, _) => Reads::Another,
            (true, Some(_)) => Reads::Ours,
            (true, None) => Reads::OursFromNow,
        })
    }
}
