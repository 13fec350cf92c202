//! Embedded SQLite, write-ahead log, every commit synced: the limits of one file.

mod application;
mod drain;
mod enqueue;
mod history;
mod latency;
mod reader;

pub use application::{book, make_application};
pub use drain::drain;
pub use enqueue::{group, one_by_one};
pub use history::keep;
pub use latency::latency;
pub use reader::Reader;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::{Path, PathBuf};
use store::{Error, Result};
use uuid::Uuid;

mod sql {
    macro_rules! statements {
        ($($name:ident = $file:literal),* $(,)?) => {
            $(pub(super) const $name: &str = include_str!(concat!("sql/", $file, ".sql"));)*
        };
    }
    statements!(
        SCHEMA = "schema",
        INSERT_ONE = "insert_one",
        CLAIM = "claim",
        FINISH = "finish",
        LOG = "log",
        LOOK = "look",
        BOOKINGS = "bookings",
        BOOK = "book",
        EMIT = "emit",
        KEEP_NOTIFICATIONS = "keep_notifications",
        KEEP_OUTCOMES = "keep_outcomes",
        KEEP_STATS = "keep_stats",
    );
}

/// The version of the library that is built in.
pub fn version() -> String {
    format!("SQLite {}", rusqlite::version())
}

/// A new file with the prototypes' tables in it.
fn prototype(folder: &Path) -> Result<(Connection, PathBuf)> {
    let path = folder.join(format!("limit-{}.db", Uuid::new_v4().simple()));
    let conn = open(&path)?;
    conn.execute_batch(sql::SCHEMA)?;
    Ok((conn, path))
}

fn open(path: &Path) -> Result<Connection> {
    let conn = Connection::open(path)?;
    conn.pragma_update(None, "journal_mode", "wal")?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "cache_size", -65_536)?;
    conn.busy_timeout(std::time::Duration::from_secs(5))?;
    Ok(conn)
}

/// Takes the write lock at once.
fn begin(conn: &Connection) -> Result<Transaction<'_>> {
    Ok(Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?)
}

/// A snapshot that lasts until the connection goes.
fn begin_read(conn: &Connection) -> Result<()> {
    Ok(conn.execute_batch("begin deferred")?)
}

/// What was written is in the file itself when this returns, and on the disk: what follows does not pay for it.
pub async fn settle(path: &Path) -> Result<()> {
    let path = path.to_owned();
    on_thread(move || Ok(open(&path)?.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(()))?)).await
}

/// Runs on a thread that may wait for the disk.
async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(Error::unavailable)?
}
