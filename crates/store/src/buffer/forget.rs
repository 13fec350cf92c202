//! Letting go of what central acknowledged: when it is past its time, and earlier where new messages need the room.

use super::{
    Buffer, Shared,
    event::{self, About, What},
    sql, telemetry,
};
use crate::{
    Result,
    sqlite::{rows as columns, writer::WriteSession},
};
use domain::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params, types::ValueRef};
use serde_json::Value;
use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

/// Rows changed by one command of tidying up.
const CHUNK: u32 = 2_000;
/// From here on a row has a page more or less for itself.
const LARGE: u64 = 1_000;
/// About what a piece of news for central takes.
const NEWS_BYTES: u64 = 500;
/// Under pressure it is told once in this time, not for every message.
const TOLD_EVERY: Duration = Duration::from_secs(60);
/// Columns of what is remembered that may be empty, and what one of the others may say.
const OPTIONAL: [&str; 5] = [
    "ended_by",
    "origin_instance",
    "execution_id",
    "source_script",
    "parent_execution_id",
];
const ENDS: [&str; 2] = ["Delivered", "Discarded"];
/// Up to when what was acknowledged has been forgotten before its time.
const FORGOTTEN: &str = "forgotten_until";

/// How far back the memory reaches, and when that was told last.
#[derive(Debug)]
pub(super) struct Forgotten {
    until: AtomicI64,
    told_at: AtomicI64,
    news_told_at: AtomicI64,
}

impl Forgotten {
    pub(super) fn read(conn: &Connection) -> Result<Self> {
        let text: Option<String> = conn
            .prepare_cached(sql::meta_get)?
            .query_row([FORGOTTEN], |row| row.get(0))
            .optional()?;
        let until = text.and_then(|text| text.parse().ok()).unwrap_or(0);
        Ok(Self {
            until: AtomicI64::new(until),
            told_at: AtomicI64::new(0),
            news_told_at: AtomicI64::new(0),
        })
    }
}

impl Buffer {
    /// What central acknowledged before this moment was forgotten although its time had not come; none if that never
    /// happened.
    pub fn forgotten_until(&self) -> Option<Timestamp> {
        let until = self.shared.forgotten.until.load(Ordering::SeqCst);
        (until > 0).then(|| Timestamp::from_millis(until))
    }

    /// Forgets the content of what central acknowledged, and the news it heard, before this moment. Only to be called
    /// while the database that acknowledged it is known to be the one still there.
    pub async fn forget_acked(&self, before: Timestamp) -> Result<u64> {
        while self
            .write(CHUNK as usize, move |s, shared| {
                telemetry::forget(s, shared, before, CHUNK)
            })
            .await?
            .pieces
            == u64::from(CHUNK)
        {}
        let mut all = 0;
        loop {
            let forgotten = self
                .write(CHUNK as usize, move |s, shared| {
                    let oldest = oldest(s.conn, before, u64::MAX)?;
                    let n = oldest.len() as u64;
                    forget(s, shared, oldest)?;
                    Ok(n)
                })
                .await?;
            all += forgotten;
            if forgotten < u64::from(CHUNK) {
                return Ok(all);
            }
        }
    }
}

/// Lets go of what a message is worth more than, until so many bytes are free; how many are. Of the news that central has heard first,
/// then of content that it acknowledged, then of the news that waits for it: each time the oldest.
pub(super) fn give_way(s: &mut WriteSession<'_>, shared: &Arc<Shared>, bytes: u64) -> Result<u64> {
    let ever = Timestamp::from_millis(i64::MAX);
    let mut freed = news_gives_way(bytes, |pieces| telemetry::forget(s, shared, ever, pieces))?;
    while freed < bytes {
        let oldest = oldest(s.conn, ever, bytes - freed)?;
        let Some(until) = oldest.until else {
            break;
        };
        freed += oldest.bytes;
        let n = oldest.len();
        forget(s, shared, oldest)?;
        shorter(s, shared, until, n)?;
    }
    let mut unheard = 0;
    freed += news_gives_way(bytes.saturating_sub(freed), |pieces| {
        let gone = telemetry::drop_oldest(s, shared, pieces)?;
        unheard += gone.pieces;
        Ok(gone)
    })?;
    if unheard > 0 {
        news_dropped(s, shared, unheard);
    }
    Ok(freed)
}

/// Central never hears of these.
fn news_dropped(s: &mut WriteSession<'_>, shared: &Arc<Shared>, n: u64) {
    let (shared, now) = (shared.clone(), s.now);
    s.after_commit(move || {
        metrics::counter!("waypost_site_telemetry_failed_total").increment(n);
        let told_at = &shared.forgotten.news_told_at;
        if now.since(Timestamp::from_millis(told_at.load(Ordering::SeqCst))) >= TOLD_EVERY {
            told_at.store(now.as_millis(), Ordering::SeqCst);
            tracing::warn!(
                n,
                "reports that central has not heard give way to new messages: it never hears of these"
            );
        }
    });
}

/// Has pieces of news let go of until so many bytes are free, or there are none; how many are.
fn news_gives_way(bytes: u64, mut let_go: impl FnMut(u32) -> Result<telemetry::Gone>) -> Result<u64> {
    let mut freed = 0;
    while freed < bytes {
        let pieces = ((bytes - freed) / NEWS_BYTES + 1).min(u64::from(CHUNK)) as u32;
        let gone = let_go(pieces)?;
        if gone.pieces == 0 {
            break;
        }
        freed += gone.bytes;
    }
    Ok(freed)
}

