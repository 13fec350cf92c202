//! A site's own file: messages that wait ([`Buffer::enqueue`]), what became of cached calls and writes
//! ([`tracking`]), the site event log ([`event`]) and news for central ([`telemetry`]). SQLite only, one process.
//!
//! Written by the same group-committing thread as the central store. Leaves to others: when to try again
//! (`domain::retry`), trying (`site`).
//!
//! Always true: when a method returns, what it says survives power loss; an attempt is written down before it is
//! made; what comes of it names it, so that whoever lost a race is told; a row leaves only when it was delivered
//! or given up, and tracking, event and news of that are in the same commit.

mod aside;
mod attempt;
pub mod damage;
mod enqueue;
pub mod event;
mod forget;
mod forward;
mod gauge;
mod identity;
mod make_room;
mod mend;
pub mod message;
mod open;
mod operator;
mod proof;
mod purge;
mod recover;
pub mod replication;
mod rescued;
mod reserve;
mod restore;
mod room;
mod rows;
mod salvage;
mod selection;
mod sql;
pub mod telemetry;
mod told;
pub mod tracking;
mod waiting;
mod wake;

pub use damage::Damage;
pub use event::{EventsPage, SiteEvent, What};
pub use forward::Handed;
pub use gauge::Depth;
pub use message::{
    Acted, Attempted, Count, End, Enqueued, Known, Message, MessageId, MessageStatus, NewMessage, Origin,
    Recorded, Start, Step, TargetDue, Ticket, Tombstone, Waiting,
};
#[doc(hidden)]
pub use proof::HungDisk;
pub use purge::Purged;
pub use recover::Recovered;
pub use selection::{ActedOnMany, Selection};
pub use tracking::Tracking;
pub use waiting::Begun;
pub use wake::Wake;

use crate::{
    Result,
    sqlite::{
        error,
        file_id::FileId,
        readers::Readers,
        writer::{WriteSession, Writer},
    },
};
use domain::{Clock, Timestamp};
use gauge::Gauge;
use room::Room;
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
};
use tokio::sync::watch;
use uuid::Uuid;

/// Enough to write down that some hundreds have left: half of it is the length that the log always has, half a file that
/// is given up when the disk is full.
pub const RESERVE: u64 = 16 << 20;

/// How a buffer is opened.
#[derive(Debug, Clone)]
pub struct Options {
    pub path: PathBuf,
    /// What this machine is called in tracking and telemetry.
    pub node: String,
    /// About how many bytes may wait; 0: no limit.
    pub max_bytes: u64,
    /// Room on the disk that is kept for getting messages out when there is no other left; see [`RESERVE`].
    pub reserve_bytes: u64,
    /// Everything runs where it is asked for, without threads and without syncing: for simulations.
    pub inline: bool,
}

impl Options {
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            node: String::new(),
            max_bytes: 0,
            reserve_bytes: 0,
            inline: false,
        }
    }
}

/// The file, open. Cheap to share.
#[derive(Debug)]
pub struct Buffer {
    clock: Arc<dyn Clock>,
    writer: Writer,
    readers: Readers,
    shared: Arc<Shared>,
    /// The damaged file that was set aside for this fresh one, if that happened.
    set_aside: Option<PathBuf>,
    path: PathBuf,
    file: FileId,
    inline: bool,
}

/// What commands on the writer need besides the connection.
#[derive(Debug)]
struct Shared {
    id: Uuid,
    gauge: Gauge,
    room: Room,
    wake: Wake,
    node: String,
    ops: AtomicI64,
    /// Damage nobody has acknowledged.
    damaged: AtomicU64,
    forgotten: forget::Forgotten,
    replication: replication::Replication,
}

impl Shared {
    /// The number of the next change.
    fn op(&self) -> i64 {
        self.ops(1) + 1
    }

    /// The number before the next so many changes.
    fn ops(&self, n: usize) -> i64 {
        self.ops.fetch_add(n as i64, Ordering::SeqCst)
    }
}

impl Buffer {
    /// Where a damaged file was put, if one was found when this was opened.
    pub fn set_aside(&self) -> Option<&PathBuf> {
        self.set_aside.as_ref()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it works on its caller's thread, as in simulations. Files beside it do then, too.
    pub fn is_inline(&self) -> bool {
        self.inline
    }

    /// How full it is, without asking the file.
    pub fn depth(&self) -> Depth {
        self.shared.gauge.depth()
    }

    /// How full it is, by counting every row: for tests and for whoever doubts the gauge.
    pub async fn recount(&self) -> Result<Depth> {
        self.read(|conn| Ok(open::count(conn)?.depth())).await
    }

    /// Who wants to know when there is something to do.
    pub fn wake(&self) -> &Wake {
        &self.shared.wake
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Turns true when the disk failed: nothing is acknowledged after that, and the process should end.
    pub fn poisoned(&self) -> watch::Receiver<bool> {
        self.writer.poisoned()
    }

    /// How often the disk was written to since this was opened. Those who write at the same time share a commit.
    pub fn commits(&self) -> u64 {
        self.writer.commits()
    }

    pub fn check(&self) -> Result<()> {
        self.writer.check()
    }

    /// Finishes what was asked for and closes the file.
    pub async fn close(&self) {
        // The writer last: it leaves the log moved into the file behind it.
        self.readers.close().await;
        self.writer.close().await;
    }

    /// Runs a command on the writer; `weight` is about how many rows it touches. Where it finds no room it gets what is
    /// kept, then what central acknowledged gives way, and it is run again: what gets messages out is written like this.
    async fn write<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl Fn(&mut WriteSession<'_>, &Arc<Shared>) -> Result<T> + Send + Sync + 'static,
    ) -> Result<T> {
        let work = Arc::new(work);
        loop {
            let again = work.clone();
            let done = self.try_write(weight, move |s, shared| again(s, shared)).await;
            let is_full = done.as_ref().is_err_and(error::is_full);
            if !is_full || !(self.shared.room.released(&done) || self.make_room(0).await) {
                return done;
            }
        }
    }

    /// The same for those who know what to do about a full disk.
    async fn try_write<T: Send + 'static>(
        &self,
        weight: usize,
        work: impl Fn(&mut WriteSession<'_>, &Arc<Shared>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let shared = self.shared.clone();
        let unless_standby = move |s: &mut WriteSession<'_>| match shared.replication.is_standby() {
            true => Err(replication::standby()),
            false => work(s, &shared),
        };
        let done = self.writer.write(weight, unless_standby).await;
        if done.is_ok() {
            self.shared.wake.ring_changed();
        }
        done
    }

    /// Runs a query on a snapshot of the last commit. A page that cannot be read ends the process as a failed write
    /// does: the next start sets the file aside and takes over what can be read.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&rusqlite::Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let found = self.readers.read(work).await;
        if let Err(cause) = &found
            && error::is_disk_failure(cause)
        {
            self.writer.poison(&domain::chain(cause));
        }
        found
    }
}
