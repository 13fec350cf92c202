//! The [`Maintenance`] trait on SQLite. One chunk of a purge is one command, so others get in between.

mod sql;

use crate::{
    Maintenance, Result,
    audit::Entry,
    maintenance::{Aging, Purged, Retention, aging_statements, purged_in_words},
    sqlite::{
        SqliteStore, audit, backup, open,
        rows::{self, all},
        writer::WriteSession,
    },
};
use async_trait::async_trait;
use domain::{Actor, AuditKind, TenantId, Timestamp};
use rusqlite::{Connection, params};
use std::{path::Path, time::Duration};

aging_statements!(sql);

#[async_trait]
impl Maintenance for SqliteStore {
    async fn purge_chunk(&self, keep: &Retention, chunk: u32) -> Result<Purged> {
        let keep = *keep;
        self.write(chunk as usize, move |s| purge(s, &keep, chunk)).await
    }

    async fn purgeable(&self, keep: &Retention, bound: u32) -> Result<Purged> {
        let (keep, now) = (*keep, self.clock.now());
        self.read(move |conn| {
            let count = |statement: &str, kept: Duration| -> Result<u64> {
                let mut statement = conn.prepare_cached(statement)?;
                let params = params![(now - kept).as_millis(), bound];
                Ok(statement.query_row(params, |row| rows::count(row, 0))?)
            };
            let mut purgeable = Purged {
                notifications: count(sql::purgeable_notifications, keep.terminal)?,
                oldest_left: oldest_left(conn)?,
                ..Purged::default()
            };
            for what in Aging::ALL {
                if let Some(kept) = keep.of(what) {
                    *purgeable.count_of(what) = count(count_statement(what), kept)?;
                }
            }
            Ok(purgeable)
        })
        .await
    }

    async fn compact_queue(&self) -> Result<()> {
        // Pages that rows have left are used again at once, whoever reads.
        Ok(())
    }

    async fn schema_version(&self) -> Result<i64> {
        self.read(open::schema_version).await
    }

    async fn backup(&self, to: &Path) -> Result<()> {
        let to = to.to_owned();
        self.read(move |conn| backup::backup(conn, &to)).await
    }

    async fn ping(&self) -> Result<()> {
        self.writer.check()?;
        self.read(|conn| Ok(conn.prepare_cached(sql::ping)?.query_row([], |_| Ok(()))?))
            .await
    }

    async fn close(&self) {
        self.writer.close().await;
        self.readers.close().await;
    }

    async fn misplaced(&self) -> Result<u64> {
        self.read(|conn| {
            Ok(conn
                .prepare_cached(sql::misplaced)?
                .query_row([], |row| rows::count(row, 0))?)
        })
        .await
    }
}

fn purge(s: &WriteSession<'_>, keep: &Retention, chunk: u32) -> Result<Purged> {
    let before = |kept: Duration| (s.now - kept).as_millis();
    let mut purged = Purged {
        notifications: purge_notifications(s, before(keep.terminal), chunk)?,
        ..Purged::default()
    };
    for what in Aging::ALL {
        if let Some(kept) = keep.of(what) {
            let mut purge = s.conn.prepare_cached(purge_statement(what))?;
            *purged.count_of(what) = purge.execute(params![before(kept), chunk])? as u64;
        }
    }
    purged.oldest_left = oldest_left(s.conn)?;
    Ok(purged)
}

fn purge_notifications(s: &WriteSession<'_>, before: i64, chunk: u32) -> Result<u64> {
    let ended = all(s.conn, sql::purge_candidates, params![before, chunk], |row| {
        let id: Option<[u8; 16]> = row.get(2)?;
        Ok((row.get::<_, i64>(0)?, row.get::<_, i32>(1)?, id))
    })?;
    for (seq, tenant, id) in &ended {
        if let Some(id) = id {
            let params = params![tenant, id, s.now.as_millis()];
            s.conn.prepare_cached(sql::purge_spend_key)?.execute(params)?;
        }
        for part in [
            sql::purge_recipients,
            sql::purge_messages,
            sql::purge_transcripts_of,
            sql::purge_audit_of,
            sql::purge_outcome,
            sql::purge_notification,
        ] {
            s.conn.prepare_cached(part)?.execute([seq])?;
        }
    }
    let actor = Actor::system();
    for (tenant, words) in purged_in_words(ended.iter().map(|(_, tenant, _)| *tenant)) {
        let entry = Entry {
            detail: Some(&words),
            ..Entry::new(TenantId(tenant), AuditKind::Purged, &actor)
        };
        audit::insert(s, &entry)?;
    }
    Ok(ended.len() as u64)
}

fn oldest_left(conn: &Connection) -> Result<Option<Timestamp>> {
    let oldest: Option<i64> = conn
        .prepare_cached(sql::purge_oldest_left)?
        .query_row([], |row| row.get(0))?;
    Ok(oldest.map(Timestamp::from_millis))
}
