//! The one thread that writes. It takes the commands that have gathered, runs each in its own savepoint inside one
//! transaction, commits once, and only then answers all of them.
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
            checkpointer: Checkpointer::start(path)?,
            _lock: lock,
        };
        let thread = std::thread::Builder::new()
            .name("waypost-writer".into())
            .spawn(move || thread.run())
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
        work: impl FnOnce(&mut Session<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (reply, answer) = oneshot::channel();
        let command = Box::new(Task {
            work: Some(work),
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
    /// Does the work and keeps the answer. An error undoes this command only.
    fn run(&mut self, session: &mut Session<'_>) -> Result<(), Failed>;
    fn answer(self: Box<Self>, fate: &Fate);
}

/// A command failed; it keeps its own error.
struct Failed {
    disk: bool,
    cause: String,
}

struct Task<T, F> {
    work: Option<F>,
    done: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
}

impl<T: Send, F: FnOnce(&mut Session<'_>) -> Result<T> + Send> Command for Task<T, F> {
    fn run(&mut self, session: &mut Session<'_>) -> Result<(), Failed> {
        let Some(work) = self.work.take() else {
            return Ok(());
        };
        let done = work(session);
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
    fn run(mut self) {
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
    }

    fn commit(&self, group: &mut [Box<dyn Command>]) -> Fate {
        if *self.poisoned.borrow() {
            return Fate::Undone(stopped().to_string());
        }
        if let Err(error) = connection::begin(&self.conn) {
            return Fate::Undone(self.judge(&error));
        }
        let mut counts = Counts::default();
        for command in group.iter_mut() {
            if let Err(fate) = self.run_one(command.as_mut(), &mut counts) {
                let _ = connection::rollback(&self.conn);
                return fate;
            }
        }
        let written = counts.write(&self.conn);
        match written.and_then(|()| connection::commit(&self.conn)) {
            Ok(()) => Fate::Committed,
            Err(error) => {
                let cause = self.judge(&error);
                let _ = connection::rollback(&self.conn);
                match *self.poisoned.borrow() {
                    true => Fate::Unknown(cause),
                    false => Fate::Undone(cause),
                }
            }
        }
    }

    /// Runs a command in its savepoint. An error here is one that ends the whole transaction.
    fn run_one(&self, command: &mut dyn Command, counts: &mut Counts) -> Result<(), Fate> {
        let undone = |error: rusqlite::Error| Fate::Undone(self.judge(&error));
        connection::savepoint(&self.conn).map_err(undone)?;
        let mut own = Counts::default();
        let mut session = Session {
            conn: &self.conn,
            now: self.clock.now(),
            counts: &mut own,
        };
        let Err(failed) = command.run(&mut session) else {
            counts.add(own);
            return connection::keep_savepoint(&self.conn).map_err(undone);
        };
        if failed.disk {
            self.poison(&failed.cause);
        }
        // Where the disk is full, SQLite has undone the whole transaction, the savepoint with it.
        if failed.disk || self.conn.is_autocommit() {
            return Err(Fate::Undone(failed.cause));
        }
        connection::undo_savepoint(&self.conn).map_err(undone)
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
