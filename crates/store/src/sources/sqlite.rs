//! An application's SQLite file. The application is its owner: whoever waits is us, and briefly.

use super::{Answer, LONGEST_ROW, LOOKUP_TIMEOUT, Mark, SourceError, SourceRow, numbered, sql};
use crate::{events::READ_BYTES, sqlite::file_id::FileId};
use domain::{Timestamp, lock::lock};
use rusqlite::{Connection, OpenFlags, params, params_from_iter, types::ValueRef};
use serde_json::{Map, Value};
use std::{
    path::PathBuf,
    pin::pin,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::{sync::oneshot, time::timeout};

/// How long a mark waits for the application's own write; after that it is tried again later.
const BUSY: Duration = Duration::from_millis(50);
/// So many steps of a lookup are made before it is asked whether anybody still waits for it.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

#[derive(Clone)]
pub(super) struct Sqlite {
    path: PathBuf,
    read_only: bool,
    open: Arc<Mutex<Option<Open>>>,
}

struct Open {
    conn: Connection,
    file: FileId,
    /// What the file's counter said when nothing was pending; while it says the same, nothing is.
    quiet_at: Option<i64>,
}

impl Sqlite {
    pub(super) fn new(path: &str, read_only: bool) -> Result<Self, String> {
        if path.is_empty() {
            return Err("url takes a path after sqlite://".into());
        }
        Ok(Self {
            path: path.into(),
            read_only,
            open: Arc::default(),
        })
    }

    pub(super) async fn install(&self) -> Result<(), SourceError> {
        self.with(|open| open.conn.execute_batch(emit::sqlite::INSTALL))
            .await
    }

    pub(super) async fn pending(&self, after: Option<i64>, limit: u32) -> Result<Answer, SourceError> {
        self.with(move |open| {
            let start = Instant::now();
            let answer = |rows, more| Answer {
                rows,
                more,
                running: vec![],
                took: start.elapsed(),
            };
            let counter: i64 = open
                .conn
                .pragma_query_value(None, "data_version", |row| row.get(0))?;
            if open.quiet_at == Some(counter) {
                return Ok(answer(vec![], false));
            }
            let (rows, more) = read(&open.conn, after.unwrap_or(i64::MIN), limit)?;
            // Only a look from the start says that there is nothing.
            open.quiet_at = (rows.is_empty() && after.is_none()).then_some(counter);
            Ok(answer(rows, more))
        })
        .await
    }

    pub(super) async fn mark(&self, marks: &[Mark]) -> Result<(), SourceError> {
        let marks = marks.to_vec();
        self.with(move |open| {
            let tx = open.conn.transaction()?;
            {
                let mut mark = tx.prepare_cached(sql::mark_sqlite)?;
                for Mark { seq, id } in &marks {
                    mark.execute(params![seq, id])?;
                }
            }
            tx.commit()
        })
        .await
    }

    pub(super) async fn forget(&self, keep: Duration, chunk: u32) -> Result<u64, SourceError> {
        let keep = i64::try_from(keep.as_millis()).unwrap_or(i64::MAX);
        self.with(move |open| {
            let mut forget = open.conn.prepare_cached(sql::forget_sqlite)?;
            Ok(forget.execute(params![keep, chunk])? as u64)
        })
        .await
    }

    /// At most two rows, each as JSON, none where it is too long: a second one is one too many.
    pub(super) async fn look_up(
        &self,
        query: &str,
        tenant: &str,
        entity: &str,
    ) -> Result<Vec<Option<String>>, SourceError> {
        let (query, order) = numbered(query, |n| format!("?{n}"));
        let values: Vec<String> = order.iter().map(|i| [tenant, entity][*i].to_owned()).collect();
        // Gone with whoever asks, also when they give up.
        let (asked, _asker) = oneshot::channel::<()>();
        let (begins, begun) = oneshot::channel::<()>();
        let work = self.with(move |open| {
            if asked.is_closed() {
                return Ok(vec![]);
            }
            let _ = begins.send(());
            // Left alone, a query without an end would keep the connection from all that come after it.
            let gone = move || asked.is_closed();
            open.conn.progress_handler(STEPS_BETWEEN_LOOKS, Some(gone))?;
            let found = two_rows(&open.conn, &query, &values);
            open.conn.progress_handler(0, None::<fn() -> bool>)?;
            found
        });
        let mut work = pin!(work);
        // Waiting for the one connection is no doing of this one's.
        let turn = async {
            tokio::select! {
                biased;
                done = &mut work => Some(done),
                _ = begun => None,
            }
        };
        match timeout(LOOKUP_TIMEOUT, turn).await {
            Ok(Some(done)) => return done,
            Ok(None) => {}
            Err(_) => {
                return Err(SourceError::Unreachable(
                    "another lookup keeps the file busy".into(),
                ));
            }
        }
        match timeout(LOOKUP_TIMEOUT, work).await {
            Ok(found) => found,
            Err(_) => Err(SourceError::Row("the lookup takes too long".into())),
        }
    }

    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Open) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, SourceError> {
        let this = self.clone();
        let run = move || {
            let mut slot = lock(&this.open);
            // A backup that was put in its place is another file: the old one, kept open, would never say anything new.
            let same = slot.take().filter(|open| open.file.still_at(&this.path).is_ok());
            let mut open = match same {
                Some(open) => open,
                None => this.connect()?,
            };
            let done = work(&mut open).map_err(|e| classify(&e));
            // After trouble the next look opens the file afresh: it may have been replaced.
            if !matches!(done, Err(SourceError::Unreachable(_))) {
                *slot = Some(open);
            }
            done
        };
        let done = tokio::task::spawn_blocking(run).await;
        done.unwrap_or_else(|_| Err(SourceError::Unreachable("a look at the file broke off".into())))
    }

    fn connect(&self) -> Result<Open, SourceError> {
        let unreachable = |e: &dyn std::fmt::Display| SourceError::Unreachable(e.to_string());
        let access = match self.read_only {
            true => OpenFlags::SQLITE_OPEN_READ_ONLY,
            // It has to be there: a mistyped path makes no empty database.
            false => OpenFlags::SQLITE_OPEN_READ_WRITE,
        };
        // Looked at before it is opened: replaced in between, it is opened once more than necessary.
        let file = FileId::at(&self.path).map_err(|e| unreachable(&e))?;
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(&self.path, flags).map_err(|e| unreachable(&e))?;
        conn.busy_timeout(BUSY).map_err(|e| unreachable(&e))?;
        Ok(Open {
            conn,
            file,
            quiet_at: None,
        })
    }
}

