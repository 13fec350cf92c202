//! Rows of the audit log on their way in. An attempt that ended its notification is one row and is read as two.

use crate::{
    outbox::{AttemptRecord, Ended},
    receipts::{Found, LogPlan},
};
use domain::{Actor, AuditKind, AuditStatus, ProviderId, Seq, Status, TenantId};

/// The code of the row for an attempt that was cut off.
pub(super) const INTERRUPTED: &str = "INTERRUPTED";

/// One row of the audit log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub tenant: TenantId,
    pub kind: AuditKind,
    pub actor: &'a str,
    pub seq: Option<Seq>,
    /// Only for the attempt made under it: seq and token together say that it is on record.
    pub token: Option<i64>,
    pub status: AuditStatus,
    pub ended_as: Option<AuditStatus>,
    pub target: Option<&'a str>,
    pub duration_ms: Option<u32>,
    pub code: Option<&'a str>,
    pub provider_code: Option<&'a str>,
    pub detail: Option<&'a str>,
}

impl<'a> Entry<'a> {
    pub fn new(tenant: TenantId, kind: AuditKind, actor: &'a Actor) -> Self {
        Self::by(tenant, kind, actor.as_str())
    }

    /// Somebody did something to what is called `target`.
    pub fn of_change(
        tenant: TenantId,
        kind: AuditKind,
        actor: &'a Actor,
        target: &'a str,
        detail: &'a str,
    ) -> Self {
        Self {
            target: Some(target),
            detail: Some(detail),
            ..Self::new(tenant, kind, actor)
        }
    }

    fn by(tenant: TenantId, kind: AuditKind, actor: &'a str) -> Self {
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
            provider_code: None,
            detail: None,
        }
    }
}

impl<'a> Entry<'a> {
    /// What a provider told later about a notification.
    pub fn of_receipt(found: &'a Found, told: &'a LogPlan) -> Self {
        let (kind, status) = match told.ended.and_then(as_audit) {
            Some(ended) => (AuditKind::NotifyDeliver, ended),
            None => (AuditKind::NotifyReceipt, AuditStatus::Done),
        };
        Self {
            seq: Some(found.seq),
            status,
            target: found.provider.as_ref().map(ProviderId::as_str),
            code: told.code.as_deref(),
            provider_code: told.provider_code.as_deref(),
            detail: Some(&told.detail),
            ..Self::by(found.tenant, kind, Actor::SYSTEM)
        }
    }
}

/// The rows of an attempt; `ended_as` when it ended its notification.
pub(crate) fn of_attempt(
    record: &AttemptRecord,
    ended_as: Option<Status>,
) -> impl Iterator<Item = Entry<'_>> {
    let of_row = Entry {
        seq: Some(record.lease.seq),
        ..Entry::by(record.tenant, AuditKind::NotifyDeliver, Actor::SYSTEM)
    };
    let interrupted = record.after_interruption.then_some(Entry {
        status: AuditStatus::Attempted,
        code: Some(INTERRUPTED),
        ..of_row
    });
    let of_attempt = Entry {
        token: Some(record.lease.token.0),
        ..of_row
    };
    let ended_as = ended_as.and_then(as_audit);
    let attempt = match (&record.attempt, ended_as) {
        (Some(went_out), ended_as) => Some(Entry {
            status: AuditStatus::Attempted,
            ended_as,
            target: Some(&went_out.target),
            duration_ms: Some(went_out.duration_ms),
            code: went_out.code.as_deref(),
            provider_code: went_out.provider_code.as_deref(),
            detail: went_out.detail.as_deref(),
            ..of_attempt
        }),
        (None, Some(status)) => {
            let (code, detail) = match &record.ended {
                Ended::Park { cause } | Ended::Discard { cause } => {
                    (Some(cause.code.as_str()), Some(cause.error.as_str()))
                }
                _ => (None, None),
            };
            Some(Entry {
                status,
                code,
                detail,
                ..of_attempt
            })
        }
        (None, None) => None,
    };
    interrupted.into_iter().chain(attempt)
}

/// How the log says that a notification ended.
fn as_audit(status: Status) -> Option<AuditStatus> {
    match status {
        Status::Delivered => Some(AuditStatus::Delivered),
        Status::Parked => Some(AuditStatus::Parked),
        Status::Discarded => Some(AuditStatus::Discarded),
        Status::Forwarding | Status::Pending | Status::Retrying => None,
    }
}
