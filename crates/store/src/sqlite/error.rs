//! What SQLite's errors mean to a caller of the store.

use crate::Error;
use rusqlite::{ErrorCode, ffi};

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        match &error {
            rusqlite::Error::SqliteFailure(cause, text) if cause.code == ErrorCode::ConstraintViolation => {
                Error::Refused(text.clone().unwrap_or_else(|| cause.to_string()))
            }
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::Utf8Error(..) => Error::corrupt("the database", error.to_string()),
            _ => Error::Unavailable(Box::new(error)),
        }
    }
}

/// Whether the row itself is refused, by a CHECK or a UNIQUE, as opposed to the database being in trouble.
pub(crate) fn is_refusal(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

/// Whether what is on disk is now unknown. A full disk is not such a case: SQLite has undone the transaction.
pub(crate) fn is_disk_failure(error: &Error) -> bool {
    let Error::Unavailable(cause) = error else {
        return false;
    };
    cause.downcast_ref().is_some_and(is_disk_failure_of_sqlite)
}

pub(crate) fn is_disk_failure_of_sqlite(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase)
    )
}

/// Whether the file cannot be what it was. That SQLite could not make the index it keeps beside the log (a full disk, no
/// memory) says nothing about the file.
pub(crate) fn is_damage(error: &Error) -> bool {
    is_disk_failure(error) && !is_about_log_index(error)
}

fn is_about_log_index(error: &Error) -> bool {
    matches!(
        of_sqlite(error)
            .and_then(rusqlite::Error::sqlite_error)
            .map(|cause| cause.extended_code),
        Some(
            ffi::SQLITE_IOERR_SHMOPEN
                | ffi::SQLITE_IOERR_SHMSIZE
                | ffi::SQLITE_IOERR_SHMLOCK
                | ffi::SQLITE_IOERR_SHMMAP
                | ffi::SQLITE_IOERR_NOMEM
        )
    )
}

/// There was no room on the disk; what was to be written has been undone.
#[derive(Debug, thiserror::Error)]
#[error("the disk is full: {0}")]
pub(crate) struct DiskFull(pub String);

/// Whether there was no room for what was to be written.
pub(crate) fn is_full(error: &Error) -> bool {
    let Error::Unavailable(cause) = error else {
        return false;
    };
    cause.is::<DiskFull>() || of_sqlite(error).is_some_and(is_full_of_sqlite)
}

/// The same, or none for what SQLite keeps beside the file: while a file is opened.
pub(crate) fn is_no_room(error: &Error) -> bool {
    is_full(error) || is_about_log_index(error)
}

/// What SQLite said, also to somebody in between: a migration, for one.
fn of_sqlite(error: &Error) -> Option<&rusqlite::Error> {
    let mut cause = std::error::Error::source(error);
    while let Some(found) = cause {
        if let Some(of_sqlite) = found.downcast_ref() {
            return Some(of_sqlite);
        }
        cause = found.source();
    }
    None
}

pub(crate) fn is_full_of_sqlite(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}
