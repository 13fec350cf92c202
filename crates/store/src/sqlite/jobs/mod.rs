//! The [`Jobs`] trait on SQLite.

mod sql;

use crate::{
    Jobs, Result,
    jobs::{self, Job, NewJob, Progress},
    sqlite::{
        SqliteStore, audit,
        rows::{self, all},
    },
};
use async_trait::async_trait;
use domain::{Actor, TenantId};
use rusqlite::{OptionalExtension, Row, params};
use std::time::Duration;
use uuid::Uuid;

#[async_trait]
impl Jobs for SqliteStore {
    async fn create_job(&self, new: NewJob) -> Result<Job> {
        self.write(1, move |s| {
            let params = params![
                new.id.as_bytes(),
                new.tenant.0,
                new.action,
                new.filter,
                new.actor.as_str(),
                new.total as i64,
                s.now.as_millis(),
                new.reason,
            ];
            if let Some(made) = all(s.conn, sql::job_create, params, job)?.pop() {
                return Ok(made);
            }
            let known = all(s.conn, sql::job, params![new.tenant.0, new.id.as_bytes()], job)?.pop();
            known.ok_or_else(|| jobs::taken(new.id))
        })
        .await
    }

    async fn job(&self, tenant: TenantId, id: Uuid) -> Result<Option<Job>> {
        self.read(move |conn| Ok(all(conn, sql::job, params![tenant.0, id.as_bytes()], job)?.pop()))
            .await
    }

    async fn jobs(&self, tenant: TenantId, limit: u32) -> Result<Vec<Job>> {
        self.read(move |conn| all(conn, sql::jobs_of, params![tenant.0, limit], job))
            .await
    }

    async fn stop_job(&self, tenant: TenantId, id: Uuid, actor: &Actor) -> Result<Option<(Job, bool)>> {
        let actor = actor.clone();
        self.write(1, move |s| {
            let params = params![tenant.0, id.as_bytes(), actor.as_str()];
            if let Some(stopped) = all(s.conn, sql::job_stop, params, job)?.pop() {
                let id = id.to_string();
                audit::insert(s, &stopped.stopped_entry(&id, &actor))?;
                return Ok(Some((stopped, true)));
            }
            let found = all(s.conn, sql::job, params![tenant.0, id.as_bytes()], job)?.pop();
            Ok(found.map(|job| (job, false)))
        })
        .await
    }

    async fn claim_job(&self, node: &str, ttl: Duration) -> Result<Option<Job>> {
        let node = node.to_owned();
        self.write(1, move |s| {
            let params = params![node, s.now.as_millis(), (s.now + ttl).as_millis()];
            Ok(all(s.conn, sql::job_claim, params, job)?.pop())
        })
        .await
    }

    async fn job_progress(&self, id: Uuid, node: &str, progress: &Progress, ttl: Duration) -> Result<bool> {
        let (node, progress) = (node.to_owned(), progress.clone());
        self.write(1, move |s| {
            let params = params![
                id.as_bytes(),
                node,
                progress.done as i64,
                progress.skipped as i64,
                progress.cursor,
                progress.finished,
                progress.error,
                (s.now + ttl).as_millis()
            ];
            let goes_on: Option<bool> = s
                .conn
                .prepare_cached(sql::job_progress)?
                .query_row(params, |row| row.get(0))
                .optional()?;
            Ok(goes_on.unwrap_or(false))
        })
        .await
    }
}

fn job(row: &Row<'_>) -> Result<Job> {
    Ok(Job {
        id: Uuid::from_bytes(row.get("job_id")?),
        tenant: TenantId(row.get("tenant")?),
        action: row.get("action")?,
        filter: row.get("filter")?,
        actor: Actor::new(row.get::<_, String>("actor")?),
        total: rows::count(row, "total")?,
        created_at: rows::time(row, "created_at")?,
        reason: row.get("reason")?,
        stopped_by: row.get::<_, Option<String>>("stopped_by")?.map(Actor::new),
        progress: Progress {
            done: rows::count(row, "done")?,
            skipped: rows::count(row, "skipped")?,
            cursor: row.get("cursor")?,
            finished: row.get("finished")?,
            error: row.get("error")?,
        },
    })
}
