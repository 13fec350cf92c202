//! Attempts after which the row goes on waiting. None: the lease was lost.

use super::{super::sql, Kept};
use crate::{
    Result,
    outbox::{AttemptRecord, Ended},
    sqlite::{stats::counts::Counted, writer::WriteSession},
};
use domain::TenantId;
use rusqlite::{OptionalExtension, Row, params};

pub(super) fn retried(s: &mut WriteSession<'_>, attempt: &AttemptRecord) -> Result<Option<Kept>> {
    let Ended::Retry {
        after,
        unknown,
        cause,
    } = &attempt.ended
    else {
        return Ok(None);
    };
    let due_at = (s.now + *after).as_millis();
    let lease = attempt.lease;
    let retried = s
        .conn
        .prepare_cached(sql::record_retry)?
        .query_row(
            params![
                lease.seq.0,
                lease.token.0,
                unknown,
                due_at,
                cause.code,
                cause.provider_code,
                cause.error,
                attempt.in_doubt
            ],
            |row| {
                Ok((
                    TenantId(row.get(0)?),
                    row.get::<_, Option<String>>(1)?,
                    kept(row)?,
                ))
            },
        )
        .optional()?;
    let Some((tenant, site, kept)) = retried else {
        return Ok(None);
    };
    s.counts.one(s.now, tenant, site.as_deref(), Counted::Retried);
    Ok(Some(kept))
}

fn kept(row: &Row<'_>) -> rusqlite::Result<Kept> {
    Ok(Kept {
        generation: row.get("generation")?,
        superseded: row.get("superseded")?,
    })
}

pub(super) fn postponed(s: &mut WriteSession<'_>, attempt: &AttemptRecord) -> Result<Option<Kept>> {
    let Ended::Postpone { after, cause } = &attempt.ended else {
        return Ok(None);
    };
    let lease = attempt.lease;
    let found = s
        .conn
        .prepare_cached(sql::record_postpone)?
        .query_row(
            params![
                lease.seq.0,
                lease.token.0,
                (s.now + *after).as_millis(),
                cause.code,
                cause.provider_code,
                cause.error,
                attempt.in_doubt
            ],
            kept,
        )
        .optional()?;
    Ok(found)
}

pub(super) fn waits(s: &mut WriteSession<'_>, attempt: &AttemptRecord) -> Result<Option<Kept>> {
    let Ended::Wait { cause } = &attempt.ended else {
        return Ok(None);
    };
    let lease = attempt.lease;
    let found = s
        .conn
        .prepare_cached(sql::record_wait)?
        .query_row(
            params![
                lease.seq.0,
                lease.token.0,
                cause.code,
                cause.provider_code,
                cause.error,
                attempt.in_doubt
            ],
            kept,
        )
        .optional()?;
    Ok(found)
}
