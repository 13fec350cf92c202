//! The end of a row: out of `due`, into `outcome`, with what it came to.

use super::super::sql;
use crate::{
    Result,
    outbox::{AttemptAudit, AttemptRecord, Ended, Lease},
    sqlite::{bind::execute, rows, stats::counts::Counted, writer::WriteSession},
};
use domain::{LaneId, LeaseToken, Seq, Status, TenantId, Timestamp};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};

/// What every message that ends goes through, looked up once for all of them.
pub(super) struct Endings<'c> {
    left: CachedStatement<'c>,
    ended: CachedStatement<'c>,
    outcome: CachedStatement<'c>,
}

impl<'c> Endings<'c> {
    pub(super) fn prepare(conn: &'c Connection) -> Result<Self> {
        Ok(Self {
            left: conn.prepare_cached(sql::record_left)?,
            ended: conn.prepare_cached(sql::record_ended)?,
            outcome: conn.prepare_cached(sql::record_outcome)?,
        })
    }

    /// The row, if its lease is still held.
    pub(super) fn left(&mut self, lease: Lease) -> Result<Option<Left>> {
        let found = self.left.query_row((lease.seq.0, lease.token.0), Left::from_row);
        Ok(found.optional()?)
    }

    /// Takes it out of `due` and writes down what it came to.
    pub(super) fn end(
        &mut self,
        s: &mut WriteSession<'_>,
        left: &Left,
        attempts: u32,
        end: &Outcome<'_>,
    ) -> Result<()> {
        self.ended.execute([left.seq.0])?;
        insert_outcome(s, &mut self.outcome, left, attempts, end)
    }
}

/// A row as it was when it left `due`.
#[derive(Debug)]
pub(in crate::sqlite) struct Left {
    pub seq: Seq,
    pub tenant: TenantId,
    pub site: Option<String>,
    lane: LaneId,
    waiting_since: Timestamp,
    pub generation: i32,
    pub attempts: u32,
    last_attempt_at: Option<i64>,
    /// How its last attempt failed, if one did.
    code: Option<String>,
    provider_code: Option<String>,
    error: Option<String>,
}

impl Left {
    pub(in crate::sqlite) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            seq: Seq(row.get(0)?),
            tenant: TenantId(row.get(1)?),
            site: row.get(2)?,
            lane: LaneId(row.get(3)?),
            waiting_since: Timestamp::from_millis(row.get(4)?),
            generation: row.get(5)?,
            attempts: row.get(6)?,
            last_attempt_at: row.get(7)?,
            code: row.get(8)?,
            provider_code: row.get(9)?,
            error: row.get(10)?,
        })
    }
}

/// What a row ends with.
#[derive(Debug)]
pub(in crate::sqlite) struct Outcome<'a> {
    pub status: Status,
    pub code: Option<&'a str>,
    pub provider_code: Option<&'a str>,
    pub error: Option<&'a str>,
    pub resolved_targets: &'a [String],
    pub provider_message_id: Option<&'a str>,
    /// The attempt that is told with it, not in the log, and the token it was made under.
    pub attempt: Option<(LeaseToken, &'a AttemptAudit)>,
}

impl<'a> Outcome<'a> {
    pub(in crate::sqlite) fn new(status: Status) -> Self {
        Self {
            status,
            code: None,
            provider_code: None,
            error: None,
            resolved_targets: &[],
            provider_message_id: None,
            attempt: None,
        }
    }

    /// None for an attempt after which the row waits on.
    pub(in crate::sqlite) fn of(attempt: &'a AttemptRecord) -> Option<Self> {
        let resolved_targets = &attempt.resolved_targets;
        match &attempt.ended {
            Ended::Delivered { provider_message_id } => Some(Self {
                resolved_targets,
                provider_message_id: provider_message_id.as_deref(),
                ..Self::new(Status::Delivered)
            }),
            Ended::Park { cause } | Ended::Discard { cause } => Some(Self {
                code: Some(&cause.code),
                provider_code: cause.provider_code.as_deref(),
                error: Some(&cause.error),
                resolved_targets,
                ..Self::new(attempt.ended.status()?)
            }),
            Ended::Retry { .. } | Ended::Postpone { .. } | Ended::Wait { .. } => None,
        }
    }
}

/// The other half of leaving `due`: the row's place in `outcome`.
pub(in crate::sqlite) fn end(
    s: &mut WriteSession<'_>,
    left: &Left,
    attempts: u32,
    end: &Outcome<'_>,
) -> Result<()> {
    let mut insert = s.conn.prepare_cached(sql::record_outcome)?;
    insert_outcome(s, &mut insert, left, attempts, end)
}

fn insert_outcome(
    s: &mut WriteSession<'_>,
    insert: &mut CachedStatement<'_>,
    left: &Left,
    attempts: u32,
    end: &Outcome<'_>,
) -> Result<()> {
    let (token, attempt) = end.attempt.unzip();
    // What was delivered keeps its most recent failure.
    let (code, provider_code, error) = match end.status {
        Status::Delivered => (
            left.code.as_deref(),
            left.provider_code.as_deref(),
            left.error.as_deref(),
        ),
        _ => (end.code, end.provider_code, end.error),
    };
    execute!(insert;
        left.seq.0,
        left.tenant.0,
        &left.site,
        left.lane.0,
        end.status.as_str(),
        s.now.as_millis(),
        left.waiting_since.as_millis(),
        left.generation,
        attempts,
        left.last_attempt_at,
        code,
        provider_code,
        error,
        resolved(end.resolved_targets),
        end.provider_message_id,
        token.map(|token| token.0),
        attempt.map(|attempt| &attempt.target),
        attempt.map(|attempt| attempt.duration_ms),
        attempt.and_then(|attempt| attempt.code.as_deref()),
        attempt.and_then(|attempt| attempt.detail.as_deref()),
    )?;
    let what = match end.status {
        Status::Delivered => Counted::Delivered,
        Status::Parked => Counted::Parked,
        _ => Counted::Discarded,
    };
    s.counts.one(s.now, left.tenant, left.site.as_deref(), what);
    Ok(())
}

pub(in crate::sqlite) fn resolved(targets: &[String]) -> Option<String> {
    (!targets.is_empty()).then(|| rows::json(&targets))
}
