//! Taking in what became of calls and writes at a machine that was active as well.

use super::{apply::weigh, image::Bound};
use crate::{
    Result,
    buffer::{Buffer, Shared, replication::image::statements, sql},
    sqlite::writer::WriteSession,
};
use domain::pair::{Table, Value, change::Row};
use rusqlite::{OptionalExtension, params_from_iter};
use std::sync::Arc;

/// Where a row of `image_tracking` says what became of it, and the words for those that have ended.
const STATUS: usize = 3;
const ENDED: [&[u8]; 3] = [b"Delivered", b"Failed", b"Discarded"];

/// Whether a row of what is tracked says that the call or write has ended.
pub fn has_ended(row: &Row) -> bool {
    matches!(row.get(STATUS), Some(Value::Text(status)) if ENDED.contains(&status.as_slice()))
}

impl Buffer {
    /// Takes in how calls and writes ended elsewhere that wait here: they are not made again. How many those were. One whose
    /// attempt is under way here, or that is not known, is left alone, so doing it twice does nothing.
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
}

fn take(s: &mut WriteSession<'_>, shared: &Arc<Shared>, row: &Row) -> Result<bool> {
    let of = statements(Table::Tracking);
    let Some(id) = row.first().filter(|_| row.len() == of.columns) else {
        return Ok(false);
    };
    let waits: Option<i64> = s
        .conn
        .prepare_cached(sql::waits_by_id)?
        .query_row([Bound(id)], |row| row.get(0))
        .optional()?;
    let Some(seq) = waits.map(Value::Integer) else {
        return Ok(false);
    };
    weigh(s, shared, Table::Messages, &seq, -1)?;
    s.conn
        .prepare_cached(sql::take_out_message)?
        .execute([Bound(&seq)])?;
    s.conn
        .prepare_cached(of.put)?
        .execute(params_from_iter(row.iter().map(Bound)))?;
    Ok(true)
}
