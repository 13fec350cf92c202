//! The one that writes, on a thread of its own. It takes the commands that have gathered, runs them in one
//! transaction, commits once, and only then answers all of them. Savepoints cost a copy of every page, so the commands
//! first run without; when one of them fails, they all run again, each in its own.
//!
//! Always true: a command that fails undoes itself alone; nobody is told "done" before the commit is on disk; after
//! an I/O error nothing is written or acknowledged any more.

use super::{
    checkpoint::Checkpointer,
    closed,
    connection::{self, Caches},
    error::{self, DiskFull},
    stats::Counts,
};
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
pub(crate) struct Session<'a> {
    pub conn: &'a Connection,
    /// The store's clock, asked once for the command.
    pub now: Timestamp,
    pub counts: &'a mut Counts,
    /// What commands of the same transaction have noted so far; undone with them.
    pub noted: &'a mut u64,
    after: &'a mut Vec<Hook>,
}

type Hook = Box<dyn FnOnce() + Send>;

impl Session<'_> {
    /// Runs once what this command did is on disk, whether or not anybody still waits for the answer; never if
    /// it is undone.
    pub fn after_commit(&mut self, hook: impl FnOnce() + Send + 'static) {
        self.after.push(Box::new(hook));
    }
}

/// The handle to the writer.
#[derive(Debug)]
pub(crate) struct Writer {
    mode: Mode,
    poisoned: watch::Sender<bool>,
}

#[derive(Debug)]
enum Mode {
    Thread {
        commands: Mutex<Option<mpsc::Sender<Weighted>>>,
        thread: Mutex<Option<JoinHandle<()>>>,
    },
    /// Every command is run and committed where it is asked for: slower, and the same every time. For simulations.
    Inline(Mutex<Option<Core>>),
}

struct Weighted {
    weight: usize,
    command: Box<dyn Command>,
}

impl Writer {
    pub(crate) fn start(
        path: &Path,
        clock: Arc<dyn Clock>,
        lock: Option<File>,
        caches: Caches,
    ) -> Result<Self> {
        let (commands, waiting) = mpsc::channel(WAITING);
        let poisoned = watch::Sender::new(false);
        let thread = Thread {
            core: Core {
                conn: connection::writer(path, caches)?,
                clock,
                poisoned: poisoned.clone(),
                _lock: lock,
            },
            waiting,
            checkpointer: Checkpointer::start(path, caches)?,
        };
        let thread = std::thread::Builder::new()
            .name("waypost-writer".into())
            .spawn(move || thread.serve())
            .map_err(Error::unavailable)?;
        Ok(Self {
            mode: Mode::Thread {
                commands: Mutex::new(Some(commands)),
                thread: Mutex::new(Some(thread)),
            },
            poisoned,
        })
    }

    /// A writer without a thread of its own.
    pub(crate) fn inline(path: &Path, clock: Arc<dyn Clock>, lock: Option<File>) -> Result<Self> {
        let poisoned = watch::Sender::new(false);
        let core = Core {
            conn: connection::simulated(path)?,
            clock,
            poisoned: poisoned.clone(),
            _lock: lock,
        };
        Ok(Self {
            mode: Mode::Inline(Mutex::new(Some(core))),
            poisoned,
        })
    }

    pub(crate) fn poisoned(&self) -> watch::Receiver<bool> {
        self.poisoned.subscribe()
    }

