//! The one transaction for the commands that have gathered: runs them, commits once, and only then answers all of
//! them. Savepoints cost a copy of every page, so the commands first run without; when one of them fails, they all run
//! again, each in its own.
//!
//! Always true: a command that fails undoes itself alone; nobody is told "done" before the commit is on disk; after
//! an I/O error nothing is written or acknowledged any more.

use super::{
    checkpoint::Log,
    closed, connection,
    error::{self, DiskFull},
    safeguard::{NoRoom, Safeguard},
    stats::counts::Counts,
    writer::{Hook, RoomUsed, WriteSession, stopped},
};
use crate::{Error, Result};
use domain::Clock;
use rusqlite::Connection;
use std::{
    fs::File,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};
use tokio::sync::{oneshot, watch};
use tracing::{error, warn};

/// What became of the transaction a command ran in.
pub(super) enum Fate {
    Committed,
    /// Undone as a whole, and why.
    Undone(String),
    /// Undone because there is no room on the disk.
    Full(String),
    Unknown(String),
}

pub(super) trait Command: Send {
    /// Does the work and keeps the answer; may be called again after everything was undone.
    fn run(&mut self, session: &mut WriteSession<'_>) -> Result<(), Failed>;
    fn answer(self: Box<Self>, fate: &Fate);
}

/// A command failed; it keeps its own error.
pub(super) struct Failed {
    disk: bool,
    full: bool,
    cause: String,
}

/// A command and where its answer goes. With it goes the work: what that holds is freed by who asked and not by the writer, for whom
/// everybody waits.
pub(super) struct Task<T, F> {
    pub work: F,
    pub done: Option<Result<T>>,
    pub reply: oneshot::Sender<(Result<T>, F)>,
}

impl<T: Send, F: Fn(&mut WriteSession<'_>) -> Result<T> + Send> Command for Task<T, F> {
    fn run(&mut self, session: &mut WriteSession<'_>) -> Result<(), Failed> {
        let done = (self.work)(session);
        let failed = done.as_ref().err().map(|e| Failed {
            disk: error::is_disk_failure(e),
            full: error::is_full(e),
            cause: e.to_string(),
        });
        self.done = Some(done);
        failed.map_or(Ok(()), Err)
    }

    fn answer(self: Box<Self>, fate: &Fate) {
        let answer = match (self.done, fate) {
            (Some(Err(own)), _) => Err(own),
            (Some(Ok(done)), Fate::Committed) => Ok(done),
            (_, Fate::Unknown(cause)) => Err(Error::UnknownCommit(cause.as_str().into())),
            (_, Fate::Undone(cause)) => Err(Error::unavailable(cause.as_str())),
            (_, Fate::Full(cause)) => Err(Error::unavailable(DiskFull(cause.clone()))),
            (None, Fate::Committed) => Err(closed()),
        };
        let _ = self.reply.send((answer, self.work));
    }
}

/// What runs and commits, on whichever thread.
pub(super) struct Core {
    pub conn: Connection,
    pub clock: Arc<dyn Clock>,
    pub poisoned: watch::Sender<bool>,
    /// How many there have been.
    pub commits: Arc<AtomicU64>,
    /// No room was found on the disk since somebody last asked.
    pub full: AtomicBool,
    /// After the connection, which has to be closed first.
    pub safeguard: Option<Box<Safeguard>>,
    /// Held as long as this may write.
    pub _lock: Option<File>,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Core")
    }
}

impl Core {
    /// Runs and commits the commands together, then answers each.
    pub(super) fn run(&self, mut group: Vec<Box<dyn Command>>) {
        let mut after = vec![];
        let fate = self.commit(&mut group, &mut after);
        if matches!(fate, Fate::Committed) {
            after.into_iter().for_each(|hook| hook());
        }
        group.into_iter().for_each(|command| command.answer(&fate));
    }

    /// Moves the log into the file when it has grown enough. What that finds out about the disk, commits are told.
    pub(super) fn keep_short(&self, log: &mut Log) {
        if *self.poisoned.borrow() {
            return;
        }
        if self.was_full() {
            log.shrink();
        }
        match log.keep_short(&self.conn) {
            Ok(moved) => {
                if let (true, Some(safeguard)) = (moved, &self.safeguard) {
                    safeguard.log_moved();
                }
            }
            Err(error) if error::is_disk_failure_of_sqlite(&error) => self.poison(&error.to_string()),
            Err(error) => {
                let cause = &error as &dyn std::error::Error;
                warn!(
                    error = cause,
                    "checkpoint failed, will try again after the next commit"
                );
            }
        }
    }

    fn commit(&self, group: &mut [Box<dyn Command>], after: &mut Vec<Hook>) -> Fate {
        if *self.poisoned.borrow() {
            return Fate::Undone(stopped().to_string());
        }
        let Err(fate) = self.transaction(group, after) else {
            return Fate::Committed;
        };
        if !self.conn.is_autocommit() {
            let _ = connection::rollback(&self.conn);
        }
        fate
    }

