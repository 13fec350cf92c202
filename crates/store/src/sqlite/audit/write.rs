//! Writing the audit log. An attempt that ended its notification is one row here and is read as two.

use super::sql;
use crate::{
    Result,
    outbox::{AttemptRecord, Ended},
    sqlite::{error::is_disk_failure, writer::Session},
};
use domain::{Actor, AuditKind, AuditStatus, Seq, Status, TenantId};
use rusqlite::params;
use tracing::error;

/// The code of the row for an attempt that was cut off.
const INTERRUPTED: &str = "INTERRUPTED";

/// The audit rows of an attempt. If they cannot be written, what became of the message still is.
pub(in crate::sqlite) fn attempt(
    s: &Session<'_>,
    attempt: &AttemptRecord,
    ended_as: Option<Status>,
) -> Result<()> {
    let Err(error) = try_attempt(s, attempt, ended_as) else {
        return Ok(());
    };
    if s.conn.is_autocommit() || is_disk_failure(&error) {
        return Err(error);
    }
    metrics::counter!("waypost_audit_write_failures_total").increment(1);
    error!(
        notification.id = %attempt.id,
        error = &error as &dyn std::error::Error,
        "the audit row of an attempt could not be written; its outcome was"
    );
    Ok(())
}

fn try_attempt(s: &Session<'_>, attempt: &AttemptRecord, ended_as: Option<Status>) -> Result<()> {
    let actor = Actor::system();
    let of_row = AuditEntry {
        seq: Some(attempt.lease.seq),
        ..AuditEntry::new(attempt.tenant, AuditKind::NotifyDeliver, &actor)
    };
    if attempt.after_interruption {
        entry(
            s,
            &AuditEntry {
                status: AuditStatus::Attempted,
                code: Some(INTERRUPTED),
                ..of_row
            },
        )?;
    }
    let of_attempt = AuditEntry {
        token: Some(attempt.lease.token.0),
        ..of_row
    };
    match (&attempt.attempt, ended_as.and_then(as_audit)) {
        (Some(went_out), ended_as) => entry(
            s,
            &AuditEntry {
                status: AuditStatus::Attempted,
                ended_as,
                target: Some(&went_out.target),
                duration_ms: Some(went_out.duration_ms),
                code: went_out.code.as_deref(),
                detail: went_out.detail.as_deref(),
                ..of_attempt
            },
        ),
        (None, Some(status)) => {
            let (code, detail) = match &attempt.ended {
                Ended::Park { code, error, .. } => (Some(code.as_str()), Some(error.as_str())),
                _ => (None, None),
            };
            entry(
                s,
                &AuditEntry {
                    status,
                    code,
                    detail,
                    ..of_attempt
                },
            )
        }
        (None, None) => Ok(()),
    }
}

fn as_audit(status: Status) -> Option<AuditStatus> {
    match status {
        Status::Delivered => Some(AuditStatus::Delivered),
        Status::Parked => Some(AuditStatus::Parked),
        Status::Discarded => Some(AuditStatus::Discarded),
        Status::Forwarding | Status::Pending | Status::Retrying => None,
    }
}

/// One row of the audit log.
#[derive(Debug, Clone, Copy)]
pub(in crate::sqlite) struct AuditEntry<'a> {
    pub tenant: TenantId,
    pub kind: AuditKind,
    pub actor: &'a Actor,
    pub seq: Option<Seq>,
    /// Only for the attempt made under it: seq and token together say that it is on record.
    pub token: Option<i64>,
    pub status: AuditStatus,
    pub ended_as: Option<AuditStatus>,
    pub target: Option<&'a str>,
    pub duration_ms: Option<u32>,
    pub code: Option<&'a str>,
    pub detail: Option<&'a str>,
}

impl<'a> AuditEntry<'a> {
    pub(in crate::sqlite) fn new(tenant: TenantId, kind: AuditKind, actor: &'a Actor) -> Self {
        Self {
            tenant,
            kind,
            actor,
            seq: None,
            token: None,
            status: AuditStatus::Done,
            ended_as: None,
            target: None,
            duration_ms: None,
            code: None,
            detail: None,
        }
    }
}

pub(in crate::sqlite) fn entry(s: &Session<'_>, entry: &AuditEntry<'_>) -> Result<()> {
    s.conn.prepare_cached(sql::audit_insert)?.execute(params![
        s.now.as_millis(),
        entry.tenant.0,
        entry.seq.map(|seq| seq.0),
        entry.token,
        entry.kind.as_str(),
        entry.status.as_str(),
        entry.ended_as.map(AuditStatus::as_str),
        entry.actor.as_str(),
        entry.target,
        entry.duration_ms,
        entry.code,
        entry.detail,
    ])?;
    Ok(())
}
