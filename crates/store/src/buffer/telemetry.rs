//! News for central about cached calls and writes, and about notifications that did not leave: written with what it
//! tells of, kept until central has it, and then as long as what central acknowledged.
//!
//! Always true: a failure here never undoes what it was to tell of; where SQLite has undone that itself, the caller is
//! told.

use super::{
    Buffer, Shared,
    damage::{self, NoMessages},
    event::cut,
    forward::central,
    gauge,
    message::{Message, MessageId},
    sql,
};
use crate::{
    Result,
    sqlite::{rows as columns, writer::WriteSession},
};
use domain::{
    Timestamp, TrackedOperationId,
    site::{DatabaseIdentity, OperationEvent, OperationStatus, Telemetry},
    submission::limit,
};
use rusqlite::{OptionalExtension, Params, ToSql, params};
use std::{sync::Arc, time::Duration};
use tracing::warn;
use uuid::Uuid;

/// More than this is not kept for a central that does not come back.
pub const KEPT: u64 = 500_000;

impl Buffer {
    /// The oldest news, each with its place. A piece that cannot be read is set aside, and that is said.
    pub async fn telemetry(&self, limit: u32) -> Result<Vec<(i64, Telemetry)>> {
        let found = self
            .read(move |conn| {
                let mut statement = conn.prepare_cached(sql::telemetry_page)?;
                // What is no text is no news either.
                let rows =
                    statement.query_map([limit], |row| Ok((row.get(0)?, row.get(1).unwrap_or_default())))?;
                Ok(rows.collect::<Result<Vec<(i64, String)>, _>>()?)
            })
            .await?;
        let mut news = Vec::with_capacity(found.len());
        let mut unreadable = vec![];
        for (seq, body) in found {
            match columns::from_json("telemetry", &body) {
                Ok(telemetry) => news.push((seq, telemetry)),
                Err(why) => unreadable.push((seq, why.to_string())),
            }
        }
        if !unreadable.is_empty() {
            self.set_news_aside(unreadable).await?;
        }
        Ok(news)
    }

    async fn set_news_aside(&self, unreadable: NoMessages) -> Result<()> {
        self.write(unreadable.len(), move |s, shared| {
            let mut moved = 0;
            for (seq, why) in &unreadable {
                let mut set_aside = s.conn.prepare_cached(sql::set_news_aside)?;
                set_aside.execute(params![seq, s.now.as_millis(), why])?;
                weigh(s, shared, *seq, -1)?;
                moved += s.conn.prepare_cached(sql::telemetry_unreadable)?.execute([seq])?;
                tracing::error!(
                    seq,
                    error = why,
                    "news for central cannot be read and is set aside"
                );
            }
            if moved > 0 {
                damage::rows_set_aside(s.conn, s.now, moved)?;
                damage::counted(s, shared)?;
            }
            Ok(())
        })
        .await
    }

    /// Central has these. They are remembered until [`Buffer::forget_acked`], like notifications. `by` is the
    /// database that answered: if another one has been met since, the answer proves nothing. Says whether it counted.
    pub async fn telemetry_heard(&self, by: &DatabaseIdentity, seqs: Vec<i64>) -> Result<bool> {
        let by = columns::json(by);
        self.write(seqs.len(), move |s, shared| {
            if central(s)?.as_deref() != Some(by.as_str()) {
                return Ok(false);
            }
            let mut heard = Changed::default();
            for seq in &seqs {
                heard.add(changed(s, sql::telemetry_heard, params![seq, s.now.as_millis()])?);
            }
            let shared = shared.clone();
            s.after_commit(move || {
                shared.gauge.news_waits(-heard.n, -heard.bytes);
                shared.gauge.news_remembered(heard.n, heard.bytes);
            });
            Ok(true)
        })
        .await
    }

    /// How much news waits.
    pub async fn telemetry_waiting(&self) -> Result<u64> {
        self.read(|conn| {
            let mut count = conn.prepare_cached(sql::telemetry_count)?;
            Ok(count.query_row([], |row| columns::count(row, 0))?)
        })
        .await
    }

    /// Lets the oldest go where more than `kept` wait; how many went.
    pub async fn telemetry_drop_beyond(&self, kept: u64) -> Result<u64> {
        let waiting = self.telemetry_waiting().await?;
        let Some(excess) = waiting.checked_sub(kept).filter(|n| *n > 0) else {
            return Ok(0);
        };
        self.write(1, move |s, shared| {
            let excess = u32::try_from(excess).unwrap_or(u32::MAX);
            Ok(drop_oldest(s, shared, excess)?.pieces)
        })
        .await
    }
}

/// Pieces of news that a statement changed, and the bytes of their texts.
#[derive(Debug, Clone, Copy, Default)]
struct Changed {
    n: i64,
    bytes: i64,
}

impl Changed {
    fn add(&mut self, other: Self) {
        self.n += other.n;
        self.bytes += other.bytes;
    }
}

/// Runs a statement that returns the bytes of each piece it changes.
fn changed(s: &WriteSession<'_>, sql: &str, params: impl Params) -> Result<Changed> {
    let mut statement = s.conn.prepare_cached(sql)?;
    let mut found = statement.query(params)?;
    let mut changed = Changed::default();
    while let Some(row) = found.next()? {
        changed.add(Changed {
            n: 1,
            bytes: row.get(0)?,
        });
    }
    Ok(changed)
}

