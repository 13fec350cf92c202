//! The [`Maintenance`] trait on PostgreSQL. One chunk of a purge is one short transaction, so others get in between.

mod sql;

use crate::{
    Error, Maintenance, Result,
    maintenance::{Purged, Retention},
    postgres::{
        self, PgStore,
        audit::{self, Entry},
        failed::Failed,
        rows,
        session::{Db, Session, Tx},
        types::{count, millis},
    },
};
use async_trait::async_trait;
use domain::{Actor, AuditKind, TenantId};
use std::{collections::BTreeMap, path::Path, time::Duration};
use uuid::Uuid;

#[async_trait]
impl Maintenance for PgStore {
    async fn purge_chunk(&self, keep: &Retention, chunk: u32) -> Result<Purged> {
        purge(&self.db, keep, chunk)
            .await
            .map_err(Failed::while_committing)
    }

    async fn purgeable(&self, keep: &Retention, bound: u32) -> Result<Purged> {
        Ok(purgeable(&self.db, keep, bound).await?)
    }

    async fn schema_version(&self) -> Result<i64> {
        let session = self.db.general().await?;
        Ok(session.one(postgres::sql::schema_version, &[]).await?.get(0))
    }

    async fn backup(&self, _: &Path) -> Result<()> {
        Err(Error::Refused(
            "this store is on PostgreSQL: back it up with PostgreSQL's own tools, such as pg_dump".into(),
        ))
    }

    async fn ping(&self) -> Result<()> {
        if let Some(gone) = self.vitals.ended() {
            return Err(crate::Error::unavailable(gone.to_string()));
        }
        let session = self.db.general().await?;
        session.one(sql::ping, &[]).await?;
        Ok(())
    }

    async fn close(&self) {
        self.stop.cancel();
        self.tasks.wait().await;
        self.db.close();
    }

    async fn misplaced(&self) -> Result<u64> {
        let session = self.db.general().await?;
        Ok(count(session.one(sql::misplaced, &[]).await?.get(0)))
    }
}

async fn purge(db: &Db, keep: &Retention, chunk: u32) -> Result<Purged, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let notifications = purge_notifications(db, &tx, keep.terminal, chunk).await?;
    let mut purged = Purged {
        notifications,
        audit_rows: old(db, &tx, sql::purge_audit, keep.audit, chunk).await?,
        stats_rows: old(db, &tx, sql::purge_stats, keep.stats, chunk).await?,
        site_calls: old(db, &tx, sql::purge_site_calls, keep.terminal, chunk).await?,
        jobs: old(db, &tx, sql::purge_jobs, keep.terminal, chunk).await?,
        ..Purged::default()
    };
    if let Some(kept) = keep.spent_keys {
        purged.spent_keys = old(db, &tx, sql::purge_spent_keys, kept, chunk).await?;
    }
    purged.oldest_left = rows::time_opt(&tx.one(sql::purge_oldest_left, &[]).await?, "at");
    tx.commit().await?;
    Ok(purged)
}

async fn purge_notifications(db: &Db, tx: &Tx<'_>, kept: Duration, chunk: u32) -> Result<u64, Failed> {
    let ended = tx
        .rows(
            sql::purge_candidates,
            &[&db.now(), &millis(kept), &i64::from(chunk)],
        )
        .await?;
    if ended.is_empty() {
        return Ok(0);
    }
    let seqs: Vec<i64> = ended.iter().map(|row| row.get(0)).collect();
    let (mut tenants, mut ids) = (vec![], vec![]);
    let mut per_tenant: BTreeMap<i32, u64> = BTreeMap::new();
    for row in &ended {
        let tenant: i32 = row.get(1);
        *per_tenant.entry(tenant).or_default() += 1;
        if let Some(id) = row.get::<_, Option<Uuid>>(2) {
            tenants.push(tenant);
            ids.push(id);
        }
    }
    tx.exec(sql::purge_spend_key, &[&db.now(), &tenants, &ids])
        .await?;
    for part in [
        sql::purge_recipients,
        sql::purge_audit_of,
        sql::purge_outcome,
        sql::purge_notification,
    ] {
        tx.exec(part, &[&seqs]).await?;
    }
    let actor = Actor::system();
    let entries: Vec<Entry<'_>> = per_tenant
        .into_iter()
        .map(|(tenant, n)| Entry {
            detail: Some(format!("{n} notifications").into()),
            ..Entry::new(TenantId(tenant), AuditKind::Purged, &actor)
        })
        .collect();
    audit::insert(db, tx, entries).await?;
    Ok(seqs.len() as u64)
}

/// Deletes what is past its own time.
async fn old(
    db: &Db,
    tx: &Tx<'_>,
    statement: &'static str,
    kept: Duration,
    chunk: u32,
) -> Result<u64, Failed> {
    tx.exec(statement, &[&db.now(), &millis(kept), &i64::from(chunk)])
        .await
}

async fn purgeable(db: &Db, keep: &Retention, bound: u32) -> Result<Purged, Failed> {
    let session = db.general().await?;
    let mut purgeable = Purged::default();
    for (figure, statement, kept) in [
        (
            &mut purgeable.notifications,
            sql::purgeable_notifications,
            Some(keep.terminal),
        ),
        (&mut purgeable.audit_rows, sql::purgeable_audit, Some(keep.audit)),
        (
            &mut purgeable.spent_keys,
            sql::purgeable_spent_keys,
            keep.spent_keys,
        ),
        (&mut purgeable.stats_rows, sql::purgeable_stats, Some(keep.stats)),
        (
            &mut purgeable.site_calls,
            sql::purgeable_site_calls,
            Some(keep.terminal),
        ),
        (&mut purgeable.jobs, sql::purgeable_jobs, Some(keep.terminal)),
    ] {
        if let Some(kept) = kept {
            let row = session
                .one(statement, &[&db.now(), &millis(kept), &i64::from(bound)])
                .await?;
            *figure = count(row.get(0));
        }
    }
    purgeable.oldest_left = rows::time_opt(&session.one(sql::purge_oldest_left, &[]).await?, "at");
    Ok(purgeable)
}
