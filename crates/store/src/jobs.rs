//! Bulk actions over a filter, as rows that any node can work on and everybody can ask about.

use crate::Result;
use async_trait::async_trait;
use domain::{Actor, TenantId, Timestamp};
use std::{fmt::Debug, time::Duration};
use uuid::Uuid;

#[async_trait]
pub trait Jobs: Debug + Send + Sync {
    async fn create_job(&self, job: NewJob) -> Result<Job>;
    async fn job(&self, tenant: TenantId, id: Uuid) -> Result<Option<Job>>;
    /// Takes one unfinished job that no live node works on.
    async fn claim_job(&self, node: &str, ttl: Duration) -> Result<Option<Job>>;
    /// Writes a job's progress down and keeps it for `ttl` longer. Answers whether it is still ours.
    async fn job_progress(&self, id: Uuid, node: &str, progress: &Progress, ttl: Duration) -> Result<bool>;
}

#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    pub tenant: TenantId,
    /// `retry` or `discard`.
    pub action: String,
    /// The filter, as JSON text of the caller's making.
    pub filter: String,
    pub actor: Actor,
    /// How many matched when it was asked for.
    pub total: u64,
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
    pub progress: Progress,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    pub done: u64,
    /// Rows that were no longer parked when their turn came.
    pub skipped: u64,
    /// Where to go on, of the worker's own making.
    pub cursor: Option<String>,
    pub finished: bool,
    pub error: Option<String>,
}