/// Counts a piece into the gauge, or out of it, as it is now.
pub(super) fn weigh(s: &mut WriteSession<'_>, shared: &Arc<Shared>, seq: impl ToSql, by: i64) -> Result<()> {
    let found: Option<(i64, bool)> = s
        .conn
        .prepare_cached(sql::telemetry_weight)?
        .query_row([seq], |row| Ok((row.get("bytes")?, row.get("heard")?)))
        .optional()?;
    if let Some((bytes, is_heard)) = found {
        let shared = shared.clone();
        s.after_commit(move || match is_heard {
            true => shared.gauge.news_remembered(by, by * bytes),
            false => shared.gauge.news_waits(by, by * bytes),
        });
    }
    Ok(())
}

/// Has some of what an earlier database heard told once more; whether that was all.
pub(super) fn tell_again(s: &mut WriteSession<'_>, shared: &Arc<Shared>, chunk: u32) -> Result<bool> {
    let again = changed(s, sql::telemetry_again, [chunk])?;
    if again.n > 0 {
        let shared = shared.clone();
        s.after_commit(move || {
            shared.gauge.news_remembered(-again.n, -again.bytes);
            shared.gauge.news_waits(again.n, again.bytes);
            shared.wake.ring_telemetry();
        });
    }
    Ok(again.n < i64::from(chunk))
}

/// Lets go of some of what central has not heard, the oldest first.
pub(super) fn drop_oldest(s: &mut WriteSession<'_>, shared: &Arc<Shared>, pieces: u32) -> Result<Gone> {
    let gone = changed(s, sql::telemetry_drop, [pieces])?;
    let shared = shared.clone();
    s.after_commit(move || shared.gauge.news_waits(-gone.n, -gone.bytes));
    Ok(gone.into())
}

/// What was let go of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gone {
    pub pieces: u64,
    pub bytes: u64,
}

impl From<Changed> for Gone {
    fn from(gone: Changed) -> Self {
        Self {
            pieces: gone.n.unsigned_abs(),
            bytes: gauge::news(gone.n, gone.bytes).unsigned_abs(),
        }
    }
}

/// Lets go of some of what central heard before this moment, the oldest first.
pub(super) fn forget(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    before: Timestamp,
    chunk: u32,
) -> Result<Gone> {
    let gone = changed(s, sql::telemetry_forget, params![before.as_millis(), chunk])?;
    let shared = shared.clone();
    s.after_commit(move || shared.gauge.news_remembered(-gone.n, -gone.bytes));
    Ok(gone.into())
}

/// One thing that happened.
#[derive(Debug, Clone, Copy)]
pub(super) struct News<'a> {
    pub message: &'a Message,
    pub event: OperationEvent,
    pub status: OperationStatus,
    pub retry_count: u32,
    pub error: Option<&'a str>,
    pub http_status: Option<u16>,
    pub occurred_at: Option<Timestamp>,
    pub took: Option<Duration>,
    pub actor: Option<&'a str>,
}

impl<'a> News<'a> {
    pub(super) fn of(message: &'a Message, event: OperationEvent, status: OperationStatus) -> Self {
        Self {
            message,
            event,
            status,
            retry_count: message.retry_count,
            error: None,
            http_status: None,
            occurred_at: None,
            took: None,
            actor: None,
        }
    }
}

/// Writes the news down, or says that it could not and goes on. An error only where there is nothing to go on with: on
/// a full disk SQLite undoes the whole transaction, and whatever followed would be committed by itself.
pub(super) fn write(s: &mut WriteSession<'_>, shared: &Arc<Shared>, op: i64, news: News<'_>) -> Result<()> {
    let MessageId(id) = news.message.id;
    let message = news.message;
    let telemetry = Telemetry {
        id: Uuid::now_v7(),
        operation: TrackedOperationId(id),
        revision: op,
        category: message.category,
        target: message.target.clone(),
        summary: message.described(),
        event: news.event,
        status: news.status,
        retry_count: news.retry_count,
        error: news.error.map(|e| cut(e, limit::ERROR).to_owned()),
        http_status: news.http_status,
        created_at: message.created_at,
        occurred_at: news.occurred_at.unwrap_or(s.now),
        duration_ms: news
            .took
            .map(|t| u32::try_from(t.as_millis()).unwrap_or(u32::MAX)),
        instance: message.origin.instance.clone(),
        script: message.origin.script.clone(),
        node: (!shared.node.is_empty()).then(|| shared.node.clone()),
        execution: message.origin.execution.clone(),
        parent_execution: message.origin.parent_execution.clone(),
        actor: news.actor.map(Into::into),
    };
    let body = columns::json(&telemetry);
    let written = s
        .conn
        .prepare_cached(sql::telemetry_insert)
        .and_then(|mut insert| insert.execute([&body]));
    match written {
        Ok(_) => count_in(s, shared, 1, body.len() as i64),
        Err(error) if s.conn.is_autocommit() => return Err(error.into()),
        Err(error) => {
            metrics::counter!("waypost_site_telemetry_failed_total").increment(1);
            warn!(operation.id = %id, error = %error, "news for central could not be written; the message goes on without it");
        }
    }
    Ok(())
}

/// Counts pieces that have been written, and has them told.
pub(super) fn count_in(s: &mut WriteSession<'_>, shared: &Arc<Shared>, n: i64, bytes: i64) {
    let shared = shared.clone();
    s.after_commit(move || {
        shared.gauge.news_waits(n, bytes);
        shared.wake.ring_telemetry();
    });
}
