//! The audit log as it is shown.

use super::names::{AuditKindName, AuditStatusName, Id, Time};
use domain::{AuditKind, AuditStatus, NotificationId, Timestamp, TrackedOperationId};
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
    #[schema(value_type = Option<Id>)]
    pub notification_id: Option<NotificationId>,
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
    /// The far end's answer, redacted and cut.
    pub detail: Option<String>,
}

impl From<AuditRow> for AuditView {
    fn from(row: AuditRow) -> Self {
        Self {
            at: row.at,
            kind: row.kind,
            status: row.status,
            notification_id: row.notification,
            tracked_operation_id: row.operation,
            execution_id: row.execution,
            parent_execution_id: row.parent_execution,
            actor: row.actor,
            site: row.site,
            target: row.target,
            duration_ms: row.duration_ms,
            code: row.code,
            detail: row.detail,
        }
    }
}
