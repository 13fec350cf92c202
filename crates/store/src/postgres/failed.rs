//! Sorts what can go wrong with a statement by what can be done about it.
//!
//! Always true: no text in here carries data of a row; the server's `DETAIL` lines, which do, are dropped.

use crate::{Error, error::Cause};
use std::{error::Error as _, fmt, time::Duration};
use tokio_postgres::error::{DbError, Severity, SqlState};

#[derive(Debug)]
pub(super) enum Failed {
    /// The connection is gone, or the server is going. What was being committed may or may not have been.
    Lost(Cause),
    /// A lock was lost to somebody else. Nothing happened; the same again will do.
    Busy(Cause),
    /// The data itself was refused.
    Data(String),
    /// The server cannot right now: no connection to be had, out of space or time. Nothing happened.
    Later(Cause),
    /// Anything else the server says. Nothing happened.
    Server(Cause),
    /// Already in the caller's terms.
    Final(Error),
}

impl Failed {
    pub fn lost(what: impl Into<Cause>) -> Self {
        Failed::Lost(what.into())
    }

    pub fn timed_out(after: Duration) -> Self {
        Self::lost(format!("no answer from PostgreSQL for {} s", after.as_secs()))
    }

    /// The migrator keeps the driver's error, whose words quote rows.
    pub fn of_migration(error: refinery_core::Error) -> Self {
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
        while let Some(one) = cause {
            if let Some(said) = one.downcast_ref::<DbError>() {
                return Failed::Server(Box::new(ServerError::new(said)));
            }
            cause = one.source();
        }
        Failed::Server(Box::new(error))
    }

    /// For a call whose commit may have been under way when it failed.
    pub fn while_committing(self) -> Error {
        match self {
            Failed::Lost(cause) => Error::UnknownCommit(cause),
            other => other.into(),
        }
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Lost(cause) | Failed::Busy(cause) | Failed::Later(cause) | Failed::Server(cause) => {
                Error::Unavailable(cause)
            }
            Failed::Data(reason) => Error::Refused(reason),
            Failed::Final(error) => error,
        }
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Failed::Final(error)
    }
}

impl From<tokio_postgres::Error> for Failed {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(said) => from_server(said),
            // A value that cannot be encoded or decoded is no reason to drop the connection.
            None if is_conversion(&error) => Failed::Server(Box::new(error)),
            None => Failed::Lost(Box::new(error)),
        }
    }
}

impl From<deadpool_postgres::PoolError> for Failed {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(error) => match error.as_db_error() {
                // No connection was made, so nothing was committed: never "unknown".
                Some(said) => Failed::Later(Box::new(ServerError::new(said))),
                None => Failed::Later(Box::new(error)),
            },
            other => Failed::Later(Box::new(other)),
        }
    }
}

fn from_server(said: &DbError) -> Failed {
    let cause = ServerError::new(said);
    let code = said.code();
    if *code == SqlState::T_R_SERIALIZATION_FAILURE || *code == SqlState::T_R_DEADLOCK_DETECTED {
        return Failed::Busy(Box::new(cause));
    }
    // A session that is ended from outside may have been between its commit and its answer.
    if matches!(said.parsed_severity(), Some(Severity::Fatal | Severity::Panic)) {
        return Failed::Lost(Box::new(cause));
    }
    match code.code().get(..2) {
        // Connection exceptions, and a server that became a standby: this connection is of no more use.
        Some("08" | "25") => Failed::Lost(Box::new(cause)),
        // Data exception, constraint violation, and limits such as the size of an index entry.
        Some("22" | "23" | "54") => Failed::Data(said.message().to_owned()),
        // Out of resources, a lock that cannot be had, cancelled or timed out.
        Some("53" | "55" | "57") => Failed::Later(Box::new(cause)),
        _ => Failed::Server(Box::new(cause)),
    }
}

fn is_conversion(error: &tokio_postgres::Error) -> bool {
    let text = error.to_string();
    !error.is_closed()
        && (text.starts_with("error serializing")
            || text.starts_with("error deserializing")
            || text.starts_with("error encoding"))
        && error.source().is_some()
}

/// What the server said, without the `DETAIL` line, which quotes rows.
#[derive(Debug)]
struct ServerError {
    message: String,
    code: String,
}

impl ServerError {
    fn new(said: &DbError) -> Self {
        Self {
            message: said.message().to_owned(),
            code: said.code().code().to_owned(),
        }
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgreSQL says: {} ({})", self.message, self.code)
    }
}

impl std::error::Error for ServerError {}
