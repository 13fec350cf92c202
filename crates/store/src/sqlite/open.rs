//! Opening the file: the lock that keeps two servers apart, and bringing the schema up to date.

use super::{
    connection,
    file_id::{FileId, with_suffix},
    file_mark::FileMark,
    sql,
};
use crate::{Error, Result, private, schema};
use rusqlite::{Connection, OptionalExtension};
use std::{
    fs::{File, TryLockError},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// Takes the lock of the one process that serves the file. It ends with the handle, however the process ends.
pub(crate) fn lock(path: &Path) -> Result<File> {
    let beside = lock_path(path);
    let failed = |e: std::io::Error| Error::unavailable(format!("{}: {e}", beside.display()));
    let file = private::open_file(&beside).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {
            if let Err(e) = private::close_to_others(path) {
                tracing::warn!(
                    error = &e as &dyn std::error::Error,
                    "everybody on this machine can read the database, and that could not be changed"
                );
            }
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => Err(Error::Locked(format!(
            "{} is in use by another waypost process",
            path.display()
        ))),
        Err(TryLockError::Error(e)) => Err(failed(e)),
    }
}

fn lock_path(path: &Path) -> PathBuf {
    with_suffix(path, ".lock")
}

/// Writes down in the lock which files the process has open, for whoever opens them next. Where there is no room,
/// nothing stands there.
pub(super) fn note(lock: &File, files: &str) {
    let written = lock
        .set_len(0)
        .and_then(|()| lock.write_all_at(files.as_bytes(), 0));
    if let Err(error) = written {
        let _ = lock.set_len(0);
        tracing::warn!(%error, "the lock cannot be written to");
    }
}

/// What the last process that had the file wrote down.
pub(crate) struct Noted {
    pub file: FileId,
    pub log: FileId,
    /// None where an earlier program wrote it.
    pub mark: Option<FileMark>,
    /// None where nothing had been written to the log.
    pub log_number: Option<u32>,
}

pub(crate) fn noted(path: &Path) -> Option<Noted> {
    let text = std::fs::read_to_string(lock_path(path)).ok()?;
    let mut words = text.split_whitespace();
    Some(Noted {
        file: words.next()?.parse().ok()?,
        log: words.next()?.parse().ok()?,
        mark: words.next().and_then(|word| word.parse().ok()),
        log_number: words.next().and_then(|word| word.parse().ok()),
    })
}

/// Brings the schema to this program's version. `NewerSchema` when it is past that already.
pub(super) fn migrate(path: &Path) -> Result<()> {
    let mut conn = connection::read_write(path)?;
    refuse_newer(&conn)?;
    let runner = schema::SQLITE.runner().map_err(Error::unavailable)?;
    runner.run(&mut conn).map_err(Error::unavailable)?;
    Ok(())
}

/// Whether nothing would have to be migrated.
pub(super) fn is_current(path: &Path) -> Result<bool> {
    let conn = connection::read_write(path)?;
    refuse_newer(&conn)?;
    Ok(schema_version(&conn)? == schema::SQLITE.version())
}

fn refuse_newer(conn: &Connection) -> Result<()> {
    let (found, known) = (schema_version(conn)?, schema::SQLITE.version());
    if found > known {
        return Err(Error::NewerSchema { found, known });
    }
    Ok(())
}

/// The version of the schema in the file; 0 in one that was just made.
pub(crate) fn schema_version(conn: &Connection) -> Result<i64> {
    let kept: bool = conn.query_row(sql::schema_history_exists, [], |row| row.get(0))?;
    if !kept {
        return Ok(0);
    }
    let version = conn
        .query_row(sql::schema_version, [], |row| row.get::<_, Option<i64>>(0))
        .optional()?;
    Ok(version.flatten().unwrap_or(0))
}
