//! Bulk actions over a filter. A job is a row: any node works on it, and if that node dies another goes on where
//! its progress says.

mod beside;
mod replay;
mod work;

pub use crate::bulk_filter::BulkFilter;
pub use replay::{REPLAY, ReplayAsk, ReplayCount};
pub use work::Worked;

use self::beside::Beside;
use crate::{
    events::EventService,
    operator::OperatorService,
    search,
    sites::{SiteBulk, SiteService},
};
use domain::{Actor, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use std::{sync::Arc, time::Duration};
use store::{
    Jobs, Queries,
    jobs::{Job, NewJob},
    query::Page,
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
    /// The same id again is the same job; none: one of its own.
    pub id: Option<Uuid>,
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
    events: EventService,
    node: String,
    wake: Arc<tokio::sync::Notify>,
    beside: Beside,
}

impl JobService {
    pub fn new(
        store: Arc<dyn Jobs>,
        queries: Arc<dyn Queries>,
        operator: OperatorService,
        sites: SiteService,
        events: EventService,
        node: String,
    ) -> Self {
        let wake = Arc::default();
        Self {
            beside: Beside::new(Arc::clone(&store), node.clone(), Arc::clone(&wake)),
            store,
            queries,
            operator,
            sites,
            events,
            node,
            wake,
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
        let filter = self.resolved(tenant, filter.clone(), as_of).await?;
        let total = self.count_as_of(tenant, action, &filter, as_of).await?;
        Ok(Counted { total, as_of })
    }

    /// What was typed as the list takes it: the ids it means, or words of the last days.
    async fn resolved(
        &self,
        tenant: TenantId,
        mut filter: BulkFilter,
        as_of: Timestamp,
    ) -> store::Result<BulkFilter> {
        let Some(text) = filter.keyword.as_deref() else {
            return Ok(filter);
        };
        if search::existing(&*self.queries, tenant, text).await?.is_some() {
            filter.id = filter.keyword.take();
        } else if filter.from.is_none() {
            filter.from = Some(as_of - search::SEARCH_RANGE);
        }
        Ok(filter)
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
    /// them than were counted. The same id once more starts nothing.
    pub async fn start(&self, tenant: TenantId, ask: BulkAsk, actor: &Actor) -> store::Result<Job> {
        let BulkAsk {
            id,
            action,
            filter,
            counted,
            reason,
        } = ask;
        if let Some(id) = id
            && let Some(started) = self.store.job(tenant, id).await?
        {
            return Ok(started);
        }
        let now = self.queries.now().await?;
        let as_of = counted.map_or(now, |counted| counted.as_of.min(now));
        let mut filter = self.resolved(tenant, filter, as_of).await?;
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
                id: id.unwrap_or_else(Uuid::new_v4),
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
            id: Uuid::new_v4(),
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
}
