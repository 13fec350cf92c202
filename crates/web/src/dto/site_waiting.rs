//! What waits at a site, as it is shown.

use super::names::{CategoryName, Time, WaitingStatusName};
use central::sites::{WaitingAnswer, WaitingMessage, WaitingStatus};
use domain::{Timestamp, site::Category};
use serde::Serialize;
use utoipa::ToSchema;

/// A page of what waits at a site.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SiteWaitingPageView {
    pub items: Vec<SiteWaitingView>,
    pub next_cursor: Option<String>,
    /// How many wait in all, of the category that was asked for.
    pub total: u64,
}

/// A message that waits at a site for its next attempt. Its payload stays there.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SiteWaitingView {
    /// Also the tracked operation's id, of a call or a write.
    pub message_id: String,
    #[schema(value_type = CategoryName)]
    pub category: Category,
    /// The list, system or connection.
    pub target: String,
    /// What it is in a few words: method and path, statement.
    pub summary: Option<String>,
    pub retry_count: u32,
    pub max_retries: u32,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<Time>)]
    pub last_attempt_at: Option<Timestamp>,
    #[schema(value_type = Time)]
    pub due_at: Timestamp,
    pub last_error: Option<String>,
    pub instance: Option<String>,
    pub script: Option<String>,
    /// Why it is not attempted although it may be due: the other machine of the site may make it.
    pub held: Option<String>,
}

/// What was done to a waiting message, and how it stands now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SiteWaitingActedView {
    pub site_id: String,
    pub message_id: String,
    /// `try` or `discard`.
    pub action: &'static str,
    #[schema(value_type = WaitingStatusName)]
    pub status: WaitingStatus,
    /// Of an attempt that failed.
    pub last_error: Option<String>,
}

impl From<WaitingAnswer> for SiteWaitingPageView {
    fn from(answer: WaitingAnswer) -> Self {
        Self {
            items: answer.messages.into_iter().map(SiteWaitingView::from).collect(),
            next_cursor: answer.next,
            total: answer.total,
        }
    }
}

impl From<WaitingMessage> for SiteWaitingView {
    fn from(m: WaitingMessage) -> Self {
        Self {
            message_id: m.id,
            category: m.category,
            target: m.target,
            summary: m.summary,
            retry_count: m.retry_count,
            max_retries: m.max_retries,
            created_at: m.created_at,
            last_attempt_at: m.last_attempt_at,
            due_at: m.due_at,
            last_error: m.last_error,
            instance: m.instance,
            script: m.script,
            held: m.held,
        }
    }
}