/// The memory reaches only back to this moment from now on.
pub(super) fn shorter(s: &mut WriteSession<'_>, shared: &Arc<Shared>, until: i64, n: usize) -> Result<()> {
    let set = params![FORGOTTEN, until.to_string()];
    s.conn.prepare_cached(sql::meta_set)?.execute(set)?;
    let told = shared.forgotten.told_at.load(Ordering::SeqCst);
    let tells = s.now.since(Timestamp::from_millis(told)) >= TOLD_EVERY;
    if tells {
        let why = "room was needed; what central acknowledged up to then is not sent again should its database be lost";
        event::of_file(s.conn, s.now, What::Forgot, About::many(n).because(why))?;
        tracing::warn!(n, until = %Timestamp::from_millis(until), why, "acknowledged notifications give way to new messages");
    }
    let (shared, now) = (shared.clone(), s.now.as_millis());
    s.after_commit(move || {
        shared.forgotten.until.fetch_max(until, Ordering::SeqCst);
        if tells {
            shared.forgotten.told_at.store(now, Ordering::SeqCst);
        }
    });
    Ok(())
}

#[derive(Default)]
struct Oldest {
    small: Vec<i64>,
    large: Vec<i64>,
    bytes: u64,
    /// When the last of them was acknowledged.
    until: Option<i64>,
}

impl Oldest {
    fn len(&self) -> usize {
        self.small.len() + self.large.len()
    }
}

fn oldest(conn: &Connection, before: Timestamp, bytes: u64) -> Result<Oldest> {
    let mut found = Oldest::default();
    let mut statement = conn.prepare_cached(sql::remembered_oldest)?;
    let mut rows = statement.query(params![before.as_millis(), CHUNK])?;
    while found.bytes < bytes
        && let Some(row) = rows.next()?
    {
        let size = columns::count(row, 1)?;
        match size < LARGE {
            true => found.small.push(row.get(0)?),
            false => found.large.push(row.get(0)?),
        }
        found.bytes = found.bytes.saturating_add(size);
        found.until = Some(row.get(2)?);
    }
    Ok(found)
}

fn forget(s: &mut WriteSession<'_>, shared: &Arc<Shared>, oldest: Oldest) -> Result<()> {
    if !oldest.small.is_empty() {
        s.conn
            .prepare_cached(sql::forget_payloads)?
            .execute([columns::json(&oldest.small)])?;
    }
    if !oldest.large.is_empty() {
        write_anew(s.conn, &columns::json(&oldest.large))?;
    }
    let (shared, n, bytes) = (shared.clone(), oldest.len() as i64, oldest.bytes as i64);
    s.after_commit(move || shared.gauge.remember(-n, -bytes));
    Ok(())
}

/// Takes the content off large rows by writing them anew. One that is damaged so that it would not be taken as a row
/// again loses its content where it is.
fn write_anew(conn: &Connection, places: &str) -> Result<()> {
    let (mut sound, mut kept, mut damaged) = (vec![], vec![], vec![]);
    {
        let mut read = conn.prepare_cached(sql::forgotten_read)?;
        let mut found = read.query([places])?;
        while let Some(row) = found.next()? {
            let seq: i64 = row.get(0)?;
            match kept_of(row)? {
                Some(values) => {
                    sound.push(seq);
                    kept.push(values);
                }
                None => damaged.push(seq),
            }
        }
    }
    if !damaged.is_empty() {
        tracing::warn!(
            n = damaged.len(),
            "remembered notifications are damaged; their content is forgotten like that of the others"
        );
        conn.prepare_cached(sql::forget_payloads)?
            .execute([columns::json(&damaged)])?;
    }
    conn.prepare_cached(sql::forgotten_remove)?
        .execute([columns::json(&sound)])?;
    conn.prepare_cached(sql::forgotten_write)?
        .execute([columns::json(&kept)])?;
    Ok(())
}

/// What is kept of a row, in the order of `forgotten_write`; none where it would not be taken as a row again.
fn kept_of(row: &Row<'_>) -> Result<Option<Vec<Value>>> {
    let columns = row.as_ref();
    let mut values = Vec::with_capacity(columns.column_count());
    for column in 0..columns.column_count() {
        let name = columns.column_name(column)?;
        let value = match row.get_ref(column)? {
            ValueRef::Null => OPTIONAL.contains(&name).then_some(Value::Null),
            ValueRef::Integer(n) => Some(n.into()),
            ValueRef::Text(bytes) => str::from_utf8(bytes)
                .ok()
                .filter(|text| name != "ended_as" || ENDS.contains(text))
                .map(Value::from),
            ValueRef::Real(_) | ValueRef::Blob(_) => None,
        };
        let Some(value) = value else {
            return Ok(None);
        };
        values.push(value);
    }
    Ok(Some(values))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, buffer::Options};
    use domain::ManualClock;

    #[tokio::test]
    async fn that_the_memory_is_shorter_is_told_once_it_is_and_not_by_what_was_undone() {
        let folder = tempfile::tempdir().unwrap();
        let buffer = Buffer::open(
            &Options::at(folder.path().join("sf.db")),
            Arc::new(ManualClock::default()),
        )
        .unwrap();
        for fails in [true, false] {
            let done = buffer.write(1, move |s, shared| {
                shorter(s, shared, 5, 1)?;
                match fails {
                    true => Err(Error::Refused("undone".to_owned())),
                    false => Ok(()),
                }
            });
            assert_eq!(done.await.is_err(), fails);
        }
        let events = buffer.events(None, 10).await.unwrap();
        assert_eq!(events.len(), 1, "{events:?}");
        assert_eq!(events[0].what, What::Forgot);
    }
}
