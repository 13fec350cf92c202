//! Notifications on their way to central: which are next, which central has, and what is sent again when central's
//! database turns out to be another one.

use super::{
    Buffer, Shared,
    event::{self, About, What},
    message::{MessageStatus, Waiting},
    rows, sql,
};
use crate::{
    Result,
    sqlite::{rows as columns, writer::Session},
};
use domain::{
    Timestamp,
    site::{Category, DatabaseIdentity},
};
use rusqlite::{OptionalExtension, params};
use std::sync::Arc;

/// Where an acknowledgement came from is kept here.
const CENTRAL: &str = "central";
/// Rows changed by one command of tidying up.
const CHUNK: u32 = 2_000;

/// Central's answers about a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handed {
    /// On central's disk.
    pub acked: Vec<i64>,
    /// Central will never take these, and why.
    pub refused: Vec<(i64, String)>,
}

impl Buffer {
    /// Notifications that wait behind this place, oldest first; no more than `limit`, and no further one once their
    /// payloads have come to `bytes`.
    pub async fn forwardable(&self, after: i64, limit: u32, bytes: usize) -> Result<Vec<Waiting>> {
        self.read(move |conn| {
            let mut statement = conn.prepare_cached(sql::forwardable)?;
            let mut found = statement.query(params![after, limit])?;
            let mut messages = vec![];
            let mut gathered = 0;
            while gathered < bytes
                && let Some(row) = found.next()?
            {
                let waiting = rows::waiting(row)?;
                gathered += waiting.payload.len();
                messages.push(waiting);
            }
            Ok(messages)
        })
        .await
    }

    /// Clears what central has, and parks what it will never take. `by` is the database that answered: if another
    /// one has been met since, the answer proves nothing any more, and nothing is cleared. Says whether it was.
    pub async fn handed_over(&self, by: &DatabaseIdentity, handed: Handed) -> Result<bool> {
        let by = columns::json(by);
        let weight = handed.acked.len() + handed.refused.len();
        self.write(weight, move |s, shared| {
            if central(s)?.as_deref() != Some(by.as_str()) {
                return Ok(false);
            }
            clear(s, shared, &handed.acked)?;
            for (seq, why) in &handed.refused {
                park(s, shared, *seq, why)?;
            }
            Ok(true)
        })
        .await
    }

    /// Parks a notification that cannot be forwarded at all.
    pub async fn park_forward(&self, seq: i64, why: &str) -> Result<()> {
        let why = why.to_owned();
        self.write(1, move |s, shared| park(s, shared, seq, &why)).await
    }

    /// Central is this database now. When it was another one before, everything that one acknowledged and that is
    /// still remembered waits again; how many that are.
    pub async fn met_central(&self, database: &DatabaseIdentity) -> Result<u64> {
        let database = columns::json(database);
        let mut again = 0;
        loop {
            let now = database.clone();
            let chunk = CHUNK as usize;
            let (restored, all) = self.write(chunk, move |s, shared| meet(s, shared, &now)).await?;
            again += restored;
            if all {
                return Ok(again);
            }
        }
    }

    /// Forgets the content of what central acknowledged before this moment. Only to be called while the database
    /// that acknowledged it is known to be the one still there.
    pub async fn forget_acked(&self, before: Timestamp) -> Result<u64> {
        let mut all = 0;
        loop {
            let forgotten = self
                .write(CHUNK as usize, move |s, _| {
                    let mut forget = s.conn.prepare_cached(sql::forget_acked)?;
                    Ok(forget.execute(params![before.as_millis(), CHUNK])? as u64)
                })
                .await?;
            all += forgotten;
            if forgotten < u64::from(CHUNK) {
                return Ok(all);
            }
        }
    }
}

fn central(s: &Session<'_>) -> Result<Option<String>> {
    let mut get = s.conn.prepare_cached(sql::meta_get)?;
    Ok(get.query_row([CENTRAL], |row| row.get(0)).optional()?)
}

fn clear(s: &mut Session<'_>, shared: &Arc<Shared>, acked: &[i64]) -> Result<()> {
    if acked.is_empty() {
        return Ok(());
    }
    let places = columns::json(&acked);
    let before = shared.ops(acked.len());
    s.conn
        .prepare_cached(sql::bury_acked)?
        .execute(params![places, s.now.as_millis(), before])?;
    let mut remove = s.conn.prepare_cached(sql::remove_acked)?;
    let mut removed = remove.query([&places])?;
    let (mut gone, mut bytes) = (0, 0);
    while let Some(row) = removed.next()? {
        gone += 1;
        bytes += row.get::<_, i64>(0)?;
    }
    drop(removed);
    drop(remove);
    if gone > 0 {
        event::write(
            s,
            What::Delivered,
            Category::Notification,
            CENTRAL,
            About::many(gone),
        )?;
        let (shared, gone) = (shared.clone(), gone as i64);
        s.after_commit(move || {
            shared
                .gauge
                .add(Category::Notification, MessageStatus::Pending, -gone, -bytes);
        });
    }
    Ok(())
}

fn park(s: &mut Session<'_>, shared: &Arc<Shared>, seq: i64, why: &str) -> Result<()> {
    let parked = super::attempt::one(
        s,
        sql::park_forward,
        params![seq, why, s.now.as_millis(), shared.op()],
    )?;
    if let Some(message) = parked {
        let about = About::one(message.id).because(why);
        event::write(s, What::Parked, message.category, &message.target, about)?;
        let shared = shared.clone();
        s.after_commit(move || {
            shared.gauge.moved(
                Category::Notification,
                MessageStatus::Pending,
                MessageStatus::Parked,
            );
        });
    }
    Ok(())
}

/// One step of meeting a database, so that senders get in between: how many wait again, and whether that was all.
/// Which database it is is written down with the last step; until then a crash only means beginning again.
fn meet(s: &mut Session<'_>, shared: &Arc<Shared>, database: &str) -> Result<(u64, bool)> {
    let before = central(s)?;
    if before.as_deref() == Some(database) {
        return Ok((0, true));
    }
    let (restored, all) = match before {
        Some(_) => restore(s, shared)?,
        None => (0, true),
    };
    if all {
        s.conn
            .prepare_cached(sql::meta_set)?
            .execute([CENTRAL, database])?;
    }
    Ok((restored, all))
}

/// Takes up to so many back into the buffer; how many were taken, and whether none are left.
fn restore(s: &mut Session<'_>, shared: &Arc<Shared>) -> Result<(u64, bool)> {
    let mut restore = s.conn.prepare_cached(sql::restore_acked)?;
    let mut found = restore.query(params![s.now.as_millis(), shared.op(), CHUNK])?;
    let (mut n, mut bytes) = (0i64, 0i64);
    while let Some(row) = found.next()? {
        n += 1;
        bytes += row.get::<_, i64>(0)?;
    }
    drop(found);
    drop(restore);
    let unburied = s.conn.prepare_cached(sql::unbury_restored)?.execute([CHUNK])?;
    if n > 0 {
        let why =
            "central's database is another one than before; what the earlier one acknowledged is sent again";
        let about = About::many(n.unsigned_abs() as usize).because(why);
        event::write(s, What::Queued, Category::Notification, CENTRAL, about)?;
    }
    let shared = shared.clone();
    s.after_commit(move || {
        shared
            .gauge
            .add(Category::Notification, MessageStatus::Pending, n, bytes);
        shared.wake.ring_rewind();
    });
    Ok((n.unsigned_abs(), unburied < CHUNK as usize))
}
