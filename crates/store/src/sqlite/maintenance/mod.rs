//! The [`Maintenance`] trait on SQLite. One chunk of a purge is one command, so others get in between.

mod sql;

use crate::{
    Maintenance, Result,
    maintenance::{Purged, Retention},
    sqlite::{
        SqliteStore,
        audit::{self, AuditEntry},
        backup, open,
        rows::{self, all},
        writer::Session,
    },
};
use async_trait::async_trait;
use domain::{Actor, AuditKind, TenantId, Timestamp};
use rusqlite::{Connection, params};
use std::{collections::BTreeMap, path::Path};

#[async_trait]
impl Maintenance for SqliteStore {
    async fn purge_chunk(&self, keep: &Retention, chunk: u32) -> Result<Purged> {
        let keep = *keep;
        self.write(chunk as usize, move |s| purge(s, &keep, chunk)).await
    }

    async fn purgeable(&self, keep: &Retention, bound: u32) -> Result<Purged> {
        let before = Before::new(keep, self.clock.now());
        self.read(move |conn| {
            let count = |sql: &str, before: Option<i64>| -> Result<u64> {
                let Some(before) = before else { return Ok(0) };
                let mut statement = conn.prepare_cached(sql)?;
                Ok(statement.query_row(params![before, bound], |row| rows::count(row, 0))?)
            };
            Ok(Purged {
                notifications: count(sql::purgeable_notifications, Some(before.terminal))?,
                audit_rows: count(sql::purgeable_audit, Some(before.audit))?,
                spent_keys: count(sql::purgeable_spent_keys, before.spent_keys)?,
                stats_rows: count(sql::purgeable_stats, Some(before.stats))?,
                site_calls: count(sql::purgeable_site_calls, Some(before.terminal))?,
                jobs: count(sql::purgeable_jobs, Some(before.terminal))?,
                oldest_left: oldest_left(conn)?,
            })
        })
        .await
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

/// The moments before which things go.
struct Before {
    terminal: i64,
    audit: i64,
    spent_keys: Option<i64>,
    stats: i64,
}

impl Before {
    fn new(keep: &Retention, now: Timestamp) -> Self {
        Self {
            terminal: (now - keep.terminal).as_millis(),
            audit: (now - keep.audit).as_millis(),
            spent_keys: keep.spent_keys.map(|kept| (now - kept).as_millis()),
            stats: (now - keep.stats).as_millis(),
        }
    }
}

fn purge(s: &Session<'_>, keep: &Retention, chunk: u32) -> Result<Purged> {
    let before = Before::new(keep, s.now);
    let rest = |sql: &str, before: Option<i64>| -> Result<u64> {
        let Some(before) = before else { return Ok(0) };
        Ok(s.conn.prepare_cached(sql)?.execute(params![before, chunk])? as u64)
    };
    Ok(Purged {
        notifications: purge_notifications(s, before.terminal, chunk)?,
        audit_rows: rest(sql::purge_audit, Some(before.audit))?,
        spent_keys: rest(sql::purge_spent_keys, before.spent_keys)?,
        stats_rows: rest(sql::purge_stats, Some(before.stats))?,
        site_calls: rest(sql::purge_site_calls, Some(before.terminal))?,
        jobs: rest(sql::purge_jobs, Some(before.terminal))?,
        oldest_left: oldest_left(s.conn)?,
    })
}

fn purge_notifications(s: &Session<'_>, before: i64, chunk: u32) -> Result<u64> {
    let ended = all(s.conn, sql::purge_candidates, params![before, chunk], |row| {
        let id: Option<[u8; 16]> = row.get(2)?;
        Ok((row.get::<_, i64>(0)?, row.get::<_, i32>(1)?, id))
    })?;
    let mut per_tenant: BTreeMap<i32, u64> = BTreeMap::new();
    for (seq, tenant, id) in &ended {
        if let Some(id) = id {
            let params = params![tenant, id, s.now.as_millis()];
            s.conn.prepare_cached(sql::purge_spend_key)?.execute(params)?;
        }
        for part in [
            sql::purge_recipients,
            sql::purge_audit_of,
            sql::purge_outcome,
            sql::purge_notification,
        ] {
            s.conn.prepare_cached(part)?.execute([seq])?;
        }
        *per_tenant.entry(*tenant).or_default() += 1;
    }
    let actor = Actor::system();
    for (tenant, n) in per_tenant {
        let entry = AuditEntry {
            detail: Some(&format!("{n} notifications")),
            ..AuditEntry::new(TenantId(tenant), AuditKind::Purged, &actor)
        };
        audit::entry(s, &entry)?;
    }
    Ok(ended.len() as u64)
}

fn oldest_left(conn: &Connection) -> Result<Option<Timestamp>> {
    let oldest: Option<i64> = conn
        .prepare_cached(sql::purge_oldest_left)?
        .query_row([], |row| row.get(0))?;
    Ok(oldest.map(Timestamp::from_millis))
}
