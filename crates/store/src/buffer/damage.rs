//! What was found damaged. It stays visible until somebody has acknowledged it; what it was is kept after that.

use super::{
    Buffer, Shared,
    event::{self, About, What},
    open, sql,
};
use crate::{
    Result,
    sqlite::{rows as columns, writer::WriteSession},
};
use domain::{Actor, Timestamp};
use rusqlite::{Connection, Row, params};
use std::sync::{Arc, atomic::Ordering};

/// Shown at once.
const LISTED: u32 = 100;

/// Something that was damaged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    pub id: i64,
    pub at: Timestamp,
    /// In words.
    pub what: String,
    /// The file that was set aside; none where it is about rows of the buffer itself.
    pub file: Option<String>,
    /// Messages that were brought back from it.
    pub recovered: u64,
    /// Messages that are known to have been there and could not be read.
    pub lost: u64,
}

/// Places of rows that are no messages any more, and why.
pub(super) type NoMessages = Vec<(i64, String)>;

/// Damage to be written down.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub what: String,
    pub file: Option<String>,
    pub recovered: u64,
    pub lost: u64,
}

impl Buffer {
    /// Damage that nobody has acknowledged, oldest first.
    pub async fn damage(&self) -> Result<Vec<Damage>> {
        if self.damaged() == 0 {
            return Ok(vec![]);
        }
        self.read(|conn| {
            let mut statement = conn.prepare_cached(sql::damage_open)?;
            let mut found = statement.query([LISTED])?;
            let mut damage = vec![];
            while let Some(row) = found.next()? {
                damage.push(from_row(row)?);
            }
            Ok(damage)
        })
        .await
    }

    /// How much damage nobody has acknowledged, without asking the file.
    pub fn damaged(&self) -> u64 {
        self.shared.damaged.load(Ordering::SeqCst)
    }

    /// Somebody has seen it: this entry, or all of them. How many there were.
    pub async fn acknowledge_damage(&self, id: Option<i64>, actor: &Actor) -> Result<u64> {
        let actor = actor.clone();
        self.write(1, move |s, shared| acknowledge(s, shared, id, &actor))
            .await
    }
}

fn acknowledge(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    id: Option<i64>,
    actor: &Actor,
) -> Result<u64> {
    let mut acknowledge = s.conn.prepare_cached(sql::damage_acknowledge)?;
    let n = acknowledge.execute(params![s.now.as_millis(), actor.as_str(), id])?;
    if n > 0 {
        let about = About {
            actor: Some(actor.as_str()),
            detail: Some("damage was acknowledged"),
            ..About::many(n)
        };
        event::of_file(s.conn, s.now, What::Acknowledged, about)?;
    }
    counted(s, shared)?;
    Ok(n as u64)
}

impl Buffer {
    /// For whoever reads a page: moves what is no message out of the way of the next one. Whether it could: a standby
    /// changes nothing by itself, and a disk may be full. What can be read is shown all the same.
    pub(super) async fn clear_away(&self, no_messages: NoMessages) -> bool {
        let weight = no_messages.len();
        let cleared = self.write(weight, move |s, shared| set_rows_aside(s, shared, &no_messages));
        match cleared.await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(
                    error = domain::chain(&error),
                    n = weight,
                    "rows of the buffer cannot be read, and could not be set aside"
                );
                false
            }
        }
    }
}

/// Moves rows that are no messages any more out of the way of the others, and says so.
pub(super) fn set_rows_aside(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    rows: &[(i64, String)],
) -> Result<()> {
    if !move_aside(s.conn, s.now, rows)? {
        return Ok(());
    }
    counted(s, shared)?;
    // What such a row was counted as cannot be told from it.
    let recounted = open::count(s.conn)?;
    let shared = shared.clone();
    s.after_commit(move || shared.gauge.set(&recounted));
    Ok(())
}

/// Whether there was anything to move.
pub(super) fn move_aside(conn: &Connection, now: Timestamp, rows: &[(i64, String)]) -> Result<bool> {
    let mut moved = 0;
    for (seq, why) in rows {
        conn.prepare_cached(sql::set_row_aside)?
            .execute(params![seq, now.as_millis(), why])?;
        moved += conn.prepare_cached(sql::remove_unreadable)?.execute([seq])?;
        tracing::error!(
            seq,
            error = why,
            "a row of the buffer cannot be read and is set aside"
        );
    }
    if moved == 0 {
        return Ok(false);
    }
    rows_set_aside(conn, now, moved)?;
    Ok(true)
}

/// Says that so many rows were moved out of the way, and keeps it until somebody has acknowledged it.
pub(super) fn rows_set_aside(conn: &Connection, now: Timestamp, moved: usize) -> Result<()> {
    let more = params![moved as i64, now.as_millis()];
    if conn.prepare_cached(sql::damage_more_rows)?.execute(more)? == 0 {
        let found = Found {
            what: "rows of the buffer cannot be read; they are kept in its table unreadable".to_owned(),
            lost: moved as u64,
            ..Found::default()
        };
        insert(conn, now, &found)?;
    }
    let about = About::many(moved).because("rows of the buffer cannot be read and were set aside");
    event::of_file(conn, now, What::Damaged, about)
}

pub(super) fn counted(s: &mut WriteSession<'_>, shared: &Arc<Shared>) -> Result<()> {
    let open = count(s.conn)?;
    let shared = shared.clone();
    s.after_commit(move || shared.damaged.store(open, Ordering::SeqCst));
    Ok(())
}

pub(super) fn count(conn: &Connection) -> Result<u64> {
    let mut count = conn.prepare_cached(sql::damage_count)?;
    Ok(count.query_row([], |row| columns::count(row, 0))?)
}

pub(super) fn insert(conn: &Connection, now: Timestamp, found: &Found) -> Result<()> {
    conn.prepare_cached(sql::damage_insert)?.execute(params![
        now.as_millis(),
        found.what,
        found.file,
        found.recovered as i64,
        found.lost as i64
    ])?;
    Ok(())
}

fn from_row(row: &Row<'_>) -> Result<Damage> {
    Ok(Damage {
        id: row.get("seq")?,
        at: columns::time(row, "at")?,
        what: row.get("what")?,
        file: row.get("file")?,
        recovered: columns::count(row, "recovered")?,
        lost: columns::count(row, "lost")?,
    })
}
