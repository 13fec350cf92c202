//! Taking in what became of calls and writes at a machine that was active as well, and what central has not heard of them.

use super::{
    apply::{put_row, weigh},
    image::Bound,
};
use crate::{
    Result,
    buffer::{Buffer, Shared, sql, telemetry},
    sqlite::{rows as columns, writer::WriteSession},
};
use domain::{
    pair::{Row, RowValue, Table},
    site::Telemetry,
};
use rusqlite::{Connection, OptionalExtension};
use std::sync::Arc;

/// Where a row of `image_tracking` says what became of it, and the words for those that have ended.
const STATUS: usize = 3;
const ENDED: [&[u8]; 3] = [b"Delivered", b"Failed", b"Discarded"];

/// Whether a row of what is tracked says that the call or write has ended.
pub fn has_ended(row: &Row) -> bool {
    matches!(row.get(STATUS), Some(RowValue::Text(status)) if ENDED.contains(&status))
}

/// Where a row of `image_telemetry` has the news, and when central heard it.
const NEWS: usize = 1;
const HEARD_AT: usize = 2;

/// Whether a row of news says that central has not heard it.
pub fn is_unheard(row: &Row) -> bool {
    row.get(HEARD_AT) == Some(RowValue::Null)
}

impl Buffer {
    /// Takes in how calls and writes ended elsewhere that wait here or are parked, or that are not known here: they are not made again.
    /// How many those were. One whose attempt is under way here, or whose end is known, is left alone, so doing it twice does nothing.
    pub async fn take_ended(&self, rows: Vec<Row>) -> Result<u64> {
        self.write(rows.len(), move |s, shared| {
            let mut taken = 0;
            for row in rows.iter().filter(|row| has_ended(row)) {
                taken += u64::from(take(s, shared, row)?);
            }
            Ok(taken)
        })
        .await
    }

    /// Takes in news for central that another machine could not tell; how much. Central knows a repeat by its id.
    pub async fn take_news(&self, rows: Vec<Row>) -> Result<u64> {
        let bodies: Vec<String> = rows
            .iter()
            .filter(|row| is_unheard(row))
            .filter_map(news)
            .collect();
        if bodies.is_empty() {
            return Ok(0);
        }
        self.write(bodies.len(), move |s, shared| {
            let mut insert = s.conn.prepare_cached(sql::telemetry_insert)?;
            let mut bytes = 0;
            for body in &bodies {
                insert.execute([body])?;
                bytes += body.len() as i64;
            }
            drop(insert);
            telemetry::count_in(s, shared, bodies.len() as i64, bytes);
            Ok(bodies.len() as u64)
        })
        .await
    }
}

/// What is no news is not told to anybody.
fn news(row: &Row) -> Option<String> {
    let Some(RowValue::Text(body)) = row.get(NEWS) else {
        return None;
    };
    let body = String::from_utf8(body.to_vec()).ok()?;
    columns::from_json::<Telemetry>("telemetry", &body).ok()?;
    Some(body)
}

fn take(s: &mut WriteSession<'_>, shared: &Arc<Shared>, row: &Row) -> Result<bool> {
    let Some(id) = row.first() else {
        return Ok(false);
    };
    let waits: Option<i64> = s
        .conn
        .prepare_cached(sql::waits_by_id)?
        .query_row([Bound(id)], |row| row.get(0))
        .optional()?;
    if let Some(seq) = waits.map(RowValue::Integer) {
        weigh(s, shared, Table::Messages, seq, -1)?;
        s.conn
            .prepare_cached(sql::take_out_message)?
            .execute([Bound(seq)])?;
    } else if is_known(s.conn, id)? {
        return Ok(false);
    }
    put_row(s.conn, Table::Tracking, row)?;
    Ok(true)
}

fn is_known(conn: &Connection, id: RowValue<'_>) -> Result<bool> {
    let mut known = conn.prepare_cached(sql::known_anywhere)?;
    Ok(known.query_row([Bound(id)], |row| row.get(0))?)
}
