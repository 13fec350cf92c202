//! Bulk actions on what is parked at a site: a job like any other, relayed to the site in bounded steps.
//!
//! Always true: the set is the one that was counted; a step whose answer was lost is asked for again under the same
//! name, and the site does it once; a job says what was done, however it ends.

use super::{
    RelayError, SiteService,
    elsewhere::{Answer, Question},
    relay::unfit,
};
use crate::jobs::JOB_LEASE;
use domain::{
    AuditStatus, SiteId, TenantId,
    site::{ParkedAction, ParkedFilter},
};
use link::{BulkDone, BulkStep, ParkedCount};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use store::{
    jobs::{Job, Progress},
    sites::SiteAction,
};
use tokio::time::{Instant, sleep};

/// Messages of one step. The site commits them together, well within the time it has for an answer.
const BULK_PAGE: u32 = 500;
/// How long a job waits for a site that left in the middle.
const SITE_WAIT: Duration = Duration::from_secs(600);
/// How often it is asked again meanwhile.
const ASK_AGAIN: Duration = Duration::from_secs(2);

/// What a job at a site is to be done to, as it is kept in the job's row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SiteBulk {
    pub at_site: String,
    /// With the site's last change when the set was counted.
    pub filter: ParkedFilter,
}

impl SiteBulk {
    /// None for a job over central's own notifications.
    pub(crate) fn of(job: &Job) -> Option<Self> {
        serde_json::from_str(&job.filter).ok()
    }
}

impl SiteService {
    /// How many messages at a site match.
    pub async fn count_parked(
        &self,
        tenant: TenantId,
        site: &SiteId,
        filter: ParkedFilter,
    ) -> Result<ParkedCount, RelayError> {
        match self.ask(tenant, site, Question::Count(filter)).await? {
            Answer::Counted(counted) => Ok(counted),
            other => Err(unfit(other)),
        }
    }

    async fn act_on_many(
        &self,
        tenant: TenantId,
        site: &SiteId,
        step: BulkStep,
    ) -> Result<BulkDone, RelayError> {
        match self.ask(tenant, site, Question::ActOnMany(step)).await? {
            Answer::ActedOnMany(acted) => Ok(acted),
            other => Err(unfit(other)),
        }
    }

    /// Works on a job until it is finished, or until it is not ours any more.
    pub(crate) async fn work(&self, job: &Job, bulk: &SiteBulk) -> store::Result<()> {
        let site = SiteId::new(bulk.at_site.as_str());
        let action = match job.action.as_str() {
            "discard" => ParkedAction::Discard,
            _ => ParkedAction::Retry,
        };
        let mut now = job.progress.clone();
        let mut away_since: Option<Instant> = None;
        while !now.finished {
            let step = BulkStep {
                job: job.id.to_string(),
                action,
                filter: bulk.filter.clone(),
                after: now.cursor.clone(),
                limit: BULK_PAGE,
                by: job.actor.to_string(),
            };
            match self.act_on_many(job.tenant, &site, step).await {
                Ok(BulkDone { done, next }) => {
                    away_since = None;
                    now.error = None;
                    now.done += done;
                    now.finished = next.is_none();
                    now.cursor = next;
                }
                Err(error @ (RelayError::Offline(_) | RelayError::NoAnswer(_))) => {
                    let away = away_since.get_or_insert_with(Instant::now).elapsed();
                    now.finished = away >= SITE_WAIT;
                    now.error = Some(stuck(&error, &now, job.total));
                    if !now.finished {
                        sleep(ASK_AGAIN).await;
                    }
                }
                Err(RelayError::Store(error)) => return Err(error),
                Err(error) => {
                    now.finished = true;
                    now.error = Some(stuck(&error, &now, job.total));
                }
            }
            if now.finished && now.error.is_none() {
                now.skipped = job.total.saturating_sub(now.done);
            }
            let ours = self.store.jobs.job_progress(job.id, &self.node, &now, JOB_LEASE);
            if !ours.await? {
                return Ok(());
            }
        }
        self.log_bulk(job, bulk, action, &now).await;
        Ok(())
    }

    async fn log_bulk(&self, job: &Job, bulk: &SiteBulk, action: ParkedAction, ended: &Progress) {
        let filter = serde_json::to_string(&bulk.filter).unwrap_or_default();
        let status = match (action, ended.done) {
            (_, 0) => AuditStatus::Failed,
            (ParkedAction::Retry, _) => AuditStatus::Pending,
            (ParkedAction::Discard, _) => AuditStatus::Discarded,
        };
        let ending = ended
            .error
            .as_deref()
            .map(|e| format!("; {e}"))
            .unwrap_or_default();
        self.log_action(SiteAction {
            tenant: job.tenant,
            site: SiteId::new(bulk.at_site.as_str()),
            message: format!("{} messages", ended.done),
            status,
            actor: job.actor.clone(),
            detail: format!(
                "{} in bulk {filter}: {} of {} done{ending}",
                action.word(),
                ended.done,
                job.total
            ),
        })
        .await;
    }
}

/// Why a job does not go on, and how far it is.
fn stuck(error: &RelayError, now: &Progress, total: u64) -> String {
    format!("{error}. {} of {total} were done before that", now.done)
}
