//! Whether there is room for another message: the limit that was set, and the disk.

use super::{Buffer, gauge, sql};
use crate::{
    Error, Result,
    sqlite::{connection, error},
};
use rusqlite::params;
use std::sync::{Mutex, PoisonError};

#[derive(Debug, Default)]
pub(super) struct Room {
    limit: u64,
    /// Why the last write found no room on the disk; none once one succeeded.
    disk: Mutex<Option<String>>,
}

impl Room {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            limit,
            disk: Mutex::default(),
        }
    }

    /// Why a message of this size does not fit, if it does not.
    pub(super) fn refuses(&self, used: u64, payload: usize) -> Option<String> {
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
        let full = match done {
            Ok(_) => None,
            Err(error) if error::is_full(error) => Some(words(error)),
            Err(_) => return,
        };
        let mut disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        if disk.is_some() != full.is_some() {
            match &full {
                Some(why) => tracing::error!(
                    error = why,
                    "no room on the disk: messages are refused until there is"
                ),
                None => tracing::info!("there is room on the disk again: messages are taken"),
            }
        }
        *disk = full;
    }

    pub(super) fn disk(&self) -> Option<String> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner).clone()
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
        let shared = &self.shared;
        shared
            .room
            .disk()
            .or_else(|| shared.room.refuses(shared.gauge.bytes(), 0))
    }

    /// After a full disk: tries whether there is room again, so that it is known before the next message comes.
    pub async fn look_for_room(&self) -> Result<()> {
        if self.shared.room.disk().is_none() {
            return Ok(());
        }
        self.write(1, |s, _| {
            let mut set = s.conn.prepare_cached(sql::meta_set)?;
            set.execute(params!["room_seen_at", s.now.as_millis().to_string()])?;
            Ok(())
        })
        .await
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
