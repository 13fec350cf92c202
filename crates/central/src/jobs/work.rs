//! Working on jobs: page by page, where the last page's progress says.

use super::{Action, BulkFilter, JOB_LEASE, JobService};
use crate::{
    events::bulk::ReplayBulk,
    operator::{Repeat, Resent},
    sites::SiteBulk,
};
use domain::{NotificationId, Timestamp};
use store::{
    jobs::Job,
    operator::Acted,
    query::{Cursor, Page},
};

/// Rows that are acted on before progress is written down.
const JOB_PAGE: u32 = 500;

/// What a sweep did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worked {
    /// Rows that were handled.
    pub rows: u64,
    /// Bulk actions at sites and of events that are under way beside it.
    pub beside: u64,
}

impl JobService {
    /// Works on every job that nobody else works on.
    pub async fn sweep(&self) -> store::Result<Worked> {
        let mut worked = Worked {
            rows: 0,
            beside: self.beside.under_way(),
        };
        while let Some(job) = self.store.claim_job(&self.node, JOB_LEASE).await? {
            let (service, claimed) = (self.clone(), job.clone());
            if let Some(bulk) = SiteBulk::of(&job) {
                let work = async move { service.sites.work(&claimed, &bulk).await };
                self.beside.start(job, work);
                worked.beside += 1;
            } else if let Some(bulk) = ReplayBulk::of(&job) {
                let work = async move { service.replay(&claimed, &bulk).await };
                self.beside.start(job, work);
                worked.beside += 1;
            } else {
                worked.rows += self.work(job).await?;
            }
        }
        Ok(worked)
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
