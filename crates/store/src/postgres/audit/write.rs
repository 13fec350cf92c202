//! Writing the audit log.

use super::sql;
use crate::{
    audit::Entry,
    postgres::{
        failed::Failed,
        session::{Db, Session},
    },
};
use domain::AuditStatus;
use std::borrow::Cow;
use tokio_postgres::types::ToSql;

/// Rows of the log turned on their side.
#[derive(Default)]
struct Columns<'a> {
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
    provider_code: Vec<Option<Cow<'a, str>>>,
    detail: Vec<Option<Cow<'a, str>>>,
}

impl<'a> Columns<'a> {
    fn add(&mut self, entry: Entry<'a>) {
        self.tenant.push(entry.tenant.0);
        self.seq.push(entry.seq.map(|seq| seq.0));
        self.token.push(entry.token);
        self.kind.push(entry.kind.as_str());
        self.status.push(entry.status.as_str());
        self.ended_as.push(entry.ended_as.map(AuditStatus::as_str));
        self.actor.push(entry.actor);
        self.target.push(entry.target);
        self.duration
            .push(entry.duration_ms.map(|ms| i32::try_from(ms).unwrap_or(i32::MAX)));
        self.code.push(entry.code.map(without_nul));
        self.provider_code.push(entry.provider_code.map(without_nul));
        self.detail.push(entry.detail.map(without_nul));
    }

    fn is_empty(&self) -> bool {
        self.tenant.is_empty()
    }

    /// In the order of the files' `$…`.
    fn params(&self) -> [&(dyn ToSql + Sync); 12] {
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
            &self.provider_code,
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
