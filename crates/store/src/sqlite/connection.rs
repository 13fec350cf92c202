//! How connections are set up, and the only SQL text in Rust: PRAGMAs and transaction control.

use crate::Result;
use rusqlite::{Connection, OpenFlags, config::DbConfig};
use std::{path::Path, time::Duration};

/// How long a connection waits for another process's write (a command beside the server) before it gives up.
const BUSY: Duration = Duration::from_secs(10);
const STATEMENTS_CACHED: usize = 128;

/// The connection of the writer thread. It never checkpoints by itself: that would stop everybody's commits.
pub(super) fn writer(path: &Path) -> Result<Connection> {
    let conn = read_write(path)?;
    conn.pragma_update(None, "wal_autocheckpoint", 0)?;
    conn.pragma_update(None, "cache_size", -65_536)?;
    Ok(conn)
}

/// Opens, and creates if need be. Every commit is synced: an acknowledged row survives power loss.
pub(super) fn read_write(path: &Path) -> Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(BUSY)?;
    conn.pragma_update(None, "journal_mode", "wal")?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", "on")?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    Ok(conn)
}

pub(super) fn reader(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(BUSY)?;
    conn.pragma_update(None, "cache_size", -16_384)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    Ok(conn)
}

/// Takes the write lock at once, so that no command finds out halfway that it cannot write.
pub(super) fn begin(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "begin immediate")
}

pub(super) fn commit(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "commit")
}

pub(super) fn rollback(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "rollback")
}

pub(super) fn savepoint(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "savepoint command")
}

pub(super) fn keep_savepoint(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "release command")
}

pub(super) fn undo_savepoint(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "rollback to command")?;
    run(conn, "release command")
}

/// A snapshot for several reads that must agree.
pub(super) fn begin_read(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "begin deferred")
}

fn run(conn: &Connection, sql: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(sql)?.execute([]).map(drop)
}

/// Moves what the log holds into the database file, as far as no reader is in the way.
pub(super) fn checkpoint_passive(conn: &Connection) -> rusqlite::Result<()> {
    conn.query_row("pragma wal_checkpoint(passive)", [], |_| Ok(()))
}

/// The same to the end, and empties the log. Commits wait for it. Answers whether no reader was in the way.
pub(super) fn checkpoint_truncate(conn: &Connection) -> rusqlite::Result<bool> {
    let busy: bool = conn.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get(0))?;
    Ok(!busy)
}

/// Closing this connection leaves the log to the next process: it alone can be believed after a disk failed.
pub(super) fn leave_log(conn: &Connection) {
    let _ = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
}
