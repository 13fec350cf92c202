//! Moves the write-ahead log into the database file, by the writer itself between two commits.
//!
//! The log is kept short on purpose. Once all of it has been moved, the next commit writes over it from the start, and
//! what is written over costs half of what makes a file grow: there is nothing to allocate, and a sync has no sizes to
//! record. A thread that moves the log beside a busy writer never catches up with it, and the log grows.
//!
//! Always true: a disk that fails here stops the writer. The system forgets what it could not write, so a later
//! checkpoint would seem to succeed and let go of a log that is still needed.

use super::{connection, filler};
use rusqlite::Connection;
use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
};

/// Pages in the log (4 MiB) before it is moved: few enough that nobody notices the wait.
const PAGES: u32 = 1_000;
/// How far the log may grow behind a reader that stays, before commits wait for that reader a moment.
const BOUND: u64 = 64 << 20;
/// Behind a reader that stays on, the next try comes when the log has grown by this part of itself: a try costs time in
/// proportion to the log.
const PART: u8 = 4;
/// A log of this size is told of.
const LARGE: u64 = 512 << 20;

/// The log, and when it is moved.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    pages: u32,
    bound: u64,
    /// So much of the log's file is kept, and there before it is needed: what is written over takes no room on the disk.
    floor: u64,
    next_pages: u32,
    next_bound: u64,
}

impl Log {
    /// Of the database at this path.
    pub(super) fn of(path: &Path) -> Self {
        Self::within(path, PAGES, BOUND)
    }

    /// The same, never shorter than `floor` bytes as long as the disk has them.
    pub(super) fn with_floor(path: &Path, floor: u64) -> Self {
        let log = Self {
            floor,
            ..Self::of(path)
        };
        log.fill_up();
        log
    }

    fn within(path: &Path, pages: u32, bound: u64) -> Self {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        Self {
            path: log.into(),
            pages,
            bound,
            floor: 0,
            next_pages: pages,
            next_bound: bound,
        }
    }

    /// The disk is full: whatever its size, the log is emptied next and gives the room above its floor back.
    pub(super) fn shrink(&mut self) {
        (self.next_pages, self.next_bound) = (0, self.floor);
    }

    /// Takes the room for the floor, where the disk has it.
    fn fill_up(&self) {
        let fill = || -> io::Result<()> {
            let file = OpenOptions::new().write(true).open(&self.path)?;
            let size = file.metadata()?.len();
            // SQLite takes what follows the last commit for nothing, whatever it is.
            filler::extend(&file, size, self.floor)
        };
        if self.floor > 0
            && let Err(error) = fill()
        {
            tracing::warn!(%error, "there is no room to keep for the log of the buffer");
        }
    }

    /// To be called after each commit of this connection. Answers whether the log was moved into the file.
    pub(super) fn keep_short(&mut self, conn: &Connection) -> rusqlite::Result<bool> {
        let pages = connection::pages_in_log();
        if pages < self.next_pages {
            return Ok(false);
        }
        let moved = connection::checkpoint_passive(conn)?;
        // Somebody reads an old state, a backup perhaps: not again before the log has grown some more.
        self.next_pages = match moved {
            true => self.pages,
            false => pages + self.pages.max(pages / u32::from(PART)),
        };
        let size = fs::metadata(&self.path).map_or(0, |m| m.len());
        if size > self.next_bound {
            let emptied = connection::checkpoint_truncate(conn)?;
            if emptied {
                self.fill_up();
            }
            self.next_bound = match emptied {
                true => self.bound,
                false => size + self.bound.max(size / u64::from(PART)),
            };
            if !emptied && size >= LARGE {
                tracing::warn!(
                    log.bytes = size,
                    "somebody has been reading the database for long; until they are done its log grows by all that is written"
                );
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connection::Caches;

    fn size(log: &Log) -> u64 {
        std::fs::metadata(&log.path).unwrap().len()
    }

    struct World {
        _folder: tempfile::TempDir,
        path: PathBuf,
        writer: Connection,
    }

    impl World {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("waypost.db");
            crate::sqlite::open::migrate(&path).unwrap();
            Self {
                writer: connection::writer(&path, Caches::CENTRAL).unwrap(),
                path,
                _folder: folder,
            }
        }

        fn commit(&self) {
            connection::begin(&self.writer).unwrap();
            self.writer
                .execute_batch(crate::sqlite::directory::sql::directory_bump)
                .unwrap();
            connection::commit(&self.writer).unwrap();
        }
    }

    #[test]
    fn the_log_does_not_grow_with_what_is_written() {
        let world = World::new();
        let mut log = Log::within(&world.path, 10, BOUND);
        for _ in 0..200 {
            world.commit();
            log.keep_short(&world.writer).unwrap();
        }
        let short = size(&log);
        for _ in 0..2_000 {
            world.commit();
            log.keep_short(&world.writer).unwrap();
        }
        assert_eq!(size(&log), short);
    }

    #[test]
    fn a_reader_that_stays_keeps_the_log_but_stops_nobody() {
        let world = World::new();
        let mut log = Log::within(&world.path, 1, 1);
        let reader = connection::reader(&world.path, Caches::CENTRAL).unwrap();
        connection::begin_read(&reader).unwrap();
        crate::sqlite::open::schema_version(&reader).unwrap();
        world.commit();
        log.keep_short(&world.writer).unwrap();
        assert!(
            log.next_bound > 1,
            "it could not be emptied and is left alone for a while"
        );
        world.commit();
        connection::rollback(&reader).unwrap();
        (log.next_pages, log.next_bound) = (1, 1);
        log.keep_short(&world.writer).unwrap();
        assert_eq!(size(&log), 0);
        world.commit();
    }
}