    /// Commands that nobody has begun.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        match &self.mode {
            Mode::Thread { commands, .. } => lock(commands)
                .as_ref()
                .map_or(0, |c| c.max_capacity() - c.capacity()),
            Mode::Inline(_) => 0,
        }
    }

    /// Whether writes are still taken, and why not.
    pub(crate) fn check(&self) -> Result<()> {
        if *self.poisoned.borrow() {
            Err(stopped())
        } else {
            Ok(())
        }
    }

    pub(crate) async fn write<T: Send + 'static>(
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
        match &self.mode {
            Mode::Thread { commands, .. } => {
                let commands = lock(commands).clone().ok_or_else(closed)?;
                let sent = commands.send(Weighted { weight, command }).await;
                sent.map_err(|_| stopped())?;
            }
            Mode::Inline(core) => {
                let core = lock(core);
                core.as_ref().ok_or_else(closed)?.run(vec![command]);
            }
        }
        // The thread answers everything it has taken, unless it died in between.
        answer
            .await
            .unwrap_or_else(|_| Err(Error::UnknownCommit("the writer stopped".into())))
    }

    /// Finishes what was sent and closes the file.
    pub(crate) async fn close(&self) {
        if let Some(thread) = self.end() {
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
    }

    fn end(&self) -> Option<JoinHandle<()>> {
        match &self.mode {
            Mode::Thread { commands, thread } => {
                lock(commands).take();
                lock(thread).take()
            }
            Mode::Inline(core) => {
                lock(core).take();
                None
            }
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(thread) = self.end() {
            let _ = thread.join();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn stopped() -> Error {
    Error::unavailable("the writer stopped after an I/O error; what is on disk is unknown until a restart")
}

/// What became of the transaction a command ran in.
enum Fate {
    Committed,
    /// Undone as a whole, and why.
    Undone(String),
    /// Undone because there is no room on the disk.
    Full(String),
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
    full: bool,
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
        let _ = self.reply.send(answer);
    }
}

struct Thread {
    core: Core,
    waiting: mpsc::Receiver<Weighted>,
    checkpointer: Checkpointer,
}

impl Thread {
    fn serve(mut self) {
        let _guard = PoisonOnPanic(self.core.poisoned.clone());
        while let Some(first) = self.waiting.blocking_recv() {
            let mut weight = first.weight;
            let mut group = vec![first.command];
            while weight < GROUP
                && let Ok(next) = self.waiting.try_recv()
            {
                weight += next.weight;
                group.push(next.command);
            }
            self.core.run(group);
            self.checkpointer.committed();
        }
    }
}

/// What runs and commits, on whichever thread.
struct Core {
    conn: Connection,
    clock: Arc<dyn Clock>,
    poisoned: watch::Sender<bool>,
    /// Held as long as this may write.
    _lock: Option<File>,
}

impl std::fmt::Debug for Core {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Core")
    }
}

impl Core {
    /// Runs and commits the commands together, then answers each.
    fn run(&self, mut group: Vec<Box<dyn Command>>) {
        let mut after = vec![];
        let fate = self.commit(&mut group, &mut after);
        if matches!(fate, Fate::Committed) {
            after.into_iter().for_each(|hook| hook());
        }
        group.into_iter().for_each(|command| command.answer(&fate));
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
        connection::commit(&self.conn).map_err(|error| {
            let fate = self.judge(&error);
            match error::is_disk_failure_of_sqlite(&error) {
                true => Fate::Unknown(error.to_string()),
                false => fate,
            }
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
        let mut noted = 0;
        for command in group {
            if let Err(failed) = self.run_one(command.as_mut(), &mut counts, &mut noted, after) {
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
        let mut noted = 0;
        for command in group {
            connection::savepoint(&self.conn).map_err(undone)?;
            let mut own = Counts::default();
            let (kept, before) = (after.len(), noted);
            if let Err(failed) = self.run_one(command.as_mut(), &mut own, &mut noted, after) {
                after.truncate(kept);
                noted = before;
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
        noted: &mut u64,
        after: &mut Vec<Hook>,
    ) -> Result<(), Failed> {
        command.run(&mut Session {
            conn: &self.conn,
            now: self.clock.now(),
            counts,
            noted,
            after,
        })
    }

    fn unless_disk(&self, failed: &Failed) -> Result<(), Fate> {
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
            true => Fate::Full(cause),
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

/// A writer that dies of a bug is as good as one whose disk failed.
struct PoisonOnPanic(watch::Sender<bool>);

impl Drop for PoisonOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.send_replace(true);
        }
    }
}
