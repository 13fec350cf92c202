//! The handle to the one that writes ([`super::transaction`]), on a thread of its own ([`super::writer_thread`]) or
//! inline: sends it commands and waits for their answers.

use super::{
    checkpoint::Log,
    closed,
    connection::{self, Caches},
    safeguard::Safeguard,
    stats::counts::Counts,
    transaction::{Core, Task},
    under_way::UnderWay,
    writer_thread::{Thread, Weighted},
};
use crate::{Error, Result};
use domain::{Clock, Timestamp, lock::lock};
use rusqlite::Connection;
use std::{
    fs::File,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::sync::{
    mpsc,
    oneshot::{self, error::TryRecvError},
    watch,
};

/// Commands that may wait; further callers wait to be let in.
const QUEUED_COMMANDS: usize = 1024;
/// How long a commit takes on a fast disk.
const FAST_COMMIT: Duration = Duration::from_micros(400);
/// A caller that met nobody else so many times in a row is taken to be alone.
const LONE_CALLER_AFTER: usize = 16;

/// What a command works with.
pub(crate) struct WriteSession<'a> {
    pub conn: &'a Connection,
    /// The store's clock, asked once for the command.
    pub now: Timestamp,
    pub counts: &'a mut Counts,
    /// What commands of the same transaction have taken and freed so far; undone with them.
    pub room: &'a mut RoomUsed,
    pub(super) after: &'a mut Vec<Hook>,
    pub(super) empty_log: &'a AtomicBool,
}

/// Bytes that a transaction took and freed, of which nobody else knows before its commit.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RoomUsed {
    pub taken: u64,
    pub freed: u64,
}

pub(super) type Hook = Box<dyn FnOnce() + Send>;

impl WriteSession<'_> {
    /// Runs once what this command did is on disk, whether or not anybody still waits for the answer; never if
    /// it is undone.
    pub fn after_commit(&mut self, hook: impl FnOnce() + Send + 'static) {
        self.after.push(Box::new(hook));
    }

    /// Runs a part of the command that undoes itself alone when it fails. Costs a copy of every page it writes.
    pub fn apart<T>(&mut self, work: impl FnOnce(&mut WriteSession<'_>) -> Result<T>) -> Result<T> {
        connection::savepoint(self.conn)?;
        let mut counts = Counts::default();
        let (hooks, room) = (self.after.len(), *self.room);
        let done = work(&mut WriteSession {
            conn: self.conn,
            now: self.now,
            counts: &mut counts,
            room: self.room,
            after: self.after,
            empty_log: self.empty_log,
        });
        if done.is_ok() {
            connection::keep_savepoint(self.conn)?;
            self.counts.add(counts);
        } else {
            self.after.truncate(hooks);
            *self.room = room;
            // Where the disk is full, SQLite has undone the transaction by itself.
            if !self.conn.is_autocommit() {
                connection::undo_savepoint(self.conn)?;
            }
        }
        done
    }

    /// After this commit the log is moved into the file, whatever its length: only then the disk has what was given back.
    pub fn empty_log(&self) {
        self.empty_log.store(true, Ordering::Relaxed);
    }
}

/// How a file is looked after on a machine nobody looks after; see [`Safeguard`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guarded {
    /// The log's file is kept at least so long.
    pub log_floor: u64,
}

/// The handle to the writer.
#[derive(Debug)]
pub(crate) struct Writer {
    mode: Mode,
    poisoned: watch::Sender<bool>,
    commits: Arc<AtomicU64>,
    /// Of the thread; a writer without one answers before it returns.
    under_way: UnderWay,
    callers: Callers,
}

/// Who waits for an answer.
#[derive(Debug, Default)]
struct Callers {
    now: AtomicUsize,
    /// How many in a row came while nobody else waited.
    alone: AtomicUsize,
}

/// One who waits, for as long as it does.
struct Caller<'a>(&'a Callers);

impl Callers {
    fn one_more(&self) -> Caller<'_> {
        if self.now.fetch_add(1, Ordering::Relaxed) == 0 {
            self.alone.fetch_add(1, Ordering::Relaxed);
        } else {
            self.alone.store(0, Ordering::Relaxed);
        }
        Caller(self)
    }
}

