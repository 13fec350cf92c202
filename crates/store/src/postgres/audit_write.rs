//! Writing the audit log. An attempt that ended its notification is one row here and is read as two.

use super::{
    failed::Failed,
    session::{Db, Session},
    sql,
};
use crate::outbox::{AttemptRecord, Ended};
use domain::{Actor, AuditKind, AuditStatus, Seq, Status, TenantId};
use std::borrow::Cow;

/// The code of the row for an attempt that was cut off.
const INTERRUPTED: &str = "INTERRUPTED";

/// One row of the audit log.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
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
    pub code: Option<Cow<'a, str>>,
    pub detail: Option<Cow<'a, str>>,
}

impl<'a> Entry<'a> {
    pub fn new(tenant: TenantId, kind: AuditKind, actor: &'a Actor) -> Self {
        Self::by(tenant, kind, actor.as_str())
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
            detail: None,
        }
    }
}

/// The rows of an attempt; `ended_as` when it ended its notification.
pub(super) fn of_attempt(record: &AttemptRecord, ended_as: Option<Status>) -> Vec<Entry<'_>> {
    let of_row = Entry {
        seq: Some(record.lease.seq),
        ..Entry::by(record.tenant, AuditKind::NotifyDeliver, "system")
    };
    let mut entries = vec![];
    if record.after_interruption {
        entries.push(Entry {
            status: AuditStatus::Attempted,
            code: Some(INTERRUPTED.into()),
            ..of_row.clone()
        });
    }
    let of_attempt = Entry {
        token: Some(record.lease.token.0),
        ..of_row
    };
    let ended_as = ended_as.map(|status| match status {
        Status::Delivered => AuditStatus::Delivered,
        Status::Parked => AuditStatus::Parked,
        Status::Forwarding | Status::Pending | Status::Retrying | Status::Discarded => AuditStatus::Discarded,
    });
    match (&record.attempt, ended_as) {
        (Some(went_out), ended_as) => entries.push(Entry {
            status: AuditStatus::Attempted,
            ended_as,
            target: Some(&went_out.target),
            duration_ms: Some(went_out.duration_ms),
            code: went_out.code.as_deref().map(without_nul),
            detail: went_out.detail.as_deref().map(without_nul),
            ..of_attempt
        }),
        (None, Some(status)) => {
            let (code, detail) = match &record.ended {
                Ended::Park { code, error, .. } => (Some(without_nul(code)), Some(without_nul(error))),
                _ => (None, None),
            };
            entries.push(Entry {
                status,
                code,
                detail,
                ..of_attempt
            });
        }
        (None, None) => {}
    }
    entries
}

pub(super) async fn insert(db: &Db, session: &impl Session, entries: &[Entry<'_>]) -> Result<(), Failed> {
    if entries.is_empty() {
        return Ok(());
    }
    let tenant: Vec<i32> = entries.iter().map(|e| e.tenant.0).collect();
    let seq: Vec<Option<i64>> = entries.iter().map(|e| e.seq.map(|seq| seq.0)).collect();
    let token: Vec<Option<i64>> = entries.iter().map(|e| e.token).collect();
    let kind: Vec<&str> = entries.iter().map(|e| e.kind.as_str()).collect();
    let status: Vec<&str> = entries.iter().map(|e| e.status.as_str()).collect();
    let ended_as: Vec<Option<&str>> = entries
        .iter()
        .map(|e| e.ended_as.map(AuditStatus::as_str))
        .collect();
    let actor: Vec<&str> = entries.iter().map(|e| e.actor).collect();
    let target: Vec<Option<&str>> = entries.iter().map(|e| e.target).collect();
    let duration: Vec<Option<i32>> = entries
        .iter()
        .map(|e| e.duration_ms.map(|ms| i32::try_from(ms).unwrap_or(i32::MAX)))
        .collect();
    let code: Vec<Option<&str>> = entries.iter().map(|e| e.code.as_deref()).collect();
    let detail: Vec<Option<&str>> = entries.iter().map(|e| e.detail.as_deref()).collect();
    session
        .exec(
            sql::AUDIT_INSERT,
            &[
                &db.now(),
                &tenant,
                &seq,
                &token,
                &kind,
                &status,
                &ended_as,
                &actor,
                &target,
                &duration,
                &code,
                &detail,
            ],
        )
        .await?;
    Ok(())
}

/// What a far end says may contain anything; PostgreSQL takes no NUL in text.
pub(super) fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}
