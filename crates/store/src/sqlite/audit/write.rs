//! Writing the audit log.

use super::sql;
use crate::{
    Result,
    audit::entry::{self, Entry},
    outbox::AttemptRecord,
    sqlite::{error::is_disk_failure, writer::WriteSession},
};
use domain::{AuditStatus, Status};
use rusqlite::params;
use tracing::error;

/// The audit rows of an attempt. If they cannot be written, what became of the message still is.
pub(in crate::sqlite) fn attempt(
    s: &WriteSession<'_>,
    attempt: &AttemptRecord,
    ended_as: Option<Status>,
) -> Result<()> {
    let mut entries = entry::of_attempt(attempt, ended_as);
    let Err(error) = entries.try_for_each(|entry| insert(s, &entry)) else {
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

pub(in crate::sqlite) fn insert(s: &WriteSession<'_>, entry: &Entry<'_>) -> Result<()> {
    s.conn.prepare_cached(sql::audit_insert)?.execute(params![
        s.now.as_millis(),
        entry.tenant.0,
        entry.seq.map(|seq| seq.0),
        entry.token,
        entry.kind.as_str(),
        entry.status.as_str(),
        entry.ended_as.map(AuditStatus::as_str),
        entry.actor,
        entry.target,
        entry.duration_ms,
        entry.code,
        entry.provider_code,
        entry.detail,
    ])?;
    Ok(())
}
