//! The one thread that writes. It takes the commands that have gathered, runs them in one transaction, commits once,
//! and only then answers all of them. Savepoints cost a copy of every page, so the commands first run without; when
//! one of them fails, they all run again, each in its own.
//!
//! Always true: a command that fails undoes itself alone; nobody is told "done" before the commit is on disk; after
//! an I/O error nothing is written or acknowledged any more.

use super::{checkpoint::Checkpointer, closed, connection, error, stats::Counts};
use crate::{Error, Result};
use domain::{Clock, Timestamp};
use rusqlite::Connection;
use std::{
    fs::File,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};
use tokio::sync::{mpsc, oneshot, watch};
use tracing::error;

/// Commands that may wait; further callers wait to be let in.
const WAITING: usize = 1024;
/// About how many rows one commit takes on before it answers.
const GROUP: usize = 5_000;

/// What a command works with.
pub(super) struct Session<'a> {
    pub conn: &'a Connection,
    /// The store's clock, asked once for the command.
    pub now: Timestamp,
    pub counts: &'a mut Counts,
}

/// The handle to the writer thread.
#[derive(Debug)]
pub(super) struct Writer {
    commands: Mutex<Option<mpsc::Sender<Weighted>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    poisoned: watch::Sender<bool>,
}

struct Weighted {
    weight: usize,
    command: Box<dyn Command>,
}

impl Writer {
    pub(super) fn start(path: &Path, clock: Arc<dyn Clock>, lock: Option<File>) -> Result<Self> {
        let (commands, waiting) = mpsc::channel(WAITING);
        let poisoned = watch::Sender::new(false);
        let thread = Thread {
            conn: connection::writer(path)?,
            clock,
            waiting,
            poisoned: poisoned.clone(),
            checkpointer: Checkpointer::start(path, poisoned.clone())?,
            _lock: lock,
        };
        let thread = std::thread::Builder::new()
            .name("waypost-writer".into())
            .spawn(move || thread.serve())
            .map_err(Error::unavailable)?;
        Ok(Self {
            commands: Mutex::new(Some(commands)),
            thread: Mutex::new(Some(thread)),
            poisoned,
        })
    }

    pub(super) fn poisoned(&self) -> watch::Receiver<bool> {
        self.poisoned.subscribe()
    }

    /// Commands that nobody has begun.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.lock_commands()
            .as_ref()
            .map_or(0, |c| c.max_capacity() - c.capacity())
    }

    /// Whether writes are still taken, and why not.
    pub(super) fn check(&self) -> Result<()> {
        if *self.poisoned.borrow() {
            Err(stopped())
        } else {
            Ok(())
        }
    }

    pub(super) async fn write<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl Fn(&mut Session<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let command = Box::new(Task {
            work,
            done: None,
            reply,
        });
        let commands = self.lock_commands().clone().ok_or_else(closed)?;
        let sent = commands.send(Weighted { weight, command }).await;
        sent.map_err(|_| stopped())?;
        // The thread answers everything it has taken, unless it died in between.
        answer
            .await
            .unwrap_or_else(|_| Err(Error::UnknownCommit("the writer stopped".into())))
    }

    /// Finishes what was sent and closes the file.
    pub(super) async fn close(&self) {
        self.lock_commands().take();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }

    fn lock_commands(&self) -> std::sync::MutexGuard<'_, Option<mpsc::Sender<Weighted>>> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.lock_commands().take();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

fn stopped() -> Error {
    Error::unavailable("the writer stopped after an I/O error; what is on disk is unknown until a restart")
}

/// What became of the transaction a command ran in.
enum Fate {
    Committed,
    /// Undone as a whole, and why.
    Undone(String),
    Unknown(String),
}

trait Command: Send {
    /// Does the work and keeps the answer; may be called again after everything was undone.
    fn run(&mut self, session: &mut Session<'_>) -> Result<(), Failed>;
    fn answer(self: Box<Self>, fate: &Fate);
}

/// A command failed; it keeps its own error.
struct Failed {
    disk: bool,
    cause: String,
}

struct Task<T, F> {
    work: F,
    done: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
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

struct Thread {
    conn: Connection,
    clock: Arc<dyn Clock>,
    waiting: mpsc::Receiver<Weighted>,
    poisoned: watch::Sender<bool>,
    checkpointer: Checkpointer,
    /// Held as long as this thread may write.
    _lock: Option<File>,
}

impl Thread {
    fn serve(mut self) {
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
