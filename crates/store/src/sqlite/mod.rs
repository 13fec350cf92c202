//! Embedded SQLite: one file, one process that serves it, nothing else to run.
//!
//! All writes go through one thread ([`writer`]) that runs what has gathered and commits once for all of it; a command
//! that fails takes no other with it; nobody is answered before that commit is on disk. Reads use a few
//! connections of their own and see the last commit. Checkpoints run beside the writer.
//!
//! Always true: an answer that says "stored" survives power loss; after an I/O error nothing is acknowledged any
//! more ([`SqliteStore::poisoned`]).

mod audit;
mod backup;
pub(crate) mod bind;
mod checkpoint;
mod columns;
pub(crate) mod connection;
mod directory;
pub(crate) mod error;
mod events;
mod failover;
pub(crate) mod file_id;
pub(crate) mod file_mark;
pub(crate) mod filler;
mod jobs;
mod maintenance;
pub(crate) mod open;
mod operator;
mod outbox;
pub(crate) mod publish;
mod query;
pub(crate) mod readers;
mod receipts;
pub(crate) mod rows;
pub(crate) mod safeguard;
mod sites;
mod sql;
mod stats;
mod suppressions;
mod templates;
mod transaction;
#[cfg(test)]
mod trouble;
mod under_way;
mod users;
pub(crate) mod writer;
mod writer_thread;

use crate::{Error, Result, signals::Signal};
use connection::Caches;
use domain::{Clock, Timestamp};
use readers::Readers;
use std::{
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};
use tokio::sync::{broadcast, watch};
use writer::{WriteSession, Writer};

/// The embedded store. Cheap to share as `Arc<dyn Store>`.
#[derive(Debug)]
pub struct SqliteStore {
    clock: Arc<dyn Clock>,
    writer: Writer,
    readers: Readers,
    /// When this process opened the file: what was claimed before belongs to a process that is gone.
    opened_at: Timestamp,
    /// Whether anything was claimed through this handle.
    claimed: AtomicBool,
    /// Never sent to; kept so that subscribers wait instead of finding the channel closed.
    signals: broadcast::Sender<Signal>,
}

impl SqliteStore {
    /// Opens or creates the file for a process that serves it. `Locked` while another one does.
    pub fn open(path: &Path, clock: Arc<dyn Clock>) -> Result<Self> {
        let lock = open::lock(path)?;
        open::migrate(path)?;
        Self::start(path, clock, Some(lock))
    }

    /// Opens or creates the file for a short-lived command (a new key, a look), also beside a process that
    /// serves it: SQLite itself keeps the two writers apart. `Locked` only if the schema would have to change
    /// under the feet of the one that serves.
    ///
    /// Claim nothing through it: leases of a process that is gone are only void for the one that serves.
    pub fn open_beside(path: &Path, clock: Arc<dyn Clock>) -> Result<Self> {
        if !open::is_current(path)? {
            let _lock = open::lock(path)?;
            open::migrate(path)?;
        }
        Self::start(path, clock, None)
    }

    fn start(path: &Path, clock: Arc<dyn Clock>, lock: Option<std::fs::File>) -> Result<Self> {
        let writer = Writer::start(path, clock.clone(), lock, Caches::CENTRAL, None)?;
        let readers = Readers::open(path, readers::CENTRAL, Caches::CENTRAL)?;
        Ok(Self {
            opened_at: clock.now(),
            clock,
            writer,
            readers,
            claimed: AtomicBool::new(false),
            signals: broadcast::channel(1).0,
        })
    }

    /// Turns true when the disk failed under the writer: nothing is acknowledged after that, and the process
    /// should end so that the next one starts from what is really on disk.
    pub fn poisoned(&self) -> watch::Receiver<bool> {
        self.writer.poisoned()
    }

    /// Runs a command on the writer; `weight` is about how many rows it touches.
    async fn write<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl Fn(&mut WriteSession<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.writer.write(weight, work).await
    }

    /// Runs a query on a snapshot of the last commit.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&rusqlite::Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.readers.read(work).await
    }
}

/// What later calls are told after `close`.
pub(crate) fn closed() -> Error {
    Error::unavailable("the store is closed")
}