impl Caller<'_> {
    fn is_alone(&self) -> bool {
        self.0.alone.load(Ordering::Relaxed) >= LONE_CALLER_AFTER
    }

    /// Waits for the answer. A lone caller polls for the time of a fast commit, yielding to everybody else, before it
    /// sleeps: being woken takes a good part of a commit.
    async fn answer<T>(&self, mut answer: oneshot::Receiver<T>) -> Result<T, oneshot::error::RecvError> {
        let until = Instant::now() + FAST_COMMIT;
        while self.is_alone() && Instant::now() < until {
            match answer.try_recv() {
                Err(TryRecvError::Empty) => {
                    std::thread::yield_now();
                    tokio::task::yield_now().await;
                }
                Ok(answer) => return Ok(answer),
                Err(TryRecvError::Closed) => break,
            }
        }
        answer.await
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::Relaxed);
    }
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

impl Writer {
    pub(crate) fn start(
        path: &Path,
        clock: Arc<dyn Clock>,
        lock: Option<File>,
        caches: Caches,
        guarded: Option<Guarded>,
    ) -> Result<Self> {
        let (commands, waiting) = mpsc::channel(QUEUED_COMMANDS);
        let (poisoned, commits) = (watch::Sender::new(false), Arc::default());
        let under_way = UnderWay::new();
        let conn = connection::writer(path, caches)?;
        let safeguard = match guarded {
            Some(_) => {
                let lock = lock.as_ref().and_then(|lock| lock.try_clone().ok());
                Some(Box::new(Safeguard::of(path, &conn, lock)?))
            }
            None => None,
        };
        let thread = Thread {
            core: Core {
                conn,
                clock,
                poisoned: poisoned.clone(),
                commits: Arc::clone(&commits),
                full: AtomicBool::default(),
                safeguard,
                _lock: lock,
            },
            waiting,
            log: guarded.map_or_else(
                || Log::of(path),
                |guarded| Log::with_floor(path, guarded.log_floor),
            ),
            under_way: under_way.clone(),
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
            commits,
            under_way,
            callers: Callers::default(),
        })
    }

    /// A writer without a thread of its own.
    pub(crate) fn inline(path: &Path, clock: Arc<dyn Clock>, lock: Option<File>) -> Result<Self> {
        let (poisoned, commits) = (watch::Sender::new(false), Arc::default());
        let core = Core {
            conn: connection::simulated(path)?,
            clock,
            poisoned: poisoned.clone(),
            commits: Arc::clone(&commits),
            full: AtomicBool::default(),
            safeguard: None,
            _lock: lock,
        };
        Ok(Self {
            mode: Mode::Inline(Mutex::new(Some(core))),
            poisoned,
            commits,
            under_way: UnderWay::new(),
            callers: Callers::default(),
        })
    }

    pub(crate) fn poisoned(&self) -> watch::Receiver<bool> {
        self.poisoned.subscribe()
    }

    /// Nothing is written or acknowledged any more: somebody else found out that the disk cannot be believed.
    pub(crate) fn poison(&self, cause: &str) {
        if !self.poisoned.send_replace(true) {
            tracing::error!(
                error = cause,
                "the disk failed under the store; nothing is acknowledged from here on"
            );
        }
    }

    /// How often something was written since this was opened; many commands may have shared one.
    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// For how long what was taken last has been written by now; none while nothing is.
    pub(crate) fn writing_for(&self) -> Option<Duration> {
        self.under_way.lasts()
    }

    /// For how long there has been nothing to write; none while something is.
    pub(crate) fn idle_for(&self) -> Option<Duration> {
        self.under_way.idle()
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
        work: impl Fn(&mut WriteSession<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.check()?;
        let caller = self.callers.one_more();
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
        match caller.answer(answer).await {
            Ok((answer, _work)) => answer,
            Err(_) => Err(Error::UnknownCommit("the writer stopped".into())),
        }
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

/// What later writes are told after the disk failed.
pub(super) fn stopped() -> Error {
    Error::unavailable("the writer stopped after an I/O error; what is on disk is unknown until a restart")
}
