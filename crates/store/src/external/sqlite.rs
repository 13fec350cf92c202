//! A SQLite file that belongs to somebody else. It has to be there: a mistyped path makes no empty database.
//!
//! Always true: a write counts as done only if the file it went to is the one at the path; a statement without an end is
//! stopped at its deadline, also when all the time was gone before it began.

use super::Written;
use crate::sqlite::file_id::FileId;
use domain::{Failure, Scope};
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi, types::Value as Sql};
use serde_json::Value;
use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::{Mutex, OwnedMutexGuard};

/// How long an interrupted statement may take to undo what it did.
const UNDO_TIMEOUT: Duration = Duration::from_secs(5);
/// Steps of SQLite's machine between two looks at the clock: less than a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

#[derive(Debug, Clone)]
pub(super) struct Sqlite {
    path: PathBuf,
    /// Waiting for somebody else's write.
    busy: Duration,
    /// Belongs to the write under way; the others wait for it without a thread of their own.
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
            // Ends before the statement's own time, so that somebody else's lock is told from a slow statement.
            busy: timeout - timeout / 10,
            open: Arc::default(),
        })
    }

    /// `unique`: see [`super::External::execute_once`].
    pub(super) async fn execute(
        &self,
        statement: &str,
        params: &[Value],
        unique: Option<&str>,
        timeout: Duration,
    ) -> Result<Written, Failure> {
        let Ok(open) = tokio::time::timeout(timeout, self.open.clone().lock_owned()).await else {
            return Err(Failure::transient(
                Scope::Lane,
                "SQLITE_DatabaseBusy",
                "other writes to this database took all the time there was",
            ));
        };
        let (this, statement, params) = (self.clone(), statement.to_owned(), params.to_vec());
        let unique = unique.map(str::to_owned);
        let deadline = Instant::now() + timeout;
        let run = tokio::task::spawn_blocking(move || {
            this.run(open, &statement, &params, unique.as_deref(), deadline)
        });
        // Waiting for somebody else's lock ends by itself, and the statement at its deadline; what it did is then undone.
        match tokio::time::timeout(2 * timeout + UNDO_TIMEOUT, run).await {
            Ok(Ok(Err(failure))) if failure.code == INTERRUPTED => {
                // Undone as a whole, so nothing is ambiguous. It is this statement that takes too long.
                let words = format!("it ran for {timeout:?} without an end and was interrupted");
                Err(Failure::transient(Scope::Message, "TIMEOUT", words))
            }
            Ok(done) => done.unwrap_or_else(|_| Err(broke_off())),
            Err(_) => Err(Failure::ambiguous(
                Scope::Lane,
                "TIMEOUT",
                "the database did not answer in time",
            )),
        }
    }

    fn run(
        &self,
        mut open: OwnedMutexGuard<Option<Open>>,
        statement: &str,
        params: &[Value],
        unique: Option<&str>,
        deadline: Instant,
    ) -> Result<Written, Failure> {
        // Somebody may have deleted or replaced the file since; it can be written to all the same, and nobody would see it.
        let still_there = open.take().filter(|open| open.file.still_at(&self.path).is_ok());
        let connection = match still_there {
            Some(open) => open,
            None => self.connect()?,
        };
        let conn = &connection.conn;
        let late = move || Instant::now() >= deadline;
        conn.progress_handler(STEPS_BETWEEN_LOOKS, Some(late))
            .map_err(|e| classify(&e))?;
        let written = match write(conn, statement, params) {
            Err(e) if unique.is_some_and(|named| violates(conn, &e, named)) => Ok(Written::ALREADY_THERE),
            written => written.map_err(|e| classify(&e)),
        };
        let done = written.and_then(|written| {
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
        already_there: false,
    })
}

/// Whether it was this unique constraint that said no. SQLite names the columns (`readings.id`, or
/// `readings.tag, readings.at`), so that is what a constraint is called here; a unique index may also be named.
fn violates(conn: &Connection, error: &rusqlite::Error, named: &str) -> bool {
    let rusqlite::Error::SqliteFailure(code, Some(said)) = error else {
        return false;
    };
    let unique = [
        ffi::SQLITE_CONSTRAINT_UNIQUE,
        ffi::SQLITE_CONSTRAINT_PRIMARYKEY,
        ffi::SQLITE_CONSTRAINT_ROWID,
    ];
    if !unique.contains(&code.extended_code) {
        return false;
    }
    let said = said.strip_prefix("UNIQUE constraint failed: ").unwrap_or(said);
    said == named
        || said == format!("index '{named}'")
        || columns_of(conn, named).is_ok_and(|columns| columns == said)
}

/// The columns of a unique index, as SQLite's own errors name them.
fn columns_of(conn: &Connection, index: &str) -> rusqlite::Result<String> {
    let mut statement = conn.prepare(include_str!("sql/index_columns.sql"))?;
    let columns = statement.query_map([index], |row| row.get::<_, String>(0))?;
    Ok(columns.collect::<Result<Vec<_>, _>>()?.join(", "))
}

fn broke_off() -> Failure {
    Failure::transient(Scope::Message, "INTERNAL", "the write broke off")
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

const INTERRUPTED: &str = "SQLITE_OperationInterrupted";

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
