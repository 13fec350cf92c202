//! Moves the write-ahead log into the database file, on a thread and a connection of its own, so that commits do
//! not wait for it. Only when the log has grown past a bound do they, briefly, while it is emptied.
//!
//! Always true: a disk that fails here stops the writer too. The system forgets what it could not write, so a later
//! checkpoint would seem to succeed and let go of a log that is still needed.

use super::{
    connection::{self, Caches},
    error::is_disk_failure_of_sqlite,
};
use crate::Result;
use rusqlite::Connection;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::Duration,
};
use tokio::sync::watch;
use tracing::{error, warn};

/// At most this often; what a crash then has to replay is about this much work.
const PACE: Duration = Duration::from_millis(500);
const LOG_BOUND: u64 = 64 << 20;
/// How long commits may be kept waiting for a reader.
const PATIENCE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(crate) struct Checkpointer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    dirty: bool,
    /// The disk is full: the log is to give back its room.
    shrink: bool,
    stop: bool,
}

impl Checkpointer {
    pub(crate) fn start(path: &Path, caches: Caches, poisoned: watch::Sender<bool>) -> Result<Self> {
        let mut log = Log::new(path, LOG_BOUND)?;
        connection::keep_pages(&log.conn, caches.reader)?;
        let shared = Arc::new(Shared::default());
        let seen = shared.clone();
        let thread = std::thread::Builder::new()
            .name("waypost-checkpoint".into())
            .spawn(move || run(&mut log, &seen, &poisoned))
            .map_err(crate::Error::unavailable)?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// There is something new in the log.
    pub(crate) fn committed(&self) {
        let mut state = self.shared.lock();
        if !state.dirty {
            state.dirty = true;
            self.shared.changed.notify_one();
        }
    }

    /// The disk is full: whatever its size, the log is emptied and gives its room back.
    pub(crate) fn shrink(&self) {
        self.shared.lock().shrink = true;
        self.committed();
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run(log: &mut Log, shared: &Shared, poisoned: &watch::Sender<bool>) {
    loop {
        let waited = shared.changed.wait_while(shared.lock(), |s| !s.dirty && !s.stop);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.stop {
            break;
        }
        state.dirty = false;
        let shrink = std::mem::take(&mut state.shrink);
        drop(state);
        if shrink {
            log.next = 0;
        }
        match log.checkpoint() {
            Ok(()) => {}
            Err(error) if is_disk_failure_of_sqlite(&error) => {
                let cause = &error as &dyn std::error::Error;
                error!(
                    error = cause,
                    "the disk failed at a checkpoint; nothing is acknowledged from here on"
                );
                poisoned.send_replace(true);
                break;
            }
            Err(error) => {
                let cause = &error as &dyn std::error::Error;
                warn!(
                    error = cause,
                    "checkpoint failed, will try again after the next commit"
                );
            }
        }
        let _ = shared
            .changed
            .wait_timeout_while(shared.lock(), PACE, |s| !s.stop);
    }
    if *poisoned.borrow() {
        connection::leave_log(&log.conn);
    }
}

/// The log, and when it is emptied at the expense of commits.
struct Log {
    conn: Connection,
    path: PathBuf,
    bound: u64,
    next: u64,
}

impl Log {
    fn new(path: &Path, bound: u64) -> Result<Self> {
        let conn = connection::read_write(path)?;
        // While the log is emptied commits wait, so a reader that stays must not be waited for.
        conn.busy_timeout(PATIENCE)?;
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        Ok(Self {
            conn,
            path: log.into(),
            bound,
            next: bound,
        })
    }

    fn checkpoint(&mut self) -> rusqlite::Result<()> {
        connection::checkpoint_passive(&self.conn)?;
        let size = std::fs::metadata(&self.path).map_or(0, |m| m.len());
        if size > self.next {
            let emptied = connection::checkpoint_truncate(&self.conn)?;
            // Somebody reads an old state, a backup perhaps: not again before the log has grown as much once more.
            self.next = if emptied { self.bound } else { size + self.bound };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::SqliteStore;
    use domain::ManualClock;

    #[tokio::test]
    async fn a_reader_that_stays_keeps_the_log_but_stops_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("waypost.db");
        let store = SqliteStore::open(&path, Arc::new(ManualClock::default())).unwrap();
        let mut log = Log::new(&path, 1).unwrap();
        let reader = connection::reader(&path, Caches::CENTRAL).unwrap();
        connection::begin_read(&reader).unwrap();
        crate::sqlite::open::schema_version(&reader).unwrap();
        let change = async |name: &str| {
            use crate::Directory;
            store.create_tenant(name, &domain::Actor::system()).await.unwrap();
        };
        change("a").await;
        log.checkpoint().unwrap();
        assert!(
            log.next > 1,
            "it could not be emptied and is left alone for a while"
        );
        change("b").await;
        connection::rollback(&reader).unwrap();
        log.next = 1;
        log.checkpoint().unwrap();
        assert_eq!(std::fs::metadata(&log.path).unwrap().len(), 0);
        change("c").await;
    }
}
