//! Putting what changed at the active into this file, and taking in what a machine hands in that was active as well.

use super::{image, turn};
use crate::{
    Error, Result,
    buffer::{
        Buffer, Shared,
        message::MessageStatus,
        recover::{self, Recovered},
        rows,
        salvage::{Cell, Salvaged},
        sql, telemetry,
    },
    sqlite::writer::WriteSession,
};
use domain::{
    pair::{Changes, History, Role, Row, RowValue, Standing, Table},
    site::Category,
};
use image::{Bound, statements};
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use std::{borrow::Cow, cmp::Ordering as Cmp, sync::Arc};
use uuid::Uuid;

/// A message's columns that are the same wherever it is: those of `salvage_row`, by their place among those of
/// `image_message`.
const HANDED_IN: [usize; 20] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 20, 22, 23,
];

impl Buffer {
    /// From here on this file is brought up to what the active has, which has lived through this; where that is stale its
    /// copy is. `joined` is under which id this machine joined, until the active vouches for it. No log is kept here any more. Of
    /// another turn this file has nothing yet: it has caught up when changes of it were applied.
    pub async fn follow(&self, history: History, stale: bool, joined: Option<Uuid>) -> Result<()> {
        self.write_as_either(1, move |s, shared| {
            let standing = turn::standing(s.conn)?;
            turn::stop_logging(s, shared)?;
            turn::write(
                s,
                shared,
                Standing {
                    caught_up: standing.caught_up && standing.history == history,
                    history: history.clone(),
                    stale,
                    sole: false,
                    joined,
                    vouches: None,
                    ..standing
                },
            )
        })
        .await
    }

    /// A fresh file that a whole copy goes into: changes after this place follow.
    pub async fn copy_begins(
        &self,
        position: i64,
        history: History,
        stale: bool,
        joined: Option<Uuid>,
    ) -> Result<()> {
        self.write_as_either(1, move |s, shared| {
            let standing = Standing {
                position,
                history: history.clone(),
                stale,
                joined,
                ..Standing::empty()
            };
            turn::write(s, shared, standing)
        })
        .await
    }

    /// A part of a whole copy.
    pub async fn put_part(&self, table: Table, rows: Vec<Row>) -> Result<()> {
        let rows: Vec<_> = rows.into_iter().map(|row| (table, row)).collect();
        self.write_as_either(rows.len(), move |s, shared| put_all(s, shared, &rows))
            .await
    }

    /// Brings this file from `from` to `to`, in one commit. An error where it is elsewhere: somebody else was faster.
    pub async fn apply(&self, changes: Changes) -> Result<()> {
        let weight = changes.rows.len() + changes.gone.len();
        self.write_as_either(weight, move |s, shared| {
            let standing = turn::standing(s.conn)?;
            if standing.role != Role::Standby || standing.position != changes.from {
                return Err(Error::unavailable(format!(
                    "changes after {} do not fit a copy at {}",
                    changes.from, standing.position
                )));
            }
            for (table, key) in &changes.gone {
                let key = key.borrowed();
                weigh(s, shared, *table, key, -1)?;
                s.conn
                    .prepare_cached(statements(*table).take_out)?
                    .execute([Bound(key)])?;
            }
            put_all(s, shared, &changes.rows)?;
            raise(s, &changes.sequences)?;
            let standing = Standing {
                position: changes.to,
                caught_up: changes.are_all(),
                ..standing
            };
            turn::write(s, shared, standing)
        })
        .await
    }

    /// Takes in messages that another machine accepted while it was active as well. What is known here by its id is left
    /// alone, so doing it twice does nothing.
    pub async fn take_handed_in(&self, messages: Vec<Row>) -> Result<Recovered> {
        let cells: Vec<Salvaged> = messages.iter().filter_map(salvaged).collect();
        let unreadable = (messages.len() - cells.len()) as u64;
        self.write(cells.len(), move |s, shared| {
            let mut taken = Recovered {
                lost: unreadable,
                ..Recovered::default()
            };
            for took in recover::take_all(s, shared, &cells)? {
                taken.count(&took);
            }
            Ok(taken)
        })
        .await
    }
}

