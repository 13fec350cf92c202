//! What is parked at a site, and its calls and writes, as they are shown.

use super::names::{CategoryName, Id, OperationStatusName, Time};
use central::sites::{ParkedAnswer, ParkedMessage};
use domain::{
    Timestamp, TrackedOperationId,
    site::{Category, OperationStatus},
};
use serde::Serialize;
use store::sites::SiteCall;
use utoipa::ToSchema;

/// A page of what is parked at a site.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParkedPageView {
    pub items: Vec<ParkedView>,
    pub next_cursor: Option<String>,
    /// How many are parked in all.
    pub total: u64,
}

/// A message parked at a site. Its payload stays there.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParkedView {
    /// Also the tracked operation's id, of a call or a write.
    pub message_id: String,
    #[schema(value_type = CategoryName)]
    pub category: Category,
    /// The list, system or connection.
    pub target: String,
    /// What it is in a few words: method and path, statement, subject.
    pub summary: Option<String>,
    pub retry_count: u32,
    pub max_retries: u32,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<Time>)]
    pub last_attempt_at: Option<Timestamp>,
    #[schema(value_type = Option<Time>)]
    pub parked_at: Option<Timestamp>,
    pub last_error: Option<String>,
    pub instance: Option<String>,
    pub script: Option<String>,
}

/// What was done to a parked message.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParkedActedView {
    pub site_id: String,
    pub message_id: String,
    /// `retry` or `discard`.
    pub action: &'static str,
}

/// A cached call or write of a site, as its latest news left it; or a notification that was parked at the site.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SiteCallView {
    pub site_id: String,
    #[schema(value_type = Id)]
    pub tracked_operation_id: TrackedOperationId,
    #[schema(value_type = CategoryName)]
    pub category: Category,
    /// The system or connection.
    pub target: String,
    pub summary: Option<String>,
    #[schema(value_type = OperationStatusName)]
    pub status: OperationStatus,
    pub retry_count: u32,
    pub last_error: Option<String>,
    pub http_status: Option<u16>,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
    #[schema(value_type = Time)]
    pub updated_at: Timestamp,
    pub source_instance_id: Option<String>,
    pub source_script: Option<String>,
    pub source_node: Option<String>,
    pub execution_id: Option<String>,
    pub parent_execution_id: Option<String>,
    /// Who did it, when it was a person at the site.
    pub actor: Option<String>,
}

impl From<ParkedAnswer> for ParkedPageView {
    fn from(answer: ParkedAnswer) -> Self {
        Self {
            items: answer.messages.into_iter().map(ParkedView::from).collect(),
            next_cursor: answer.next,
            total: answer.total,
        }
    }
}

impl From<ParkedMessage> for ParkedView {
    fn from(m: ParkedMessage) -> Self {
        Self {
            message_id: m.id,
            category: m.category,
            target: m.target,
            summary: m.summary,
            retry_count: m.retry_count,
            max_retries: m.max_retries,
            created_at: m.created_at,
            last_attempt_at: m.last_attempt_at,
            parked_at: m.parked_at,
            last_error: m.last_error,
            instance: m.instance,
            script: m.script,
        }
    }
}

impl From<SiteCall> for SiteCallView {
    fn from(call: SiteCall) -> Self {
        Self {
            site_id: call.site.to_string(),
            tracked_operation_id: call.operation,
            category: call.category,
            target: call.target,
            summary: call.summary,
            status: call.status,
            retry_count: call.retry_count,
            last_error: call.error,
            http_status: call.http_status,
            created_at: call.created_at,
            updated_at: call.updated_at,
            source_instance_id: call.instance,
            source_script: call.script,
            source_node: call.node,
            execution_id: call.execution,
            parent_execution_id: call.parent_execution,
            actor: call.actor,
        }
    }
}
