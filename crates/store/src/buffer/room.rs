//! Whether there is room for another message: the limit that was set, and the disk.
//!
//! Always true: on a full disk messages are refused until the reserve is whole again, so that what gets messages out
//! is never the one that finds no room; what central acknowledged gives way before a message is refused.

use super::{Buffer, forget, gauge, reserve::Reserve, sql};
use crate::{
    Error, Result,
    sqlite::{connection, error},
};
use domain::lock::lock;
use rusqlite::params;
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering},
};

/// Pages given back in one commit: few enough that the log has room for what has to be moved.
const GIVEN_BACK: u32 = 256;
/// Commits of giving back before others get their turn.
const GIVEN_BACK_TIMES: u32 = 16;
/// So many free pages are kept for messages to come.
const FREE_PAGES_KEPT: u64 = 4_096;
/// The least that gives way at once.
const GIVES_WAY: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Room {
    limit: u64,
    /// What the last message needed that did not fit under the limit.
    refused: AtomicU64,
    /// How often what is remembered gave way; held by whoever sees to it.
    made: tokio::sync::Mutex<()>,
    made_times: AtomicU64,
    reserve: Option<Reserve>,
    /// Why there is no room on the disk; none once the reserve could be kept again.
    disk: Mutex<Option<String>>,
}

impl Room {
    /// A disk without room for the reserve is full from the start.
    pub(super) fn new(limit: u64, reserve: Option<Reserve>) -> Self {
        let room = Self {
            limit,
            refused: AtomicU64::new(0),
            made: tokio::sync::Mutex::default(),
            made_times: AtomicU64::new(0),
            reserve,
            disk: Mutex::default(),
        };
        if let Err(full) = room.keep_reserve() {
            room.is_full(words(&full));
        }
        room
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

    /// Notes what a write said about the disk.
    pub(super) fn learn<T>(&self, done: &Result<T>) {
        if let Err(error) = done
            && error::is_full(error)
        {
            if let Some(reserve) = &self.reserve {
                reserve.release();
            }
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

    fn has_room(&self) {
        if self.lock().take().is_some() {
            tracing::info!("there is room on the disk again: messages are taken");
        }
    }

    fn keep_reserve(&self) -> Result<()> {
        match &self.reserve {
            Some(reserve) => reserve
                .keep()
                .map_err(|e| Error::unavailable(error::DiskFull(e.to_string()))),
            None => Ok(()),
        }
    }

    fn disk(&self) -> Option<String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        lock(&self.disk)
    }
}

fn free_pages(conn: &rusqlite::Connection) -> Result<u64> {
    Ok(connection::free_pages(conn)?)
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
        self.shared.room.refusing(self.shared.gauge.bytes())
    }

    /// Why there is no room on the disk, while there is none: nothing new is taken in.
    pub fn no_room(&self) -> Option<String> {
        self.shared.room.disk()
    }

    /// The disk is full: lets go of what is remembered, so that its pages can be used again. Whether it is worth trying
    /// again; of many who ask at once, one does it for all.
    pub(super) async fn make_room(&self, payload: usize) -> bool {
        let room = &self.shared.room;
        let before = room.made_times.load(Ordering::SeqCst);
        let _made = room.made.lock().await;
        if room.made_times.load(Ordering::SeqCst) != before {
            return true;
        }
        if self.drop_log().await.is_ok_and(|dropped| dropped) {
            room.made_times.fetch_add(1, Ordering::SeqCst);
            return true;
        }
        if self.shared.gauge.remembered() == 0 {
            return false;
        }
        let bytes = needed(payload).saturating_mul(2).max(GIVES_WAY);
        let freed = self
            .try_write(1, move |s, shared| {
                s.empty_log();
                forget::give_way(s, shared, bytes)
            })
            .await;
        room.made_times.fetch_add(1, Ordering::SeqCst);
        freed.is_ok_and(|freed| freed > 0)
    }

    /// After a full disk: tries whether there is room again, and takes messages from then on if there is. What central
    /// acknowledged and pages that hold nothing are given up for it.
    pub async fn look_for_room(&self) -> Result<()> {
        self.still_there().await?;
        if self.shared.room.has_disk() {
            return self.give_back().await;
        }
        while !self.try_for_room().await? {}
        self.shared.room.has_room();
        Ok(())
    }

    /// Whether the reserve is kept. False when there is more to give up.
    async fn try_for_room(&self) -> Result<bool> {
        self.write(1, |s, shared| {
            let mut set = s.conn.prepare_cached(sql::meta_set)?;
            set.execute(params!["room_seen_at", s.now.as_millis().to_string()])?;
            let Err(full) = shared.room.keep_reserve() else {
                return Ok(true);
            };
            s.empty_log();
            let given_back = connection::give_pages_back(s.conn, GIVEN_BACK)?;
            if given_back == 0 && forget::give_way(s, shared, GIVES_WAY)? == 0 {
                return Err(full);
            }
            Ok(false)
        })
        .await
    }

    /// Gives the disk what an empty buffer does not need. Nobody waits for it: only while nothing else is to be done.
    async fn give_back(&self) -> Result<()> {
        for _ in 0..GIVEN_BACK_TIMES {
            if self.shared.gauge.depth().waiting() > 0 || self.read(free_pages).await? <= FREE_PAGES_KEPT {
                return Ok(());
            }
            let given = self
                .write(1, |s, _| {
                    s.empty_log();
                    Ok(connection::give_pages_back(s.conn, GIVEN_BACK)?)
                })
                .await?;
            if given == 0 {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The path still leads to the file that is open. Where it does not, a commit finds out what to do about it.
    async fn still_there(&self) -> Result<()> {
        match self.file.still_at(&self.path) {
            Ok(()) => Ok(()),
            Err(_) => self.write(1, |_, _| Ok(())).await,
        }
    }

    /// For tests: behaves as if the disk had room for so many pages in all.
    #[doc(hidden)]
    pub async fn limit_pages(&self, pages: Option<u32>) -> Result<()> {
        self.writer
            .write(1, move |s| {
                connection::limit_pages(s.conn, pages.unwrap_or(u32::MAX >> 1))?;
                Ok(())
            })
            .await
    }
}
