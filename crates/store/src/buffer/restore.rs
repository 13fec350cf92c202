//! Central turned out to be another database: what the one before acknowledged waits again.
//!
//! Always true: a row leaves the memory before it is put among what waits, in one commit, so that on a full disk it
//! finds the room that it had; a row that is no message any more is set aside, and the others go on.

use super::{
    Buffer, Shared, damage,
    event::{self, About, What},
    forward::{CENTRAL, central},
    message::MessageStatus,
    sql, telemetry,
};
use crate::{
    Result,
    sqlite::{error, rows as columns, writer::WriteSession},
};
use domain::site::{Category, DatabaseIdentity};
use rusqlite::{Connection, Row, Statement, params, types::ToSqlOutput};
use std::sync::Arc;

/// Rows that one commit moves.
const STEP_ROWS: u32 = 2_000;
/// About how many bytes: few enough that the log has room for them without growing, and that senders do not wait long.
const STEP_BYTES: i64 = 1 << 20;

impl Buffer {
    /// Central is this database now. When it was another one before, everything that one acknowledged and that is
    /// still remembered waits again; how many that are.
    pub async fn met_central(&self, database: &DatabaseIdentity) -> Result<u64> {
        let database: Arc<str> = columns::json(database).into();
        let mut again = 0;
        loop {
            let (restored, all) = self.meet_some(&database).await?;
            again += restored;
            if all {
                return Ok(again);
            }
        }
    }

    /// One step. Where there is no room even for that, the oldest of what is remembered gives way: otherwise a full disk
    /// would keep the site from forwarding, which is what makes room.
    async fn meet_some(&self, database: &Arc<str>) -> Result<(u64, bool)> {
        loop {
            let database = database.clone();
            let met = self
                .try_write(STEP_ROWS as usize, move |s, shared| meet(s, shared, &database))
                .await;
            if met.as_ref().is_err_and(error::is_full) && self.make_room(0).await {
                continue;
            }
            if !self.shared.room.released(&met) {
                return met;
            }
        }
    }
}

/// One step of meeting a database, so that senders get in between: how many wait again, and whether that was all.
/// Which database it is is written down with the last step; until then a crash only means beginning again.
fn meet(s: &mut WriteSession<'_>, shared: &Arc<Shared>, database: &str) -> Result<(u64, bool)> {
    let before = central(s)?;
    if before.as_deref() == Some(database) {
        return Ok((0, true));
    }
    let (restored, all) = match before {
        Some(_) => {
            let told = telemetry::tell_again(s, shared, STEP_ROWS)?;
            let (restored, all) = restore(s, shared)?;
            (restored, all && told)
        }
        None => (0, true),
    };
    if all {
        s.conn
            .prepare_cached(sql::meta_set)?
            .execute([CENTRAL, database])?;
    }
    Ok((restored, all))
}

/// Takes some back into the buffer; how many were taken, and whether none are left.
fn restore(s: &mut WriteSession<'_>, shared: &Arc<Shared>) -> Result<(u64, bool)> {
    let (places, all) = oldest(s.conn)?;
    let op = shared.op();
    let (mut restored, mut restored_bytes, mut left, mut left_bytes, mut aside) = (0, 0, 0, 0, 0);
    {
        let mut unbury = s.conn.prepare_cached(sql::unbury)?;
        for (seq, bytes) in &places {
            let mut found = unbury.query([seq])?;
            let Some(row) = found.next()? else {
                continue;
            };
            left += 1;
            left_bytes += bytes;
            match put_back(s, row, op)? {
                PutBack::Waits => {
                    restored += 1;
                    restored_bytes += bytes;
                }
                PutBack::WaitsAlready => {}
                PutBack::SetAside => aside += 1,
            }
        }
    }
    if restored > 0 {
        let why = "central was restarted, restored or moved to another database; what it acknowledged last is sent \
                   again, and central knows what it has";
        let about = About::many(restored).because(why);
        event::write(s, What::Queued, Category::Notification, CENTRAL, about)?;
    }
    if aside > 0 {
        damage::rows_set_aside(s.conn, s.now, aside)?;
        damage::counted(s, shared)?;
    }
    let (shared, n) = (shared.clone(), restored as i64);
    s.after_commit(move || {
        shared
            .gauge
            .add(Category::Notification, MessageStatus::Pending, n, restored_bytes);
        shared.gauge.remember(-left, -left_bytes);
        shared.wake.ring_rewind();
    });
    Ok((restored as u64, all))
}

/// The places of what was acknowledged first and the bytes of each, for one step; and whether there are no more.
fn oldest(conn: &Connection) -> Result<(Vec<(i64, i64)>, bool)> {
    let mut statement = conn.prepare_cached(sql::remembered_oldest)?;
    let mut found = statement.query(params![i64::MAX, STEP_ROWS])?;
    let (mut places, mut gathered) = (vec![], 0);
    while gathered < STEP_BYTES {
        let Some(row) = found.next()? else {
            let all = places.len() < STEP_ROWS as usize;
            return Ok((places, all));
        };
        let bytes: i64 = row.get(1)?;
        places.push((row.get(0)?, bytes));
        gathered += bytes;
    }
    Ok((places, false))
}

enum PutBack {
    Waits,
    /// The sender has sent it once more meanwhile.
    WaitsAlready,
    /// It is no message any more.
    SetAside,
}

/// Puts a row back that was taken out of the memory, byte for byte.
fn put_back(s: &WriteSession<'_>, taken: &Row<'_>, op: i64) -> Result<PutBack> {
    let mut put = s.conn.prepare_cached(sql::restore_acked)?;
    let next = bind(&mut put, taken)?;
    put.raw_bind_parameter(next, s.now.as_millis())?;
    put.raw_bind_parameter(next + 1, op)?;
    let why = match put.raw_execute() {
        Ok(0) => return Ok(PutBack::WaitsAlready),
        Ok(_) => return Ok(PutBack::Waits),
        Err(refused) if error::is_refusal(&refused) => refused.to_string(),
        Err(error) => return Err(error.into()),
    };
    let mut aside = s.conn.prepare_cached(sql::set_remembered_aside)?;
    let next = bind(&mut aside, taken)?;
    aside.raw_bind_parameter(next, s.now.as_millis())?;
    aside.raw_bind_parameter(next + 1, &why)?;
    aside.raw_execute()?;
    let seq: i64 = taken.get(0)?;
    tracing::error!(
        seq,
        error = why,
        "a remembered notification is damaged and is set aside"
    );
    Ok(PutBack::SetAside)
}

/// Binds all columns of a row as they are; the number of the next parameter.
fn bind(to: &mut Statement<'_>, row: &Row<'_>) -> Result<usize> {
    let columns = row.as_ref().column_count();
    for column in 0..columns {
        to.raw_bind_parameter(column + 1, ToSqlOutput::Borrowed(row.get_ref(column)?))?;
    }
    Ok(columns + 1)
}
