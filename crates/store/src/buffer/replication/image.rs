//! Rows as they are copied: columns in a fixed order, values as they stand in the file.

use super::ahead::Ahead;
use crate::{
    Result,
    buffer::{Buffer, sql},
};
use domain::pair::{Copied, Row, RowValue, Table, Value};
use rusqlite::{
    CachedStatement, Connection, ToSql, params,
    types::{ToSqlOutput, ValueRef},
};
use std::collections::HashSet;

/// The version of the file's schema whose columns these are. A newer machine takes the rows of an older one, never the
/// other way round: a row that has fewer columns lacks the last ones, so a new column goes to the end of its image.
pub const SCHEMA: u32 = 5;

/// Rows of one part of a whole copy.
const PART_ROWS: i64 = 2_000;
/// Behind every key that is text.
const LAST_TEXT: &str = "\u{10FFFF}";

/// A value on its way into a statement.
pub(super) struct Bound<'a>(pub RowValue<'a>);

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self.0 {
            RowValue::Null => ValueRef::Null,
            RowValue::Integer(n) => ValueRef::Integer(n),
            RowValue::Real(n) => ValueRef::Real(n),
            RowValue::Text(text) => ValueRef::Text(text),
            RowValue::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

pub(super) fn value(value: ValueRef<'_>) -> RowValue<'_> {
    match value {
        ValueRef::Null => RowValue::Null,
        ValueRef::Integer(n) => RowValue::Integer(n),
        ValueRef::Real(n) => RowValue::Real(n),
        ValueRef::Text(text) => RowValue::Text(text),
        ValueRef::Blob(bytes) => RowValue::Blob(bytes),
    }
}

/// A key in one spelling, to find it again by.
fn key_text(key: RowValue<'_>) -> Vec<u8> {
    match key {
        RowValue::Integer(n) => n.to_be_bytes().to_vec(),
        RowValue::Text(bytes) | RowValue::Blob(bytes) => bytes.to_vec(),
        RowValue::Null | RowValue::Real(_) => vec![],
    }
}

/// The statements of a table: reading its rows, putting one in, taking one out; and how it is called.
pub(super) struct Statements {
    pub image: &'static str,
    pub put: &'static str,
    pub take_out: &'static str,
    pub columns: usize,
    /// Where its numbers are never given twice.
    pub sequence: Option<&'static str>,
}

pub(super) fn statements(table: Table) -> Statements {
    let of = |image, put, take_out, columns, sequence| Statements {
        image,
        put,
        take_out,
        columns,
        sequence,
    };
    match table {
        Table::Messages => of(
            sql::image_message,
            sql::put_message,
            sql::take_out_message,
            26,
            Some("sf_messages"),
        ),
        Table::Tombstones => of(
            sql::image_tombstone,
            sql::put_tombstone,
            sql::take_out_tombstone,
            18,
            None,
        ),
        Table::Tracking => of(
            sql::image_tracking,
            sql::put_tracking,
            sql::take_out_tracking,
            18,
            None,
        ),
        Table::Events => of(
            sql::image_event,
            sql::put_event,
            sql::take_out_event,
            9,
            Some("site_events"),
        ),
        Table::Telemetry => of(
            sql::image_telemetry,
            sql::put_telemetry,
            sql::take_out_telemetry,
            3,
            Some("telemetry"),
        ),
        Table::Meta => of(sql::image_meta, sql::put_meta, sql::take_out_meta, 2, None),
    }
}

/// Most rows have so many bytes at most, apart from their payload.
const ROW_ROOM: usize = 512;

pub(super) fn cells(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let mut cells = Row::with_room(ROW_ROOM);
    for i in 0..row.as_ref().column_count() {
        cells.push(value(row.get_ref(i)?));
    }
    Ok(cells)
}

/// Reads rows by their keys, of tables that come in any order. Where keys follow each other, as those of what was just accepted do, more
/// and more rows are read at once: stepping to the next row costs a fraction of looking one up.
pub(super) struct Images<'c> {
    conn: &'c Connection,
    tables: [OfTable<'c>; Table::ALL.len()],
}

#[derive(Default)]
struct OfTable<'c> {
    image: Option<CachedStatement<'c>>,
    ahead: Ahead,
}

impl<'c> Images<'c> {
    pub fn of(conn: &'c Connection) -> Self {
        Self {
            conn,
            tables: Default::default(),
        }
    }

    /// The row with this key, if it is there.
    pub fn row(&mut self, table: Table, key: RowValue<'_>) -> Result<Option<Row>> {
        let of = &mut self.tables[table as usize];
        let image = match &mut of.image {
            Some(image) => image,
            not_yet => not_yet.insert(self.conn.prepare_cached(statements(table).image)?),
        };
        match key {
            RowValue::Integer(number) => of.ahead.row(image, number),
            key => {
                let mut found = image.query(params![Bound(key), Bound(key), 1])?;
                Ok(found.next()?.map(cells).transpose()?)
            }
        }
    }
}

/// Keys that have come before.
#[derive(Default)]
pub(super) struct Seen {
    numbers: HashSet<(Table, i64)>,
    texts: HashSet<(Table, Vec<u8>)>,
}

impl Seen {
    /// Whether it is new.
    pub fn insert(&mut self, table: Table, key: RowValue<'_>) -> bool {
        match key {
            RowValue::Integer(n) => self.numbers.insert((table, n)),
            key => self.texts.insert((table, key_text(key))),
        }
    }
}

/// The highest number that was ever given to a row, of each table that numbers its own.
pub(super) fn sequences(conn: &Connection) -> Result<Vec<(Table, i64)>> {
    let mut get = conn.prepare_cached(sql::sequence_get)?;
    let mut all = vec![];
    for table in Table::ALL {
        if let Some(name) = statements(table).sequence {
            all.push((table, get.query_row([name], |row| row.get(0))?));
        }
    }
    Ok(all)
}

impl Buffer {
    /// The rows of a table behind this key, about so many bytes at a time: reads are short, and rows that change between
    /// two of them are in the log.
    pub async fn copy_part(&self, table: Table, after: Option<Value>, most: usize) -> Result<Copied> {
        self.read(move |conn| {
            let (first, last) = range(table, after.as_ref());
            let mut image = conn.prepare_cached(statements(table).image)?;
            let between = params![Bound(first.borrowed()), Bound(last.borrowed()), PART_ROWS];
            let mut found = image.query(between)?;
            let (mut copied, mut bytes) = (Copied::default(), 0);
            while let Some(row) = found.next()? {
                let row = cells(row)?;
                bytes += row.weight();
                let full = copied.rows.len() + 1 >= PART_ROWS as usize || bytes >= most;
                copied.next = full.then(|| row.first().map(Value::from)).flatten();
                copied.rows.push(row);
                if full {
                    break;
                }
            }
            Ok(copied)
        })
        .await
    }
}

/// From the first key behind this one to the last there can be.
fn range(table: Table, after: Option<&Value>) -> (Value, Value) {
    match table {
        Table::Tracking | Table::Meta => {
            let mut first = after.map(|after| key_text(after.borrowed())).unwrap_or_default();
            if after.is_some() {
                first.push(0);
            }
            (Value::Text(first), Value::Text(LAST_TEXT.into()))
        }
        _ => {
            let first = match after {
                Some(Value::Integer(n)) => n.saturating_add(1),
                _ => i64::MIN,
            };
            (Value::Integer(first), Value::Integer(i64::MAX))
        }
    }
}
