//! What SQLite's errors mean to a caller of the store.

use crate::Error;
use rusqlite::ErrorCode;

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

/// There was no room on the disk; what was to be written has been undone.
#[derive(Debug, thiserror::Error)]
#[error("the disk is full: {0}")]
pub(crate) struct DiskFull(pub String);

/// Whether there was no room.
pub(crate) fn is_full(error: &Error) -> bool {
    let Error::Unavailable(cause) = error else {
        return false;
    };
    cause.is::<DiskFull>() || cause.downcast_ref().is_some_and(is_full_of_sqlite)
}

pub(crate) fn is_full_of_sqlite(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}
