//! Bulk actions over a filter, as rows that any node can work on and everybody can ask about.

use crate::{Error, Result, audit::Entry};
use async_trait::async_trait;
use domain::{Actor, AuditKind, TenantId, Timestamp};
use std::{fmt::Debug, time::Duration};
use uuid::Uuid;

#[async_trait]
pub trait Jobs: Debug + Send + Sync {
    /// Where the tenant has a job of that id already, that one is the answer and nothing is made.
    async fn create_job(&self, job: NewJob) -> Result<Job>;
    async fn job(&self, tenant: TenantId, id: Uuid) -> Result<Option<Job>>;
    /// The tenant's newest jobs, newest first.
    async fn jobs(&self, tenant: TenantId, limit: u32) -> Result<Vec<Job>>;
    /// Ends an unfinished job where it is; what was done stays done. Answers with the job as it is then, and whether this
    /// call ended it. Audited.
    async fn stop_job(&self, tenant: TenantId, id: Uuid, actor: &Actor) -> Result<Option<(Job, bool)>>;
    /// Takes one unfinished job that no live node works on.
    async fn claim_job(&self, node: &str, ttl: Duration) -> Result<Option<Job>>;
    /// Writes a job's progress down and keeps it for `ttl` longer. Answers whether it is still ours to go on with: a job
    /// that was stopped takes the counts of what was under way, and ends.
    async fn job_progress(&self, id: Uuid, node: &str, progress: &Progress, ttl: Duration) -> Result<bool>;
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    pub id: Uuid,
    pub tenant: TenantId,
    /// `retry`, `discard`, `cancel`, `resend` or `replay`.
    pub action: String,
    /// The filter, as JSON text of the caller's making.
    pub filter: String,
    pub actor: Actor,
    /// How many matched when it was asked for.
    pub total: u64,
    /// Why, in the words of whoever asked.
    pub reason: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub id: Uuid,
    pub tenant: TenantId,
    pub action: String,
    pub filter: String,
    pub actor: Actor,
    pub total: u64,
    pub created_at: Timestamp,
    pub reason: Option<String>,
    /// Who ended it before it was done.
    pub stopped_by: Option<Actor>,
    pub progress: Progress,
}

impl Job {
    /// Written down when somebody stops it. `id` is its own, as text.
    pub(crate) fn stopped_entry<'a>(&'a self, id: &'a str, actor: &'a Actor) -> Entry<'a> {
        Entry {
            target: Some(id),
            detail: Some(&self.action),
            ..Entry::new(self.tenant, AuditKind::JobStopped, actor)
        }
    }
}

/// The id belongs to somebody else.
pub(crate) fn taken(id: Uuid) -> Error {
    Error::Conflict(format!("there is another bulk action {id}"))
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    pub done: u64,
    /// Rows whose state no longer allowed it when their turn came.
    pub skipped: u64,
    /// Where to go on, of the worker's own making.
    pub cursor: Option<String>,
    pub finished: bool,
    pub error: Option<String>,
}
