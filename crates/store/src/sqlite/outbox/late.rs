//! What becomes of a result whose lease was lost: it never overwrites, and nothing it learned is thrown away.

use super::{
    record::{self, Left, Outcome},
    sql,
};
use crate::{
    Result,
    outbox::{AttemptRecord, Ended, Recorded},
    sqlite::{audit, stats::counts::Counted, writer::WriteSession},
};
use domain::{Status, TenantId};
use rusqlite::{OptionalExtension, params};

pub(super) fn record(s: &mut WriteSession<'_>, attempt: &AttemptRecord) -> Result<Recorded> {
    let lease = attempt.lease;
    let on_record: bool = s
        .conn
        .prepare_cached(sql::record_known)?
        .query_row(params![lease.seq.0, lease.token.0], |row| row.get(0))?;
    if on_record {
        return Ok(Recorded::AlreadyRecorded);
    }
    let place = s
        .conn
        .prepare_cached(sql::late_place)?
        .query_row(
            params![lease.seq.0, attempt.tenant.0, attempt.id.0.as_bytes()],
            |row| row.get::<_, i32>(0),
        )
        .optional()?;
    // Purged meanwhile: there is nothing left to add to.
    let Some(generation) = place else {
        return Ok(Recorded::LostLease { completed: false });
    };
    record::recipients(s, lease.seq, generation, attempt.provider(), attempt.accepted())?;
    record::messages(s, attempt)?;
    record::transcript(s, attempt)?;
    let completed = complete(s, attempt)?;
    audit::attempt(s, attempt, completed.then_some(Status::Delivered))?;
    Ok(Recorded::LostLease { completed })
}

/// A late success ends a row that waits, and completes one that is parked. Discarded and Delivered stay.
fn complete(s: &mut WriteSession<'_>, attempt: &AttemptRecord) -> Result<bool> {
    if !matches!(attempt.ended, Ended::Delivered { .. }) {
        return Ok(false);
    }
    let Some(delivered) = Outcome::of(attempt) else {
        return Ok(false);
    };
    let seq = attempt.lease.seq;
    let waiting = s
        .conn
        .prepare_cached(sql::late_ended)?
        .query_row([seq.0], Left::from_row)
        .optional()?;
    if let Some(left) = waiting {
        record::end(s, &left, left.attempts.max(1), &delivered)?;
        return Ok(true);
    }
    let parked = s
        .conn
        .prepare_cached(sql::late_delivered)?
        .query_row(
            params![
                seq.0,
                s.now.as_millis(),
                record::resolved(delivered.resolved_targets),
                delivered.provider_message_id,
            ],
            |row| Ok((TenantId(row.get(0)?), row.get::<_, Option<String>>(1)?)),
        )
        .optional()?;
    if let Some((tenant, site)) = &parked {
        s.counts.one(s.now, *tenant, site.as_deref(), Counted::Delivered);
    }
    Ok(parked.is_some())
}