fn salvaged(row: &Row) -> Option<Salvaged> {
    let values: Vec<_> = row.values().collect();
    let cell_at = |place: &usize| values.get(*place).copied().map(cell);
    HANDED_IN.iter().map(cell_at).collect()
}

fn cell(value: RowValue<'_>) -> Cell {
    match value {
        RowValue::Null => Cell::Null,
        RowValue::Integer(n) => Cell::Integer(n),
        RowValue::Real(n) => Cell::Real(n),
        RowValue::Text(text) => Cell::Text(text.to_vec()),
        RowValue::Blob(bytes) => Cell::Blob(bytes.to_vec()),
    }
}

fn put_all(s: &mut WriteSession<'_>, shared: &Arc<Shared>, rows: &[(Table, Row)]) -> Result<()> {
    for (table, row) in rows {
        let Some(key) = row.first() else {
            return Err(Error::corrupt("the copy", format!("a row of {table:?} is empty")));
        };
        weigh(s, shared, *table, key, -1)?;
        put_row(s.conn, *table, row)?;
        weigh(s, shared, *table, key, 1)?;
    }
    Ok(())
}

/// Puts a row in, also one of a machine whose schema is older: columns are only ever added, at the end.
pub(super) fn put_row(conn: &Connection, table: Table, row: &Row) -> Result<()> {
    let of = statements(table);
    let columns = row.columns();
    let put = match columns.cmp(&of.columns) {
        Cmp::Equal => Some(Cow::Borrowed(of.put)),
        Cmp::Less => put_first(of.put, columns).map(Cow::Owned),
        Cmp::Greater => None,
    };
    let put = put.ok_or_else(|| {
        let words = format!("a row of {table:?} has {columns} columns");
        Error::corrupt("the copy", words)
    })?;
    conn.prepare_cached(&put)?
        .execute(params_from_iter(row.values().map(Bound)))?;
    Ok(())
}

/// The statement for the first so many of its columns: the others get what the schema says where nothing is said. None for no column.
fn put_first(put: &str, columns: usize) -> Option<String> {
    let (into, rest) = put.split_once('(')?;
    let (names, rest) = rest.split_once(')')?;
    let (values, places) = rest.split_once('(')?;
    let places = places.trim_end().strip_suffix(')')?;
    let first = |list: &str| list.split(',').take(columns).collect::<Vec<_>>().join(",");
    let short = format!("{into}({}){values}({})", first(names), first(places));
    (columns > 0).then_some(short)
}

/// Counts the row with this key into the gauge, or out of it, as it is now.
pub(super) fn weigh(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    table: Table,
    key: RowValue<'_>,
    by: i64,
) -> Result<()> {
    let shared = shared.clone();
    match table {
        Table::Messages => {
            let mut weight = s.conn.prepare_cached(sql::message_weight)?;
            let mut found = weight.query([Bound(key)])?;
            let Some(row) = found.next()? else {
                return Ok(());
            };
            let (category, status): (Category, MessageStatus) = (rows::category(row)?, rows::status(row)?);
            let bytes: i64 = row.get("bytes")?;
            drop(found);
            drop(weight);
            s.after_commit(move || shared.gauge.add(category, status, by, by * bytes));
        }
        Table::Tombstones => {
            let mut weight = s.conn.prepare_cached(sql::tombstone_weight)?;
            let found: Option<i64> = weight.query_row([Bound(key)], |row| row.get(0)).optional()?;
            drop(weight);
            if let Some(bytes) = found {
                s.after_commit(move || shared.gauge.remember(by, by * bytes));
            }
        }
        Table::Telemetry => telemetry::weigh(s, &shared, Bound(key), by)?,
        Table::Tracking | Table::Events | Table::Meta => {}
    }
    Ok(())
}

fn raise(s: &WriteSession<'_>, sequences: &[(Table, i64)]) -> Result<()> {
    for (table, highest) in sequences {
        if let Some(name) = statements(*table).sequence {
            s.conn.prepare_cached(sql::sequence_begin)?.execute([name])?;
            s.conn
                .prepare_cached(sql::sequence_raise)?
                .execute(params![name, highest])?;
        }
    }
    Ok(())
}
