//! A SQLite file that belongs to somebody else. It has to be there: a mistyped path makes no empty database.
//!
//! Always true: a write counts as done only if the file it went to is the one at the path.

use super::Written;
use crate::sqlite::file_id::FileId;
use domain::{Failure, Scope};
use rusqlite::{Connection, ErrorCode, OpenFlags, types::Value as Sql};
use serde_json::Value;
use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

#[derive(Debug, Clone)]
pub(super) struct Sqlite {
    path: PathBuf,
    /// Waiting for somebody else's write.
    busy: Duration,
    open: Arc<Mutex<Option<Open>>>,
}

#[derive(Debug)]
struct Open {
    conn: Connection,
    file: FileId,
}

impl Sqlite {
    pub(super) fn new(path: &str, timeout: Duration) -> Result<Self, String> {
        if path.is_empty() {
            return Err("takes a path after sqlite://".into());
        }
        Ok(Self {
            path: path.into(),
            busy: timeout,
            open: Arc::default(),
        })
    }

    pub(super) async fn execute(
        &self,
        statement: &str,
        params: &[Value],
        timeout: Duration,
    ) -> Result<Written, Failure> {
        let (this, statement, params) = (self.clone(), statement.to_owned(), params.to_vec());
        let run = tokio::task::spawn_blocking(move || this.run(&statement, &params));
        // The busy timeout ends first; this is for a disk that hangs.
        match tokio::time::timeout(timeout * 2, run).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => Err(Failure::transient(
                Scope::Message,
                "INTERNAL",
                "the write broke off",
            )),
            Err(_) => Err(Failure::ambiguous(
                Scope::Lane,
                "TIMEOUT",
                "the database did not answer in time",
            )),
        }
    }

    fn run(&self, statement: &str, params: &[Value]) -> Result<Written, Failure> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody may have deleted or replaced the file since; it can be written to all the same, and nobody would see it.
        let still_there = open.take().filter(|open| open.file.still_at(&self.path).is_ok());
        let connection = match still_there {
            Some(open) => open,
            None => self.connect()?,
        };
        let done = write(&connection.conn, statement, params)
            .map_err(|e| classify(&e))
            .and_then(|written| {
                connection.file.still_at(&self.path).map_err(replaced)?;
                Ok(written)
            });
        // After a failure that may pass, the next try starts afresh.
        if !matches!(&done, Err(failure) if failure.scope == Scope::Lane) {
            *open = Some(connection);
        }
        done
    }

    /// The file that is at the path before and after is the one that was opened.
    fn connect(&self) -> Result<Open, Failure> {
        let found = FileId::at(&self.path).ok();
        let conn = self.open_file().map_err(|e| classify(&e))?;
        match found {
            Some(file) if file.still_at(&self.path).is_ok() => Ok(Open { conn, file }),
            _ => Err(replaced("it changed while it was opened".to_owned())),
        }
    }

    fn open_file(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(&self.path, flags)?;
        conn.busy_timeout(self.busy)?;
        conn.pragma_update(None, "foreign_keys", "on")?;
        Ok(conn)
    }
}

fn write(conn: &Connection, statement: &str, params: &[Value]) -> rusqlite::Result<Written> {
    let mut prepared = conn.prepare(statement)?;
    let given = params.len();
    if given != prepared.parameter_count() {
        return Err(rusqlite::Error::InvalidParameterCount(
            given,
            prepared.parameter_count(),
        ));
    }
    let before = conn.total_changes();
    let mut rows = prepared.query(rusqlite::params_from_iter(params.iter().map(bind)))?;
    while rows.next()?.is_some() {}
    Ok(Written {
        rows: conn.total_changes() - before,
    })
}

fn bind(value: &Value) -> Sql {
    match value {
        Value::Null => Sql::Null,
        Value::Bool(b) => Sql::Integer(i64::from(*b)),
        Value::Number(n) => n
            .as_i64()
            .map(Sql::Integer)
            .or_else(|| n.as_f64().map(Sql::Real))
            .unwrap_or_else(|| Sql::Text(n.to_string())),
        Value::String(text) => Sql::Text(text.clone()),
        Value::Array(_) | Value::Object(_) => Sql::Text(value.to_string()),
    }
}

fn replaced(why: String) -> Failure {
    Failure::transient(Scope::Lane, "FILE_REPLACED", why)
}

fn classify(error: &rusqlite::Error) -> Failure {
    let words = error.to_string();
    let Some(code) = error.sqlite_error_code() else {
        return Failure::permanent(Scope::Message, "STATEMENT", words);
    };
    match code {
        ErrorCode::ConstraintViolation => Failure::permanent(Scope::Message, "CONSTRAINT", words),
        ErrorCode::DatabaseBusy
        | ErrorCode::DatabaseLocked
        | ErrorCode::CannotOpen
        | ErrorCode::SystemIoFailure
        | ErrorCode::DiskFull
        | ErrorCode::ReadOnly
        | ErrorCode::PermissionDenied
        | ErrorCode::FileLockingProtocolFailed
        | ErrorCode::OperationInterrupted
        | ErrorCode::OutOfMemory
        | ErrorCode::SchemaChanged
        | ErrorCode::DatabaseCorrupt
        | ErrorCode::NotADatabase => Failure::transient(Scope::Lane, format!("SQLITE_{code:?}"), words),
        _ => Failure::permanent(Scope::Message, "STATEMENT", words),
    }
}
