//! Whether there is room for another message: the limit that was set, and the disk.
//!
//! Always true: on a full disk messages are refused until one fits beside the reserve, so that what gets messages out
//! is never the one that finds no room; what central acknowledged, and reports for it, give way before a message is refused; a
//! message never gets what is reserved.

use super::{Buffer, gauge, reserve::Reserve};
use crate::{Error, Result, sqlite::error};
use domain::lock::lock;
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering},
};

/// A start writes about so much before anything can be refused: SQLite's index of the log, the log, a mark in the file.
const START_NEEDS: u64 = 1 << 20;
/// There has to be so much room more than what was refused needs, so that the next one is not refused again at once.
const SPARE: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct Room {
    limit: u64,
    /// What the last message needed that did not fit under the limit.
    refused: AtomicU64,
    /// Held by whoever sees to it that what is remembered gives way.
    pub(super) made: tokio::sync::Mutex<()>,
    /// How often it did.
    pub(super) made_times: AtomicU64,
    pub(super) reserve: Option<Reserve>,
    /// The most that a message needed which found no room on the disk.
    short_of: AtomicU64,
    /// Why there is no room on the disk; none once a message fits again.
    disk: Mutex<Option<String>>,
}

impl Room {
    pub(super) fn new(limit: u64, reserve: Option<Reserve>) -> Self {
        Self {
            limit,
            refused: AtomicU64::new(0),
            made: tokio::sync::Mutex::default(),
            made_times: AtomicU64::new(0),
            reserve,
            short_of: AtomicU64::new(0),
            disk: Mutex::default(),
        }
    }

    /// Before the file is opened: where the disk has no room for what a start writes, it gets what is kept.
    pub(super) fn make_room_for_start(&self) {
        let Some(reserve) = &self.reserve else {
            return;
        };
        let is_short = reserve.free_beside().is_some_and(|free| free < START_NEEDS);
        if is_short && reserve.release() {
            self.is_full("the disk was full when the agent started".to_owned());
        }
    }

    /// From here on messages are taken: a disk without room for the reserve is full from the start. What a start has
    /// used is kept again once there is room.
    pub(super) fn begin(&self) {
        if self.has_disk()
            && let Err(full) = self.keep_reserve().and_then(|()| self.settle_reserve())
        {
            self.is_full(words(&full));
        }
    }

    /// Why a message that needs so much does not fit, if it does not.
    pub(super) fn refuses(&self, used: u64, needed: u64) -> Option<String> {
        if let Some(full) = self.disk() {
            return Some(full);
        }
        if self.over(used.saturating_add(needed)) == 0 {
            return None;
        }
        if needed > self.limit {
            return Some(format!(
                "the message takes {needed} bytes, which is more than site.max_buffer_bytes ({})",
                self.limit
            ));
        }
        self.refused.store(needed, Ordering::Relaxed);
        Some(self.limit_words(used))
    }

    /// Why messages are refused right now: one that did not fit would still not fit.
    fn refusing(&self, used: u64) -> Option<String> {
        let needed = self.refused.load(Ordering::Relaxed).max(needed(0));
        self.disk()
            .or_else(|| (self.over(used.saturating_add(needed)) > 0).then(|| self.limit_words(used)))
    }

    /// By how much this is beyond the limit.
    pub(super) fn over(&self, used: u64) -> u64 {
        match self.limit {
            0 => 0,
            limit => used.saturating_sub(limit),
        }
    }

    fn limit_words(&self, used: u64) -> String {
        format!(
            "the buffer holds {used} bytes of at most {} (site.max_buffer_bytes); it takes messages again \
             when some have been delivered or discarded",
            self.limit
        )
    }

    /// Whether the disk has room, as far as is known.
    pub(super) fn has_disk(&self) -> bool {
        self.lock().is_none()
    }

    /// Where a write found no room, lets go of the reserve; whether there was one, so that it can be tried again.
    pub(super) fn released<T>(&self, done: &Result<T>) -> bool {
        let Err(error) = done else {
            return false;
        };
        if !error::is_full(error) {
            return false;
        }
        self.is_full(words(error));
        self.reserve.as_ref().is_some_and(Reserve::release)
    }

    /// Where a message that needs so much found no room, all are refused from here on. The reserve is not for them.
    pub(super) fn refused<T>(&self, done: &Result<T>, needed: u64) {
        if let Err(error) = done
            && error::is_full(error)
        {
            self.short_of.fetch_max(needed, Ordering::Relaxed);
            self.is_full(words(error));
        }
    }

    fn is_full(&self, why: String) {
        let mut disk = self.lock();
        if disk.is_none() {
            tracing::error!(
                error = why,
                "no room on the disk: messages are refused until there is"
            );
        }
        *disk = Some(why);
    }

    pub(super) fn has_room(&self) {
        self.short_of.store(0, Ordering::Relaxed);
        if self.lock().take().is_some() {
            tracing::info!("there is room on the disk again: messages are taken");
        }
    }

    pub(super) fn keep_reserve(&self) -> Result<()> {
        match &self.reserve {
            Some(reserve) => reserve
                .keep()
                .map_err(|e| Error::unavailable(error::DiskFull(e.to_string()))),
            None => Ok(()),
        }
    }

    pub(super) fn settle_reserve(&self) -> Result<()> {
        match &self.reserve {
            Some(reserve) => reserve
                .settle()
                .map_err(|e| Error::unavailable(error::DiskFull(e.to_string()))),
            None => Ok(()),
        }
    }

    pub(super) fn is_reserve_kept(&self) -> bool {
        self.reserve.as_ref().is_some_and(Reserve::is_kept)
    }

    /// How much has to fit before messages are taken again.
    pub(super) fn trial(&self) -> usize {
        let bytes = self.short_of.load(Ordering::Relaxed).saturating_add(SPARE);
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    fn disk(&self) -> Option<String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.disk)
    }
}

/// About how many bytes a message with such a payload takes.
pub(super) fn needed(payload: usize) -> u64 {
    payload as u64 + gauge::ROW.unsigned_abs()
}

/// What is told to the sender of a message for which there was no room.
pub(super) fn words(error: &Error) -> String {
    let cause = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    format!("there is no room on the disk of this site: {cause}")
}

impl Buffer {
    /// Why messages are refused right now, if they are.
    pub fn refusing(&self) -> Option<String> {
        self.shared.room.refusing(self.shared.gauge.messages())
    }

    /// Why there is no room on the disk, while there is none: nothing new is taken in.
    pub fn no_room(&self) -> Option<String> {
        self.shared.room.disk()
    }
}
