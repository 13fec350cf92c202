//! Bulk actions over a filter. A job is a row: any node works on it, and if that node dies another goes on where
//! its progress says.

pub use crate::bulk_filter::BulkFilter;

use crate::{
    operator::OperatorService,
    sites::{SiteBulk, SiteService},
};
use domain::{Actor, NotificationId, TenantId, Timestamp, chain};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};
use store::{
    Jobs, Queries,
    jobs::{Job, NewJob, Progress},
    operator::Acted,
    query::{Cursor, Page},
};
use uuid::Uuid;

/// What can be done to all rows of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Retry,
    Discard,
}

impl Action {
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Retry => "retry",
            Action::Discard => "discard",
        }
    }
}

/// What somebody was told before they said yes: so many, at that moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Up to [`COUNT_BOUND`].
    pub total: u64,
    pub as_of: Timestamp,
}

/// How long a node may be silent before another takes its job over.
pub(crate) const JOB_LEASE: Duration = Duration::from_secs(30);
const JOB_PAGE: u32 = 500;
/// Counting stops here; a job over more says "at least".
pub const COUNT_BOUND: u64 = 100_000;

#[derive(Debug, Clone)]
pub struct JobService {
    store: Arc<dyn Jobs>,
    queries: Arc<dyn Queries>,
    operator: OperatorService,
    sites: SiteService,
    node: String,
    wake: Arc<tokio::sync::Notify>,
}

impl JobService {
    pub fn new(
        store: Arc<dyn Jobs>,
        queries: Arc<dyn Queries>,
        operator: OperatorService,
        sites: SiteService,
        node: String,
    ) -> Self {
        Self {
            store,
            queries,
            operator,
            sites,
            node,
            wake: Arc::default(),
        }
    }

    /// How many parked rows match just now. A job that is given the answer acts on these and on no others.
    pub async fn count(&self, tenant: TenantId, filter: &BulkFilter) -> store::Result<Counted> {
        let as_of = self.queries.now().await?;
        let total = self.count_as_of(tenant, filter, as_of).await?;
        Ok(Counted { total, as_of })
    }

    async fn count_as_of(
        &self,
        tenant: TenantId,
        filter: &BulkFilter,
        as_of: Timestamp,
    ) -> store::Result<u64> {
        let filter = BulkFilter {
            as_of: Some(as_of),
            ..filter.clone()
        };
        let filter = filter.parked();
        let (mut n, mut after) = (0, None);
        loop {
            let page = self
                .queries
                .list(tenant, &filter, Page { limit: 1000, after })
                .await?;
            n += page.rows.len() as u64;
            after = page.next;
            if after.is_none() || n >= COUNT_BOUND {
                return Ok(n);
            }
        }
    }

    /// Starts a job; the answer is the job as everybody can ask for it. It is about what was parked when it was
    /// counted, or now if nobody did: what comes in or is parked later is not touched. `Conflict` if there are more of
    /// them than were counted.
    pub async fn start(
        &self,
        tenant: TenantId,
        action: Action,
        mut filter: BulkFilter,
        counted: Option<Counted>,
        actor: &Actor,
    ) -> store::Result<Job> {
        let now = self.queries.now().await?;
        let as_of = counted.map_or(now, |counted| counted.as_of.min(now));
        let total = self.count_as_of(tenant, &filter, as_of).await?;
        // A row whose commit was under way when the others were counted, or a clock that was set back.
        if let Some(said) = counted
            .map(|counted| counted.total)
            .filter(|said| *said < COUNT_BOUND)
            && total > said
        {
            return Err(store::Error::Conflict(format!(
                "there are {total} now and {said} when they were counted; count again"
            )));
        }
        filter.as_of = Some(as_of);
        let filter = serde_json::to_string(&filter).map_err(|e| store::Error::Refused(e.to_string()))?;
        let action = action.as_str().to_owned();
        let job = self
            .store
            .create_job(NewJob {
                tenant,
                action,
                filter,
                actor: actor.clone(),
                total,
            })
            .await?;
        self.wake.notify_one();
        Ok(job)
    }

