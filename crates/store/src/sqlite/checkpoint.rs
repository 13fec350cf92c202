//! Moves the write-ahead log into the database file, on a thread and a connection of its own, so that commits do
//! not wait for it. Only when the log has grown past a bound do they, once, while it is emptied.

use super::connection::{self, Caches};
use crate::Result;
use rusqlite::Connection;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::Duration,
};
use tracing::warn;

/// At most this often; what a crash then has to replay is about this much work.
const PACE: Duration = Duration::from_millis(500);
const LOG_BOUND: u64 = 64 << 20;

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
    stop: bool,
}

impl Checkpointer {
    pub(crate) fn start(path: &Path, caches: Caches) -> Result<Self> {
        let conn = connection::read_write(path)?;
        connection::keep_pages(&conn, caches.reader)?;
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let shared = Arc::new(Shared::default());
        let seen = shared.clone();
        let thread = std::thread::Builder::new()
            .name("waypost-checkpoint".into())
            .spawn(move || run(&conn, &PathBuf::from(log), &seen))
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

fn run(conn: &Connection, log: &Path, shared: &Shared) {
    loop {
        let waited = shared.changed.wait_while(shared.lock(), |s| !s.dirty && !s.stop);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner);
        if state.stop {
            return;
        }
        state.dirty = false;
        drop(state);
        if let Err(error) = checkpoint(conn, log) {
            warn!(
                error = &error as &dyn std::error::Error,
                "checkpoint failed, will try again after the next commit"
            );
        }
        let _ = shared
            .changed
            .wait_timeout_while(shared.lock(), PACE, |s| !s.stop);
    }
}

fn checkpoint(conn: &Connection, log: &Path) -> rusqlite::Result<()> {
    connection::checkpoint_passive(conn)?;
    if std::fs::metadata(log).is_ok_and(|m| m.len() > LOG_BOUND) {
        connection::checkpoint_truncate(conn)?;
    }
    Ok(())
}
