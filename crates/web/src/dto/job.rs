//! A bulk action as it is shown.

use super::names::{ActionName, Id, Time};
use central::jobs::{COUNT_BOUND, Counted};
use domain::Timestamp;
use serde::Serialize;
use serde_json::Value;
use store::jobs::Job;
use utoipa::ToSchema;
use uuid::Uuid;

/// A bulk action and how far it is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobView {
    #[schema(value_type = Id)]
    pub id: Uuid,
    #[schema(value_type = ActionName)]
    pub action: String,
    /// The filter as it is in force.
    #[schema(value_type = Object)]
    pub filter: Value,
    #[serde(flatten)]
    pub count: CountAnswer,
    pub done: u64,
    /// Rows whose state no longer allowed it when their turn came.
    pub skipped: u64,
    pub finished: bool,
    pub error: Option<String>,
    /// Who asked for it.
    pub actor: String,
    pub reason: Option<String>,
    /// Who ended it before it was done.
    pub stopped_by: Option<String>,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
}

/// How many rows match.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CountAnswer {
    pub total: u64,
    /// Counting stopped here; there are more.
    pub total_at_least: bool,
}

/// How many rows match, and when that was. Given to the job, it acts on these and no others.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DryRunAnswer {
    #[serde(flatten)]
    pub count: CountAnswer,
    #[schema(value_type = Time)]
    pub as_of: Timestamp,
}

impl From<Counted> for DryRunAnswer {
    fn from(counted: Counted) -> Self {
        Self {
            count: CountAnswer::of(counted.total),
            as_of: counted.as_of,
        }
    }
}

impl CountAnswer {
    pub fn of(total: u64) -> Self {
        Self {
            total,
            total_at_least: total >= COUNT_BOUND,
        }
    }
}

impl From<Job> for JobView {
    fn from(job: Job) -> Self {
        let filter: Value = serde_json::from_str(&job.filter).unwrap_or_default();
        let mut count = CountAnswer::of(job.total);
        count.total_at_least |= filter["atLeast"] == true;
        Self {
            id: job.id,
            action: job.action,
            filter,
            count,
            done: job.progress.done,
            skipped: job.progress.skipped,
            finished: job.progress.finished,
            error: job.progress.error,
            actor: job.actor.to_string(),
            reason: job.reason,
            stopped_by: job.stopped_by.map(|actor| actor.to_string()),
            created_at: job.created_at,
        }
    }
}