/// The first two rows of a query, each as JSON, or none where it is too long.
fn two_rows(conn: &Connection, query: &str, values: &[String]) -> rusqlite::Result<Vec<Option<String>>> {
    let mut statement = conn.prepare_cached(query)?;
    let names: Vec<String> = statement.column_names().into_iter().map(str::to_owned).collect();
    let mut rows = statement.query(params_from_iter(values))?;
    let mut found = vec![];
    while let Some(row) = rows.next()? {
        found.push(json(&names, row)?);
        if found.len() == 2 {
            break;
        }
    }
    Ok(found)
}

fn json(names: &[String], row: &rusqlite::Row<'_>) -> rusqlite::Result<Option<String>> {
    let (mut object, mut bytes) = (Map::new(), 0);
    for (i, name) in names.iter().enumerate() {
        let column = row.get_ref(i)?;
        bytes += match column {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
            _ => 0,
        };
        // Before it is copied.
        if bytes > LONGEST_ROW {
            return Ok(None);
        }
        object.insert(name.clone(), value(column));
    }
    let text = Value::Object(object).to_string();
    Ok((text.len() <= LONGEST_ROW).then_some(text))
}

/// What is pending, and whether there may be more of it.
fn read(conn: &Connection, after: i64, limit: u32) -> rusqlite::Result<(Vec<SourceRow>, bool)> {
    let mut statement = conn.prepare_cached(sql::pending_sqlite)?;
    // SQLite's columns hold whatever was put there: text is asked for, and anything else is taken as its text.
    let text = |row: &rusqlite::Row<'_>, i: usize| -> rusqlite::Result<Option<String>> {
        Ok(match row.get_ref(i)? {
            ValueRef::Null => None,
            ValueRef::Integer(n) => Some(n.to_string()),
            ValueRef::Real(n) => Some(n.to_string()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                Some(String::from_utf8_lossy(bytes).into_owned())
            }
        })
    };
    let number = |row: &rusqlite::Row<'_>, i: usize| -> rusqlite::Result<Option<i64>> {
        Ok(match row.get_ref(i)? {
            ValueRef::Integer(n) => Some(n),
            _ => None,
        })
    };
    let mut found = statement.query(params![after, limit])?;
    let (mut rows, mut bytes) = (vec![], 0);
    while bytes < READ_BYTES
        && let Some(row) = found.next()?
    {
        let row = SourceRow {
            seq: row.get(0)?,
            id: id(row.get_ref(1)?),
            tenant: text(row, 2)?,
            topic: text(row, 3)?,
            event_type: text(row, 4)?,
            entity_type: text(row, 5)?,
            entity_id: text(row, 6)?,
            payload: text(row, 7)?,
            schema_version: number(row, 8)?.and_then(|n| i32::try_from(n).ok()),
            correlation_id: text(row, 9)?,
            due_at: due_at(row.get_ref(10)?),
        };
        bytes += row.payload.as_ref().map_or(0, String::len);
        rows.push(row);
    }
    let more = rows.len() >= limit as usize || bytes >= READ_BYTES;
    Ok((rows, more))
}

/// No byte of it may be lost: two events would have one id, and one of them would never be seen.
fn id(column: ValueRef<'_>) -> String {
    // As programs bind a UUID: the bytes, or a string of them. In hex, it is one.
    let in_hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
    match column {
        ValueRef::Null => String::new(),
        ValueRef::Integer(n) => n.to_string(),
        ValueRef::Real(n) => n.to_string(),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).map_or_else(|_| in_hex(bytes), str::to_owned),
        ValueRef::Blob(bytes) => in_hex(bytes),
    }
}

/// Whatever moment an application means: one that were not understood would be due at once.
fn due_at(column: ValueRef<'_>) -> Result<Option<i64>, SourceError> {
    let at = match column {
        ValueRef::Null => return Ok(None),
        ValueRef::Integer(n) => Some(n),
        ValueRef::Real(n) => Some(n as i64),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes)
            .ok()
            .and_then(Timestamp::of_column)
            .map(Timestamp::as_millis),
        ValueRef::Blob(_) => None,
    };
    let why = || format!("due_at {}, or milliseconds since 1970", Timestamp::EXPECTED);
    at.map(Some).ok_or_else(|| SourceError::Row(why()))
}

fn value(column: ValueRef<'_>) -> Value {
    match column {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(n) => n.into(),
        ValueRef::Real(n) => n.into(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
    }
}

fn classify(error: &rusqlite::Error) -> SourceError {
    use rusqlite::ErrorCode::{ConstraintViolation, TypeMismatch};
    let words = error.to_string();
    match error.sqlite_error_code() {
        Some(ConstraintViolation | TypeMismatch) => SourceError::Row(words),
        _ => SourceError::Unreachable(words),
    }
}
