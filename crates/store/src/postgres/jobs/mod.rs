//! The [`Jobs`] trait on PostgreSQL.

mod sql;

use crate::{
    Jobs, Result,
    jobs::{self, Job, NewJob, Progress},
    postgres::{
        PgStore, audit,
        failed::Failed,
        rows,
        session::{Db, Session},
        types::{count, millis},
    },
};
use async_trait::async_trait;
use domain::{Actor, TenantId};
use std::time::Duration;
use tokio_postgres::Row;
use uuid::Uuid;

#[async_trait]
impl Jobs for PgStore {
    async fn create_job(&self, new: NewJob) -> Result<Job> {
        let session = self.db.general().await?;
        let made = session
            .opt(
                sql::job_create,
                &[
                    &self.db.now(),
                    &new.id,
                    &new.tenant.0,
                    &new.action,
                    &new.filter,
                    &new.actor.as_str(),
                    &signed(new.total),
                    &new.reason,
                ],
            )
            .await
            .map_err(Failed::while_committing)?;
        if let Some(made) = made {
            return Ok(job(&made));
        }
        let known = session.opt(sql::job, &[&new.tenant.0, &new.id]).await?;
        known.as_ref().map(job).ok_or_else(|| jobs::taken(new.id))
    }

    async fn job(&self, tenant: TenantId, id: Uuid) -> Result<Option<Job>> {
        let session = self.db.general().await?;
        Ok(session.opt(sql::job, &[&tenant.0, &id]).await?.as_ref().map(job))
    }

    async fn jobs(&self, tenant: TenantId, limit: u32) -> Result<Vec<Job>> {
        let session = self.db.general().await?;
        let found = session
            .rows(sql::jobs_of, &[&tenant.0, &i64::from(limit)])
            .await?;
        Ok(found.iter().map(job).collect())
    }

    async fn stop_job(&self, tenant: TenantId, id: Uuid, actor: &Actor) -> Result<Option<(Job, bool)>> {
        stop(&self.db, tenant, id, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn claim_job(&self, node: &str, ttl: Duration) -> Result<Option<Job>> {
        let session = self.db.general().await?;
        let claimed = session
            .opt(sql::job_claim, &[&self.db.now(), &node, &millis(ttl)])
            .await?;
        Ok(claimed.as_ref().map(job))
    }

    async fn job_progress(&self, id: Uuid, node: &str, progress: &Progress, ttl: Duration) -> Result<bool> {
        let session = self.db.general().await?;
        let goes_on = session
            .opt(
                sql::job_progress,
                &[
                    &self.db.now(),
                    &id,
                    &node,
                    &signed(progress.done),
                    &signed(progress.skipped),
                    &progress.cursor,
                    &progress.finished,
                    &progress.error,
                    &millis(ttl),
                ],
            )
            .await
            .map_err(Failed::while_committing)?;
        Ok(goes_on.is_some_and(|row| row.get(0)))
    }
}

async fn stop(db: &Db, tenant: TenantId, id: Uuid, actor: &Actor) -> Result<Option<(Job, bool)>, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let Some(row) = tx.opt(sql::job_stop, &[&tenant.0, &id, &actor.as_str()]).await? else {
        let found = tx.opt(sql::job, &[&tenant.0, &id]).await?;
        return Ok(found.as_ref().map(|row| (job(row), false)));
    };
    let (stopped, id) = (job(&row), id.to_string());
    audit::insert(db, &tx, [stopped.stopped_entry(&id, actor)]).await?;
    tx.commit().await?;
    Ok(Some((stopped, true)))
}

fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

fn job(row: &Row) -> Job {
    Job {
        id: row.get("job_id"),
        tenant: TenantId(row.get("tenant")),
        action: row.get("action"),
        filter: row.get("filter"),
        actor: Actor::new(row.get::<_, &str>("actor")),
        total: count(row.get("total")),
        created_at: rows::time(row, "created_at"),
        reason: row.get("reason"),
        stopped_by: row.get::<_, Option<&str>>("stopped_by").map(Actor::new),
        progress: Progress {
            done: count(row.get("done")),
            skipped: count(row.get("skipped")),
            cursor: row.get("cursor"),
            finished: row.get("finished"),
            error: row.get("error"),
        },
    }
}
