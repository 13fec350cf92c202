//! What was said in an attempt or in a test, as it is shown.

use super::names::{Id, Time, TranscriptSideName};
use domain::{NotificationId, Timestamp, Transcript, transcript::Part};
use serde::Serialize;
use store::query::AuditRow;
use utoipa::ToSchema;

/// One thing that was said.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct TranscriptPart {
    /// `sent` or `received`.
    #[schema(value_type = TranscriptSideName)]
    pub side: &'static str,
    pub text: String,
}

impl From<Part> for TranscriptPart {
    fn from(part: Part) -> Self {
        Self {
            side: part.side.as_str(),
            text: part.text,
        }
    }
}

/// What was sent and what came back in one attempt, without secrets.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptTranscript {
    #[schema(value_type = Option<Id>)]
    pub notification_id: Option<NotificationId>,
    /// Counted from 1 over everything that happened to the notification.
    pub attempt: Option<u32>,
    #[schema(value_type = Time)]
    pub at: Timestamp,
    pub provider: Option<String>,
    pub duration_ms: Option<u32>,
    /// None where it was taken.
    pub code: Option<String>,
    /// The far end's own code.
    pub provider_code: Option<String>,
    pub detail: Option<String>,
    /// The Message-ID of a mail.
    pub message_id: Option<String>,
    /// In order.
    pub parts: Vec<TranscriptPart>,
    /// There was more than is kept.
    pub cut: bool,
}

impl AttemptTranscript {
    pub fn of(row: AuditRow, said: Transcript) -> Self {
        Self {
            notification_id: row.notification,
            attempt: row.attempt,
            at: row.at,
            provider: row.target,
            duration_ms: row.duration_ms,
            code: row.code,
            provider_code: row.provider_code,
            detail: row.detail,
            message_id: said.message_id,
            parts: said.parts.into_iter().map(Into::into).collect(),
            cut: said.cut,
        }
    }
}