    /// Starts a job over what is parked at a site; `total` is what the site counted.
    pub async fn start_at_site(
        &self,
        tenant: TenantId,
        action: Action,
        bulk: &SiteBulk,
        total: u64,
        actor: &Actor,
    ) -> store::Result<Job> {
        let job = NewJob {
            tenant,
            action: action.as_str().to_owned(),
            filter: serde_json::to_string(bulk).map_err(|e| store::Error::Refused(e.to_string()))?,
            actor: actor.clone(),
            total,
        };
        let job = self.store.create_job(job).await?;
        self.wake.notify_one();
        Ok(job)
    }

    pub async fn get(&self, tenant: TenantId, id: Uuid) -> store::Result<Option<Job>> {
        self.store.job(tenant, id).await
    }

    /// Completes when a job was started on this node.
    pub async fn woken(&self) {
        self.wake.notified().await;
    }

    /// Works on every job that nobody else works on. Answers how many rows were handled.
    pub async fn sweep(&self) -> store::Result<u64> {
        let mut handled = 0;
        while let Some(job) = self.store.claim_job(&self.node, JOB_LEASE).await? {
            match SiteBulk::of(&job) {
                Some(bulk) => drop(tokio::spawn(self.clone().work_at_site(job, bulk))),
                None => handled += self.work(job).await?,
            }
        }
        Ok(handled)
    }

    /// Beside the other jobs: a site may be slow, or away for a while.
    async fn work_at_site(self, job: Job, bulk: SiteBulk) {
        if let Err(error) = self.sites.work(&job, &bulk).await {
            tracing::warn!(job.id = %job.id, site.id = bulk.at_site, error = %chain(&error), "a bulk action stops for now; it is taken up again");
        }
    }

    async fn work(&self, job: Job) -> store::Result<u64> {
        let mut progress = job.progress.clone();
        let filter: BulkFilter = match serde_json::from_str(&job.filter) {
            Ok(filter) => filter,
            Err(e) => {
                progress.finished = true;
                progress.error = Some(format!("the job's filter cannot be read: {e}"));
                self.store
                    .job_progress(job.id, &self.node, &progress, JOB_LEASE)
                    .await?;
                return Ok(0);
            }
        };
        let filter = filter.parked();
        let mut handled = 0;
        loop {
            let after = progress.cursor.as_deref().and_then(parse_cursor);
            let page = self
                .queries
                .list(
                    job.tenant,
                    &filter,
                    Page {
                        limit: JOB_PAGE,
                        after,
                    },
                )
                .await?;
            let ids: Vec<NotificationId> = page.rows.iter().map(|row| row.submission.id).collect();
            let acted = match job.action.as_str() {
                "discard" => self.operator.discard(job.tenant, &ids, &job.actor).await?,
                _ => self.operator.requeue(job.tenant, &ids, &job.actor).await?,
            };
            let done = acted.iter().filter(|a| **a == Acted::Done).count() as u64;
            progress.done += done;
            progress.skipped += ids.len() as u64 - done;
            progress.cursor = page.next.map(print_cursor);
            progress.finished = page.next.is_none();
            handled += ids.len() as u64;
            let ours = self
                .store
                .job_progress(job.id, &self.node, &progress, JOB_LEASE)
                .await?;
            if progress.finished || !ours {
                return Ok(handled);
            }
        }
    }
}

fn print_cursor(cursor: Cursor) -> String {
    format!("{}.{}", cursor.at.as_millis(), cursor.seq)
}

fn parse_cursor(text: &str) -> Option<Cursor> {
    let (at, seq) = text.split_once('.')?;
    Some(Cursor {
        at: Timestamp::from_millis(at.parse().ok()?),
        seq: seq.parse().ok()?,
    })
}

/// What a person sees of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobView {
    pub id: Uuid,
    pub action: String,
    pub total: u64,
    pub done: u64,
    pub skipped: u64,
    pub finished: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub created_at: Timestamp,
}

impl From<&Job> for JobView {
    fn from(job: &Job) -> Self {
        let Progress {
            done,
            skipped,
            finished,
            error,
            ..
        } = job.progress.clone();
        Self {
            id: job.id,
            action: job.action.clone(),
            total: job.total,
            done,
            skipped,
            finished,
            error,
            created_at: job.created_at,
        }
    }
}
