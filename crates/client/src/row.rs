//! Notifications, audit rows and figures as central shows them. Fields a newer central adds are kept and passed
//! on, so that `--json` never hides one.

use crate::TranscriptPart;
use domain::{Channel, DeliveryState, Hold, NotificationId, RecipientResult, Status, Timestamp, kpi::Kpis};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A notification as central holds it. In a list, body and recipients are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NotificationRow {
    pub notification_id: NotificationId,
    #[serde(rename = "type")]
    pub channel: Channel,
    pub status: Status,
    /// The same in the words of other outboxes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_state: Option<DeliveryState>,
    pub list_name: Option<String>,
    pub to: Option<Vec<String>>,
    /// The one that was asked for.
    pub provider_id: Option<String>,
    /// The one that has it now.
    pub provider: Option<String>,
    pub subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    pub retry_count: u32,
    pub last_error: Option<String>,
    pub error_code: Option<String>,
    /// The far end's own code.
    #[serde(default)]
    pub provider_code: Option<String>,
    #[serde(default)]
    pub stuck: bool,
    /// Why it waits and until when, while it does.
    #[serde(default)]
    pub waiting: Option<Waiting>,
    /// Why the provider it waits for is held.
    pub held: Option<Hold>,
    pub created_at: Timestamp,
    pub last_attempt_at: Option<Timestamp>,
    pub next_attempt_at: Option<Timestamp>,
    pub delivered_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    pub send_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
    #[serde(default)]
    pub resolved_targets: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recipients: Vec<RecipientResult>,
    pub provider_message_id: Option<String>,
    /// What the provider told later, and when.
    #[serde(default)]
    pub receipt: Option<String>,
    #[serde(default)]
    pub receipt_at: Option<Timestamp>,
    pub source_site_id: Option<String>,
    pub entity_type: Option<String>,
    pub entity_id: Option<String>,
    pub submitted_by: Option<String>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// How far one notification is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusReport {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notification_id: Option<NotificationId>,
    pub status: Status,
    /// The same in the words of other outboxes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_state: Option<DeliveryState>,
    pub retry_count: u32,
    /// Of the last failure, like `RECIPIENT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    pub last_error: Option<String>,
    pub enqueued_at: Option<Timestamp>,
    pub delivered_at: Option<Timestamp>,
    pub receipt: Option<String>,
    /// Why it waits and until when, while it does.
    #[serde(default)]
    pub waiting: Option<Waiting>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What keeps a notification from going out just now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// `scheduled`, `retry`, `held`, `throttled`, `hours`, `template`, `secrets`, `sending`, `queued`.
    pub reason: String,
    pub detail: Option<String>,
    /// When it is tried next; none when that is up to a person, or to what stands before it.
    pub until: Option<Timestamp>,
}

/// One line of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditRow {
    pub at: Timestamp,
    pub kind: String,
    pub status: String,
    /// Of an attempt to deliver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_state: Option<DeliveryState>,
    pub notification_id: Option<NotificationId>,
    pub actor: String,
    pub site: Option<String>,
    pub target: Option<String>,
    pub duration_ms: Option<u32>,
    pub code: Option<String>,
    /// The far end's own code.
    #[serde(default)]
    pub provider_code: Option<String>,
    pub detail: Option<String>,
    /// Which attempt of its notification this is, where the rows of one were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// What was said in it can be asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub has_transcript: Option<bool>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What was sent and what came back in one attempt, without secrets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptTranscript {
    pub attempt: Option<u32>,
    pub at: Timestamp,
    pub provider: Option<String>,
    pub code: Option<String>,
    pub detail: Option<String>,
    /// The Message-ID of a mail.
    pub message_id: Option<String>,
    /// In order.
    pub parts: Vec<TranscriptPart>,
    /// There was more than is kept.
    pub cut: bool,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// The figures of one site; none is what came without one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteKpis {
    pub site: Option<String>,
    #[serde(flatten)]
    pub kpis: Kpis,
}
