//! Whether there is room for another message: the limit that was set, and the disk.
//!
//! Always true: on a full disk messages are refused until the reserve is whole again, so that what gets messages out
//! is never the one that finds no room.

use super::{Buffer, gauge, reserve::Reserve, sql};
use crate::{
    Error, Result,
    sqlite::{connection, error},
};
use rusqlite::params;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub(super) struct Room {
    limit: u64,
    reserve: Option<Reserve>,
    /// Why there is no room on the disk; none once the reserve could be kept again.
    disk: Mutex<Option<String>>,
}

impl Room {
    /// A disk without room for the reserve is full from the start.
    pub(super) fn new(limit: u64, reserve: Option<Reserve>) -> Self {
        let room = Self {
            limit,
            reserve,
            disk: Mutex::default(),
        };
        if let Err(full) = room.keep_reserve() {
            room.is_full(words(&full));
        }
        room
    }

    /// Why a message of this size does not fit, if it does not.
    pub(super) fn refuses(&self, used: u64, payload: usize) -> Option<String> {
        if let Some(full) = self.disk() {
            return Some(full);
        }
        (self.limit > 0 && used + needed(payload) > self.limit).then(|| {
            format!(
                "the buffer holds {used} bytes of at most {} (site.max_buffer_bytes); it takes messages again \
                 when some have been delivered or discarded",
                self.limit
            )
        })
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
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.shared.room.refuses(self.shared.gauge.bytes(), 0)
    }

    /// After a full disk: tries whether there is room again, and takes messages from then on if there is.
    pub async fn look_for_room(&self) -> Result<()> {
        if self.shared.room.disk().is_none() {
            return Ok(());
        }
        self.write(1, |s, shared| {
            let mut set = s.conn.prepare_cached(sql::meta_set)?;
            set.execute(params!["room_seen_at", s.now.as_millis().to_string()])?;
            shared.room.keep_reserve()
        })
        .await?;
        self.shared.room.has_room();
        Ok(())
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
