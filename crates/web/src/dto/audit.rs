//! The audit log as it is shown.

use super::names::{AuditKindName, AuditStatusName, DeliveryStateName, Id, Time};
use domain::{AuditKind, AuditStatus, DeliveryState, NotificationId, Timestamp, TrackedOperationId};
use serde::Serialize;
use store::query::AuditRow;
use utoipa::ToSchema;

/// One thing that happened.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditView {
    #[schema(value_type = Time)]
    pub at: Timestamp,
    #[schema(value_type = AuditKindName)]
    pub kind: AuditKind,
    #[schema(value_type = AuditStatusName)]
    pub status: AuditStatus,
    /// Of an attempt to deliver: `sent` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<DeliveryStateName>)]
    pub delivery_state: Option<DeliveryState>,
    #[schema(value_type = Option<Id>)]
    pub notification_id: Option<NotificationId>,
    /// What the notification is called, while it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The cached call or write of a site it was about.
    #[schema(value_type = Option<Id>)]
    pub tracked_operation_id: Option<TrackedOperationId>,
    pub execution_id: Option<String>,
    pub parent_execution_id: Option<String>,
    pub actor: String,
    pub site: Option<String>,
    /// The provider, list, key or tenant it was about.
    pub target: Option<String>,
    pub duration_ms: Option<u32>,
    pub code: Option<String>,
    /// The far end's own code.
    pub provider_code: Option<String>,
    /// The far end's answer, redacted and cut.
    pub detail: Option<String>,
    /// Which attempt of its notification this is, counted from 1. Only where the rows of one notification are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// What was said in it can be asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_transcript: Option<bool>,
}

impl From<AuditRow> for AuditView {
    fn from(row: AuditRow) -> Self {
        Self {
            at: row.at,
            kind: row.kind,
            status: row.status,
            delivery_state: DeliveryState::of_logged(row.kind, row.status, row.code.as_deref()),
            notification_id: row.notification,
            subject: row.subject,
            tracked_operation_id: row.operation,
            execution_id: row.execution,
            parent_execution_id: row.parent_execution,
            actor: row.actor,
            site: row.site,
            target: row.target,
            duration_ms: row.duration_ms,
            code: row.code,
            provider_code: row.provider_code,
            detail: row.detail,
            has_transcript: row.attempt.map(|_| row.has_transcript),
            attempt: row.attempt,
        }
    }
}
