//! How connections are set up, and the only SQL text in Rust: PRAGMAs and transaction control.

use crate::{Error, Result, private};
use rusqlite::{Connection, OpenFlags, config::DbConfig};
use std::{cell::Cell, path::Path, time::Duration};

/// How long a connection waits for another process's write (a command beside the server) before it gives up.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// How long commits may be kept waiting for a reader.
const TRUNCATE_BUSY_TIMEOUT: Duration = Duration::from_millis(100);
const STATEMENTS_CACHED: usize = 128;

/// How much memory connections keep pages in, in KiB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caches {
    pub writer: i64,
    pub reader: i64,
}

impl Caches {
    /// A server of its own. Not more for the writer: the system keeps the file's pages as well, and after many a commit
    /// SQLite goes through all that it keeps itself.
    pub(crate) const CENTRAL: Self = Self {
        writer: 16_384,
        reader: 16_384,
    };
    /// Beside somebody's scripts on a small machine.
    pub(crate) const SITE: Self = Self {
        writer: 8_192,
        reader: 1_024,
    };
}

thread_local! {
    /// Pages in the log after the last commit of the connection that this thread writes with.
    static IN_LOG: Cell<u32> = const { Cell::new(0) };
}

/// Pages in the log after the last commit of a [`writer`] on this thread.
pub(crate) fn pages_in_log() -> u32 {
    IN_LOG.get()
}

/// The connection of the writer thread. It does not checkpoint by itself: an error there would not be told to anybody.
pub(crate) fn writer(path: &Path, caches: Caches) -> Result<Connection> {
    let conn = read_write(path)?;
    conn.wal_hook(Some(|_, pages| {
        IN_LOG.set(pages.unsigned_abs());
        Ok(())
    }));
    conn.pragma_update(None, "cache_size", -caches.writer)?;
    Ok(conn)
}

/// For simulations, where a crash is one of the process and never of the machine: nothing is synced.
pub(crate) fn simulated(path: &Path) -> Result<Connection> {
    let conn = read_write(path)?;
    conn.pragma_update(None, "synchronous", "off")?;
    Ok(conn)
}

/// Opens, and creates if need be. Every commit is synced: an acknowledged row survives power loss.
pub(crate) fn read_write(path: &Path) -> Result<Connection> {
    prepared(create(path)?)
}

/// The same for a site's file. Whether a file can give pages back is decided before its first page is written.
pub(crate) fn read_write_shrinkable(path: &Path) -> Result<Connection> {
    let conn = create(path)?;
    conn.pragma_update(None, "auto_vacuum", "incremental")?;
    prepared(conn)
}

fn create(path: &Path) -> Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // SQLite gives the log and its index the mode of the file.
    private::create_file(path).map_err(|e| Error::unavailable(format!("{}: {e}", path.display())))?;
    Ok(Connection::open_with_flags(path, flags)?)
}

fn prepared(conn: Connection) -> Result<Connection> {
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.pragma_update(None, "journal_mode", "wal")?;
    conn.pragma_update(None, "synchronous", "full")?;
    conn.pragma_update(None, "foreign_keys", "on")?;
    keeps_statements(conn)
}

/// Statements are planned once, whatever is bound to them: otherwise SQLite would plan each one with a bound `limit` again
/// every time it runs.
fn keeps_statements(conn: Connection) -> Result<Connection> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
    Ok(conn)
}

pub(crate) fn reader(path: &Path, caches: Caches) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags)?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.pragma_update(None, "cache_size", -caches.reader)?;
    keeps_statements(conn)
}

/// Takes the write lock at once, so that no command finds out halfway that it cannot write.
pub(crate) fn begin(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "begin immediate")
}

pub(crate) fn commit(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "commit")
}

pub(crate) fn rollback(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "rollback")
}

pub(crate) fn savepoint(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "savepoint command")
}

pub(crate) fn keep_savepoint(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "release command")
}

pub(crate) fn undo_savepoint(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "rollback to command")?;
    run(conn, "release command")
}

/// A snapshot for several reads that must agree.
pub(crate) fn begin_read(conn: &Connection) -> rusqlite::Result<()> {
    run(conn, "begin deferred")
}

fn run(conn: &Connection, sql: &str) -> rusqlite::Result<()> {
    conn.prepare_cached(sql)?.execute([]).map(drop)
}

