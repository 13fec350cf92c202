//! Jobs that replay events, or what events became.

use super::{COUNT_BOUND, Counted, JOB_LEASE, JobService};
use crate::events::bulk::ReplayBulk;
use domain::{Actor, TenantId, Timestamp};
use std::time::Instant;
use store::jobs::{Job, NewJob};
use uuid::Uuid;

/// As it stands in a job's row.
pub const REPLAY: &str = "replay";
/// Rows that are looked at in one step of counting.
const COUNT_PAGE: u32 = 500;
/// Rows that are replayed before progress is written down. Each may ask an application's database.
const REPLAY_PAGE: u32 = 50;

/// A replay of many that somebody asks for.
#[derive(Debug, Clone)]
pub struct ReplayAsk {
    pub bulk: ReplayBulk,
    /// What they were told before they said yes.
    pub counted: Option<Counted>,
    pub reason: Option<String>,
}

/// How many would be replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayCount {
    pub total: u64,
    /// Counting ended before it had looked at everything.
    pub at_least: bool,
    pub as_of: Timestamp,
}

impl JobService {
    /// How many match just now. A job that is given the answer acts on these and on no others.
    pub async fn count_replay(&self, tenant: TenantId, bulk: &ReplayBulk) -> store::Result<ReplayCount> {
        let as_of = self.queries.now().await?;
        self.count_replay_as_of(tenant, bulk, as_of).await
    }

    async fn count_replay_as_of(
        &self,
        tenant: TenantId,
        bulk: &ReplayBulk,
        as_of: Timestamp,
    ) -> store::Result<ReplayCount> {
        let (mut total, mut looked_at, mut after) = (0, 0, None);
        loop {
            let page = self
                .events
                .replay_page(tenant, bulk, as_of, after, COUNT_PAGE)
                .await?;
            total += page.rows.len() as u64;
            looked_at += page.looked_at;
            after = page.next;
            let at_least = after.is_some() && looked_at >= COUNT_BOUND;
            if after.is_none() || at_least {
                return Ok(ReplayCount {
                    total,
                    at_least,
                    as_of,
                });
            }
        }
    }

    /// Starts a job over what stood like this when it was counted, or stands now if nobody did. `Conflict` if there are more of
    /// them than were counted.
    pub async fn start_replay(&self, tenant: TenantId, ask: ReplayAsk, actor: &Actor) -> store::Result<Job> {
        let now = self.queries.now().await?;
        let as_of = ask.counted.map_or(now, |counted| counted.as_of.min(now));
        let found = self.count_replay_as_of(tenant, &ask.bulk, as_of).await?;
        if let Some(said) = ask.counted.map(|counted| counted.total)
            && !found.at_least
            && found.total > said
        {
            return Err(store::Error::Conflict(format!(
                "there are {} now and {said} when they were counted; count again",
                found.total
            )));
        }
        let bulk = ReplayBulk {
            as_of: Some(as_of),
            at_least: found.at_least,
            ..ask.bulk
        };
        let job = NewJob {
            id: Uuid::new_v4(),
            tenant,
            action: REPLAY.to_owned(),
            filter: serde_json::to_string(&bulk).map_err(|e| store::Error::Refused(e.to_string()))?,
            actor: actor.clone(),
            total: found.total,
            reason: ask.reason,
        };
        let job = self.store.create_job(job).await?;
        self.wake.notify_one();
        Ok(job)
    }

    /// Beside the other jobs: a lookup may be slow.
    pub(super) async fn replay(&self, job: &Job, bulk: &ReplayBulk) -> store::Result<()> {
        let mut now = job.progress.clone();
        let as_of = bulk.as_of.unwrap_or(job.created_at);
        while !now.finished {
            let after = now.cursor.as_deref().and_then(|seq| seq.parse().ok());
            let page = self
                .events
                .replay_page(job.tenant, bulk, as_of, after, REPLAY_PAGE)
                .await?;
            let mut told = Instant::now();
            for row in page.rows {
                let (new_templates, actor) = (bulk.new_templates, &job.actor);
                let replayed = self
                    .events
                    .replay_row(job.tenant, row, new_templates, actor)
                    .await?;
                match replayed {
                    true => now.done += 1,
                    false => now.skipped += 1,
                }
                if told.elapsed() >= JOB_LEASE / 3 {
                    told = Instant::now();
                    if !self
                        .store
                        .job_progress(job.id, &self.node, &now, JOB_LEASE)
                        .await?
                    {
                        return Ok(());
                    }
                }
            }
            self.events.wake();
            now.cursor = page.next.map(|seq| seq.to_string());
            now.finished = page.next.is_none();
            if !self
                .store
                .job_progress(job.id, &self.node, &now, JOB_LEASE)
                .await?
            {
                return Ok(());
            }
        }
        Ok(())
    }
}
