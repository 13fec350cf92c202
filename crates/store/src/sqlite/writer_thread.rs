//! The one thread that writes. It takes the commands that have gathered, runs them in one transaction, commits once,
//! and only then answers all of them. Savepoints cost a copy of every page, so the commands first run without; when
//! one of them fails, they all run again, each in its own.
//!
//! Always true: a command that fails undoes itself alone; nobody is told "done" before the commit is on disk; after
//! an I/O error nothing is written or acknowledged any more.

use super::{
    checkpoint::Checkpointer,
    closed, connection, error,
    stats::Counts,
    writer::{Session, stopped},
};
use crate::{Error, Result};
use domain::Clock;
use rusqlite::Connection;
use std::{fs::File, sync::Arc};
use tokio::sync::{mpsc, oneshot, watch};
use tracing::error;

/// About how many rows one commit takes on before it answers.
const GROUP: usize = 5_000;

/// A command and about how many rows it touches.
pub(super) struct Weighted {
    pub weight: usize,
    pub command: Box<dyn Command>,
}

/// What became of the transaction a command ran in.
pub(super) enum Fate {
    Committed,
    /// Undone as a whole, and why.
    Undone(String),
    Unknown(String),
}

pub(super) trait Command: Send {
    /// Does the work and keeps the answer; may be called again after everything was undone.
    fn run(&mut self, session: &mut Session<'_>) -> Result<(), Failed>;
    fn answer(self: Box<Self>, fate: &Fate);
}

/// A command failed; it keeps its own error.
pub(super) struct Failed {
    disk: bool,
    cause: String,
}

/// A command and where its answer goes.
pub(super) struct Task<T, F> {
    pub work: F,
    pub done: Option<Result<T>>,
    pub reply: oneshot::Sender<Result<T>>,
}

impl<T: Send, F: Fn(&mut Session<'_>) -> Result<T> + Send> Command for Task<T, F> {
    fn run(&mut self, session: &mut Session<'_>) -> Result<(), Failed> {
        let done = (self.work)(session);
        let failed = done.as_ref().err().map(|e| Failed {
            disk: error::is_disk_failure(e),
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
            (None, Fate::Committed) => Err(closed()),
        };
        let _ = self.reply.send(answer);
    }
}

pub(super) struct Thread {
    pub conn: Connection,
    pub clock: Arc<dyn Clock>,
    pub waiting: mpsc::Receiver<Weighted>,
    pub poisoned: watch::Sender<bool>,
    pub checkpointer: Checkpointer,
    /// Held as long as this thread may write.
    pub _lock: Option<File>,
}

impl Thread {
    /// Runs until the last sender is gone.
    pub(super) fn serve(mut self) {
        let _guard = PoisonOnPanic(self.poisoned.clone());
        while let Some(first) = self.waiting.blocking_recv() {
            let mut weight = first.weight;
            let mut group = vec![first.command];
            while weight < GROUP
                && let Ok(next) = self.waiting.try_recv()
            {
                weight += next.weight;
                group.push(next.command);
            }
            let fate = self.commit(&mut group);
            group.into_iter().for_each(|command| command.answer(&fate));
            self.checkpointer.committed();
        }
        if *self.poisoned.borrow() {
            connection::leave_log(&self.conn);
        }
    }

    fn commit(&self, group: &mut [Box<dyn Command>]) -> Fate {
        if *self.poisoned.borrow() {
            return Fate::Undone(stopped().to_string());
        }
        let Err(fate) = self.transaction(group) else {
            return Fate::Committed;
        };
        if !self.conn.is_autocommit() {
            let _ = connection::rollback(&self.conn);
        }
        fate
    }

    fn transaction(&self, group: &mut [Box<dyn Command>]) -> Result<(), Fate> {
        let counts = match self.run_together(group)? {
            Some(counts) => counts,
            // Undone already, and it keeps its own error.
            None if group.len() == 1 => return Ok(()),
            None => self.run_apart(group)?,
        };
        counts.write(&self.conn).map_err(|e| self.undone(&e))?;
        connection::commit(&self.conn).map_err(|error| {
            let cause = self.judge(&error);
            match error::is_disk_failure_of_sqlite(&error) {
                true => Fate::Unknown(cause),
                false => Fate::Undone(cause),
            }
        })
    }

    /// None when a command failed and everything is undone.
    fn run_together(&self, group: &mut [Box<dyn Command>]) -> Result<Option<Counts>, Fate> {
        connection::begin(&self.conn).map_err(|e| self.undone(&e))?;
        let mut counts = Counts::default();
        for command in group {
            if let Err(failed) = self.run(command.as_mut(), &mut counts) {
                self.unless_disk(&failed)?;
                // Where the disk is full, SQLite has undone the transaction by itself.
                if !self.conn.is_autocommit() {
                    connection::rollback(&self.conn).map_err(|e| self.undone(&e))?;
                }
                return Ok(None);
            }
        }
        Ok(Some(counts))
    }

    fn run_apart(&self, group: &mut [Box<dyn Command>]) -> Result<Counts, Fate> {
        let undone = |error: rusqlite::Error| self.undone(&error);
        connection::begin(&self.conn).map_err(undone)?;
        let mut counts = Counts::default();
        for command in group {
            connection::savepoint(&self.conn).map_err(undone)?;
            let mut own = Counts::default();
            if let Err(failed) = self.run(command.as_mut(), &mut own) {
                self.unless_disk(&failed)?;
                if self.conn.is_autocommit() {
                    return Err(Fate::Undone(failed.cause));
                }
                connection::undo_savepoint(&self.conn).map_err(undone)?;
            } else {
                connection::keep_savepoint(&self.conn).map_err(undone)?;
                counts.add(own);
            }
        }
        Ok(counts)
    }

    fn run(&self, command: &mut dyn Command, counts: &mut Counts) -> Result<(), Failed> {
        command.run(&mut Session {
            conn: &self.conn,
            now: self.clock.now(),
            counts,
        })
    }

    fn unless_disk(&self, failed: &Failed) -> Result<(), Fate> {
        if !failed.disk {
            return Ok(());
        }
        self.poison(&failed.cause);
        Err(Fate::Undone(failed.cause.clone()))
    }

    fn undone(&self, error: &rusqlite::Error) -> Fate {
        Fate::Undone(self.judge(error))
    }

    /// The cause in words; stops the writer for good if the disk is no longer to be believed.
    fn judge(&self, error: &rusqlite::Error) -> String {
        let cause = error.to_string();
        if error::is_disk_failure_of_sqlite(error) {
            self.poison(&cause);
        }
        cause
    }

    fn poison(&self, cause: &str) {
        error!(
            error = cause,
            "the disk failed under the store; nothing is acknowledged from here on"
        );
        self.poisoned.send_replace(true);
    }
}

/// A writer that dies of a bug is as good as one whose disk failed.
struct PoisonOnPanic(watch::Sender<bool>);

impl Drop for PoisonOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.send_replace(true);
        }
    }
}