/// Moves what the log holds into the database file, as far as no reader is in the way. Answers whether that was all.
pub(crate) fn checkpoint_passive(conn: &Connection) -> rusqlite::Result<bool> {
    conn.query_row("pragma wal_checkpoint(passive)", [], |row| {
        let (in_log, moved): (i64, i64) = (row.get(1)?, row.get(2)?);
        Ok(in_log == moved)
    })
}

/// The same to the end, and empties the log. Waits for readers, but not long: commits wait meanwhile. Answers whether
/// none was in the way.
pub(crate) fn checkpoint_truncate(conn: &Connection) -> rusqlite::Result<bool> {
    conn.busy_timeout(TRUNCATE_BUSY_TIMEOUT)?;
    let busy = conn.query_row("pragma wal_checkpoint(truncate)", [], |row| row.get::<_, bool>(0));
    conn.busy_timeout(BUSY_TIMEOUT)?;
    Ok(!busy?)
}

/// Closing this connection leaves the log to the next process: it alone can be believed after a disk failed.
pub(crate) fn leave_log(conn: &Connection) {
    let _ = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
}

/// Reads every page of the file; "ok", or what is wrong with it.
pub(crate) fn quick_check(conn: &Connection) -> rusqlite::Result<String> {
    conn.query_row("pragma quick_check(1)", [], |row| row.get(0))
}

/// The same, and whether every index tells what its table does.
pub(crate) fn integrity_check(conn: &Connection) -> rusqlite::Result<String> {
    conn.query_row("pragma integrity_check(1)", [], |row| row.get(0))
}

/// Makes every index anew from its table.
pub(crate) fn reindex_all(conn: &Connection) -> rusqlite::Result<()> {
    conn.execute_batch("reindex")
}

/// A number in the first page of the file, which SQLite keeps and makes nothing of.
pub(crate) fn generation(conn: &Connection) -> rusqlite::Result<u32> {
    conn.query_row("pragma user_version", [], |row| {
        Ok(row.get::<_, i32>(0)?.cast_unsigned())
    })
}

pub(crate) fn set_generation(conn: &Connection, number: u32) -> rusqlite::Result<()> {
    conn.pragma_update(None, "user_version", number)
}

/// Makes an index anew from its table.
pub(crate) fn reindex(conn: &Connection, index: &str) -> rusqlite::Result<()> {
    conn.execute_batch(&format!("reindex {index}"))
}

/// Whether the file can give pages back.
pub(crate) fn is_shrinkable(conn: &Connection) -> rusqlite::Result<bool> {
    conn.query_row("pragma auto_vacuum", [], |row| Ok(row.get::<_, i64>(0)? == 2))
}

/// Writes the whole file anew so that it can give pages back from now on. Needs room for a second one meanwhile.
pub(crate) fn make_shrinkable(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "auto_vacuum", "incremental")?;
    conn.execute_batch("vacuum")
}

/// Pages of the file as this transaction leaves it.
pub(crate) fn pages(conn: &Connection) -> rusqlite::Result<u64> {
    let mut count = conn.prepare_cached("pragma page_count")?;
    count.query_row([], |row| Ok(row.get::<_, i64>(0)?.max(0).unsigned_abs()))
}

pub(crate) fn page_size(conn: &Connection) -> rusqlite::Result<u64> {
    conn.query_row("pragma page_size", [], |row| {
        Ok(row.get::<_, i64>(0)?.max(0).unsigned_abs())
    })
}

/// Pages of the file that hold nothing.
pub(crate) fn free_pages(conn: &Connection) -> rusqlite::Result<u64> {
    conn.query_row("pragma freelist_count", [], |row| {
        Ok(row.get::<_, i64>(0)?.max(0).unsigned_abs())
    })
}

/// Takes up to so many free pages off the end of the file; how many went. The disk has them once the log was moved.
pub(crate) fn give_pages_back(conn: &Connection, most: u32) -> rusqlite::Result<u64> {
    let before = pages(conn)?;
    let mut vacuum = conn.prepare(&format!("pragma incremental_vacuum({most})"))?;
    let mut steps = vacuum.raw_query();
    while steps.next()?.is_some() {}
    drop(steps);
    Ok(before.saturating_sub(pages(conn)?))
}

/// The file grows to so many pages and no further.
pub(crate) fn limit_pages(conn: &Connection, pages: u32) -> rusqlite::Result<()> {
    conn.query_row(&format!("pragma max_page_count = {pages}"), [], |_| Ok(()))
}
