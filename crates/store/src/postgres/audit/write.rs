//! Writing the audit log. An attempt that ended its notification is one row here and is read as two.

use super::sql;
use crate::{
    outbox::{AttemptRecord, Ended},
    postgres::{
        failed::Failed,
        session::{Db, Session},
    },
};
use domain::{Actor, AuditKind, AuditStatus, Seq, Status, TenantId};
use std::borrow::Cow;
use tokio_postgres::types::ToSql;

/// The code of the row for an attempt that was cut off.
const INTERRUPTED: &str = "INTERRUPTED";

/// One row of the audit log.
#[derive(Debug, Clone)]
pub(in crate::postgres) struct Entry<'a> {
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

    /// In milliseconds, as the column has it.
    pub fn duration(&self) -> Option<i32> {
        self.duration_ms.map(|ms| i32::try_from(ms).unwrap_or(i32::MAX))
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
pub(in crate::postgres) fn of_attempt(record: &AttemptRecord, ended_as: Option<Status>) -> Vec<Entry<'_>> {
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

/// Rows of the log turned on their side.
#[derive(Default)]
pub(in crate::postgres) struct Columns<'a> {
    tenant: Vec<i32>,
    seq: Vec<Option<i64>>,
    token: Vec<Option<i64>>,
    kind: Vec<&'static str>,
    status: Vec<&'static str>,
    ended_as: Vec<Option<&'static str>>,
    actor: Vec<&'a str>,
    target: Vec<Option<&'a str>>,
    duration: Vec<Option<i32>>,
    code: Vec<Option<Cow<'a, str>>>,
    detail: Vec<Option<Cow<'a, str>>>,
}

impl<'a> Columns<'a> {
    pub fn add(&mut self, entry: Entry<'a>) {
        self.tenant.push(entry.tenant.0);
        self.seq.push(entry.seq.map(|seq| seq.0));
        self.token.push(entry.token);
        self.kind.push(entry.kind.as_str());
        self.status.push(entry.status.as_str());
        self.ended_as.push(entry.ended_as.map(AuditStatus::as_str));
        self.actor.push(entry.actor);
        self.target.push(entry.target);
        self.duration.push(entry.duration());
        self.code.push(entry.code);
        self.detail.push(entry.detail);
    }

    fn is_empty(&self) -> bool {
        self.tenant.is_empty()
    }

    /// In the order of the files' `$…`.
    pub fn params(&self) -> [&(dyn ToSql + Sync); 11] {
        [
            &self.tenant,
            &self.seq,
            &self.token,
            &self.kind,
            &self.status,
            &self.ended_as,
            &self.actor,
            &self.target,
            &self.duration,
            &self.code,
            &self.detail,
        ]
    }
}

impl<'a> FromIterator<Entry<'a>> for Columns<'a> {
    fn from_iter<T: IntoIterator<Item = Entry<'a>>>(entries: T) -> Self {
        let mut columns = Self::default();
        entries.into_iter().for_each(|entry| columns.add(entry));
        columns
    }
}

pub(in crate::postgres) async fn insert<'a>(
    db: &Db,
    session: &impl Session,
    entries: impl IntoIterator<Item = Entry<'a>>,
) -> Result<(), Failed> {
    let columns: Columns<'a> = entries.into_iter().collect();
    if columns.is_empty() {
        return Ok(());
    }
    let now = db.now();
    let mut params: Vec<&(dyn ToSql + Sync)> = vec![&now];
    params.extend(columns.params());
    session.exec(sql::audit_insert, &params).await?;
    Ok(())
}

/// What a far end says may contain anything; PostgreSQL takes no NUL in text.
pub(in crate::postgres) fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}
