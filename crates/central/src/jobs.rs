//! Bulk actions over a filter. A job is a row: any node works on it, and if that node dies another goes on where
//! its progress says.

pub use crate::bulk_filter::BulkFilter;

use crate::{
    operator::{OperatorService, Repeat, Resent},
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
    /// Parked ones go round again.
    Retry,
    /// Parked ones are given up.
    Discard,
    /// Waiting ones are called off.
    Cancel,
    /// Ended ones go out once more, as new notifications.
    Resend,
}

impl Action {
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Retry => "retry",
            Action::Discard => "discard",
            Action::Cancel => "cancel",
            Action::Resend => "resend",
        }
    }

    /// As it stands in a job's row.
    pub fn named(name: &str) -> Option<Self> {
        let all = [Action::Retry, Action::Discard, Action::Cancel, Action::Resend];
        all.into_iter().find(|action| action.as_str() == name)
    }
}

/// A bulk action that somebody asks for.
#[derive(Debug, Clone)]
pub struct BulkAsk {
    pub action: Action,
    pub filter: BulkFilter,
    /// What they were told before they said yes.
    pub counted: Option<Counted>,
    /// Why, in their words.
    pub reason: Option<String>,
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
/// Jobs that are listed.
const JOBS_SHOWN: u32 = 100;
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

    /// How many rows match just now. A job that is given the answer acts on these and on no others.
    pub async fn count(
        &self,
        tenant: TenantId,
        action: Action,
        filter: &BulkFilter,
    ) -> store::Result<Counted> {
        let as_of = self.queries.now().await?;
        let total = self.count_as_of(tenant, action, filter, as_of).await?;
        Ok(Counted { total, as_of })
    }

    async fn count_as_of(
        &self,
        tenant: TenantId,
        action: Action,
        filter: &BulkFilter,
        as_of: Timestamp,
    ) -> store::Result<u64> {
        let filter = BulkFilter {
            as_of: Some(as_of),
            ..filter.clone()
        };
        let filter = filter.rows_for(action);
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

    /// Starts a job; the answer is the job as everybody can ask for it. It is about what stood there when it was
    /// counted, or now if nobody did: what comes in or is parked later is not touched. `Conflict` if there are more of
    /// them than were counted.
    pub async fn start(&self, tenant: TenantId, ask: BulkAsk, actor: &Actor) -> store::Result<Job> {
        let BulkAsk {
            action,
            mut filter,
            counted,
            reason,
        } = ask;
        let now = self.queries.now().await?;
        let as_of = counted.map_or(now, |counted| counted.as_of.min(now));
        let total = self.count_as_of(tenant, action, &filter, as_of).await?;
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
                reason,
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
            reason: None,
        };
        let job = self.store.create_job(job).await?;
        self.wake.notify_one();
        Ok(job)
    }

    pub async fn get(&self, tenant: TenantId, id: Uuid) -> store::Result<Option<Job>> {
        self.store.job(tenant, id).await
    }

    /// The newest ones, newest first.
    pub async fn newest(&self, tenant: TenantId) -> store::Result<Vec<Job>> {
        self.store.jobs(tenant, JOBS_SHOWN).await
    }

    /// Ends a job where it is. Answers with the job, and whether there was anything left to stop.
    pub async fn stop(
        &self,
        tenant: TenantId,
        id: Uuid,
        actor: &Actor,
    ) -> store::Result<Option<(Job, bool)>> {
        self.store.stop_job(tenant, id, actor).await
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
        let read = serde_json::from_str::<BulkFilter>(&job.filter).map_err(|e| e.to_string());
        let action = Action::named(&job.action).ok_or_else(|| format!("{} is no action", job.action));
        let (action, filter) = match action.and_then(|action| Ok((action, read?.rows_for(action)))) {
            Ok(read) => read,
            Err(why) => {
                progress.finished = true;
                progress.error = Some(format!("the job cannot be read: {why}"));
                self.store
                    .job_progress(job.id, &self.node, &progress, JOB_LEASE)
                    .await?;
                return Ok(0);
            }
        };
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
            let done = self.act(&job, action, &ids).await?;
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

impl JobService {
    /// One page of a job. Answers how many rows it was done to.
    async fn act(&self, job: &Job, action: Action, ids: &[NotificationId]) -> store::Result<u64> {
        let (tenant, actor) = (job.tenant, &job.actor);
        let note = match &job.reason {
            Some(reason) => format!("{reason} (job {})", job.id),
            None => format!("job {}", job.id),
        };
        let acted = match action {
            Action::Retry => self.operator.requeue(tenant, ids, actor).await?,
            Action::Discard => {
                self.operator
                    .discard_noted(tenant, ids, actor, Some(&note))
                    .await?
            }
            Action::Cancel => {
                self.operator
                    .cancel_noted(tenant, ids, actor, Some(&note))
                    .await?
            }
            Action::Resend => return self.resend(job, ids).await,
        };
        Ok(acted.iter().filter(|a| **a == Acted::Done).count() as u64)
    }

    /// A page that is done again after a crash repeats nothing: the key of each repeat is made of job and row.
    async fn resend(&self, job: &Job, ids: &[NotificationId]) -> store::Result<u64> {
        let mut done = 0;
        for id in ids {
            let repeat = Repeat {
                key: Some(format!("bulk:{}:{id}", job.id)),
                expires_at: None,
            };
            match self.operator.resend(job.tenant, *id, repeat, &job.actor).await {
                Ok(Resent::As(_)) | Err(store::Error::Conflict(_)) => done += 1,
                Ok(Resent::NotFound | Resent::WrongState(_) | Resent::Refused(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
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
