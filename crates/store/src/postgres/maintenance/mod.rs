//! The [`Maintenance`] trait on PostgreSQL. One chunk of a purge is one short transaction, so others get in between.

mod sql;

use crate::{
    Error, Maintenance, Result,
    audit::Entry,
    maintenance::{Aging, Purged, Retention, aging_statements, purged_in_words},
    postgres::{
        self, PgStore, audit,
        failed::Failed,
        outbox, rows,
        session::{Db, Params, Session, Tx},
        types::{count, millis},
    },
};
use async_trait::async_trait;
use domain::{Actor, AuditKind, TenantId};
use std::{path::Path, time::Duration};
use uuid::Uuid;

aging_statements!(sql);

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

    async fn compact_queue(&self) -> Result<()> {
        Ok(outbox::compact::compact(&self.db).await?)
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
        if let Some(gone) = self.loops.ended() {
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
    let mut purged = Purged {
        notifications: purge_notifications(db, &tx, keep.terminal, chunk).await?,
        ..Purged::default()
    };
    for what in Aging::ALL {
        if let Some(kept) = keep.of(what) {
            let params: Params<'_> = &[&db.now(), &millis(kept), &i64::from(chunk)];
            *purged.count_of(what) = tx.exec(purge_statement(what), params).await?;
        }
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
    for row in &ended {
        let tenant: i32 = row.get(1);
        if let Some(id) = row.get::<_, Option<Uuid>>(2) {
            tenants.push(tenant);
            ids.push(id);
        }
    }
    tx.exec(sql::purge_spend_key, &[&db.now(), &tenants, &ids])
        .await?;
    for part in [
        sql::purge_recipients,
        sql::purge_messages,
        sql::purge_transcripts_of,
        sql::purge_audit_of,
        sql::purge_outcome,
        sql::purge_notification,
    ] {
        tx.exec(part, &[&seqs]).await?;
    }
    let actor = Actor::system();
    let purged = purged_in_words(ended.iter().map(|row| row.get(1)));
    let entries = purged.iter().map(|(tenant, words)| Entry {
        detail: Some(words),
        ..Entry::new(TenantId(*tenant), AuditKind::Purged, &actor)
    });
    audit::insert(db, tx, entries).await?;
    Ok(seqs.len() as u64)
}

async fn purgeable(db: &Db, keep: &Retention, bound: u32) -> Result<Purged, Failed> {
    let session = db.general().await?;
    let mut purgeable = Purged {
        notifications: counted(db, &session, sql::purgeable_notifications, keep.terminal, bound).await?,
        ..Purged::default()
    };
    for what in Aging::ALL {
        if let Some(kept) = keep.of(what) {
            let statement = count_statement(what);
            *purgeable.count_of(what) = counted(db, &session, statement, kept, bound).await?;
        }
    }
    purgeable.oldest_left = rows::time_opt(&session.one(sql::purge_oldest_left, &[]).await?, "at");
    Ok(purgeable)
}

async fn counted(
    db: &Db,
    session: &impl Session,
    statement: &'static str,
    kept: Duration,
    bound: u32,
) -> Result<u64, Failed> {
    let params: Params<'_> = &[&db.now(), &millis(kept), &i64::from(bound)];
    Ok(count(session.one(statement, params).await?.get(0)))
}