    fn transaction(&self, group: &mut [Box<dyn Command>], after: &mut Vec<Hook>) -> Result<(), Fate> {
        let counts = match self.run_together(group, after)? {
            Some(counts) => counts,
            // Undone already, and it keeps its own error.
            None if group.len() == 1 => return Ok(()),
            None => self.run_apart(group, after)?,
        };
        counts.write(&self.conn).map_err(|e| self.judge(&e))?;
        self.take_room()?;
        connection::commit(&self.conn).map_err(|error| {
            let fate = self.judge(&error);
            match error::is_disk_failure_of_sqlite(&error) {
                true => Fate::Unknown(error.to_string()),
                false => fate,
            }
        })?;
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.still_there()
    }

    fn take_room(&self) -> Result<(), Fate> {
        let Some(safeguard) = &self.safeguard else {
            return Ok(());
        };
        safeguard.take_room(&self.conn).map_err(|none| match none {
            NoRoom::Sqlite(error) => self.judge(&error),
            NoRoom::Disk(error) => {
                self.full.store(true, Ordering::Relaxed);
                Fate::Full(error.to_string())
            }
        })
    }

    /// What was committed to a file that is not at its path any more is not to be acknowledged.
    fn still_there(&self) -> Result<(), Fate> {
        let Some(safeguard) = &self.safeguard else {
            return Ok(());
        };
        safeguard.still_there().map_err(|why| {
            self.poison(&why);
            safeguard.rescue(&self.conn, self.clock.now());
            Fate::Unknown(why)
        })
    }

    /// None when a command failed and everything is undone.
    fn run_together(
        &self,
        group: &mut [Box<dyn Command>],
        after: &mut Vec<Hook>,
    ) -> Result<Option<Counts>, Fate> {
        connection::begin(&self.conn).map_err(|e| self.judge(&e))?;
        let mut counts = Counts::default();
        let mut room = RoomUsed::default();
        for command in group {
            if let Err(failed) = self.run_one(command.as_mut(), &mut counts, &mut room, after) {
                after.clear();
                self.unless_disk(&failed)?;
                // Where the disk is full, SQLite has undone the transaction by itself.
                if !self.conn.is_autocommit() {
                    connection::rollback(&self.conn).map_err(|e| self.judge(&e))?;
                }
                return Ok(None);
            }
        }
        Ok(Some(counts))
    }

    fn run_apart(&self, group: &mut [Box<dyn Command>], after: &mut Vec<Hook>) -> Result<Counts, Fate> {
        let undone = |error: rusqlite::Error| self.judge(&error);
        connection::begin(&self.conn).map_err(undone)?;
        let mut counts = Counts::default();
        let mut room = RoomUsed::default();
        for command in group {
            connection::savepoint(&self.conn).map_err(undone)?;
            let mut own = Counts::default();
            let (kept, before) = (after.len(), room);
            if let Err(failed) = self.run_one(command.as_mut(), &mut own, &mut room, after) {
                after.truncate(kept);
                room = before;
                self.unless_disk(&failed)?;
                if self.conn.is_autocommit() {
                    return Err(match failed.full {
                        true => Fate::Full(failed.cause),
                        false => Fate::Undone(failed.cause),
                    });
                }
                connection::undo_savepoint(&self.conn).map_err(undone)?;
            } else {
                connection::keep_savepoint(&self.conn).map_err(undone)?;
                counts.add(own);
            }
        }
        Ok(counts)
    }

    fn run_one(
        &self,
        command: &mut dyn Command,
        counts: &mut Counts,
        room: &mut RoomUsed,
        after: &mut Vec<Hook>,
    ) -> Result<(), Failed> {
        command.run(&mut WriteSession {
            conn: &self.conn,
            now: self.clock.now(),
            counts,
            room,
            after,
            empty_log: &self.full,
        })
    }

    /// Whether no room was found on the disk since this was last asked.
    fn was_full(&self) -> bool {
        self.full.swap(false, Ordering::Relaxed)
    }

    fn unless_disk(&self, failed: &Failed) -> Result<(), Fate> {
        self.full.fetch_or(failed.full, Ordering::Relaxed);
        if !failed.disk {
            return Ok(());
        }
        self.poison(&failed.cause);
        Err(Fate::Undone(failed.cause.clone()))
    }

    /// What the error comes to; stops the writer for good if the disk is no longer to be believed.
    fn judge(&self, error: &rusqlite::Error) -> Fate {
        let cause = error.to_string();
        if error::is_disk_failure_of_sqlite(error) {
            self.poison(&cause);
        }
        match error::is_full_of_sqlite(error) {
            true => {
                self.full.store(true, Ordering::Relaxed);
                Fate::Full(cause)
            }
            false => Fate::Undone(cause),
        }
    }

    fn poison(&self, cause: &str) {
        error!(
            error = cause,
            "the disk failed under the store; nothing is acknowledged from here on"
        );
        self.poisoned.send_replace(true);
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        if *self.poisoned.borrow() {
            connection::leave_log(&self.conn);
        }
    }
}
