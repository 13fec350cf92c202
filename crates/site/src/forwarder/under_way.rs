//! What the forwarder has going on at once: one batch being read, several being carried.

use super::batch::{Batch, Settled};
use store::Result;
use tokio::task::JoinSet;

/// Batches carried at once.
const BATCHES_IN_FLIGHT: usize = 6;

/// What a task of the forwarder came to.
pub(super) enum Done {
    /// The next batch, or that there is none.
    Read(Result<Option<Batch>>),
    /// What central said, and that it is written down.
    Carried(Result<Settled>),
}

/// What is being read and carried, and how far the reading has come. Everything ends when this is dropped: what was not
/// written down is sent again.
pub(super) struct UnderWay {
    pub(super) tasks: JoinSet<Done>,
    /// Where the next batch begins.
    place: i64,
    reading: bool,
    pub(super) carried: usize,
    /// There may be something behind the place.
    more: bool,
    /// Something came while the last batch was being read.
    came: bool,
    /// Older rows than those at the place wait again.
    pub(super) rewind: bool,
}

impl Default for UnderWay {
    fn default() -> Self {
        Self {
            tasks: JoinSet::new(),
            place: 0,
            reading: false,
            carried: 0,
            more: true,
            came: false,
            rewind: false,
        }
    }
}

impl UnderWay {
    /// Where to read the next batch, if it is time to.
    pub(super) fn read_on(&mut self) -> Option<i64> {
        // Going back while batches are under way would only send them twice.
        if self.rewind && self.tasks.is_empty() {
            (self.place, self.more, self.rewind) = (0, true, false);
        }
        let read_on = self.more && !self.rewind && !self.reading && self.carried < BATCHES_IN_FLIGHT;
        self.reading |= read_on;
        self.came &= !read_on;
        read_on.then_some(self.place)
    }

    /// A batch was read and is carried from here on.
    pub(super) fn read(&mut self, batch: Option<Batch>) -> Option<Batch> {
        self.reading = false;
        match &batch {
            Some(batch) => {
                self.place = batch.last;
                self.carried += 1;
            }
            None => self.more = self.came,
        }
        batch
    }

    pub(super) fn rang(&mut self) {
        (self.more, self.came) = (true, true);
    }
}
