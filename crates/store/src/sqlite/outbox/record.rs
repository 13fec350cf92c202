//! Writing down what attempts came to: the row's next state, its recipients and its audit row, together.
//!
//! Always true: a write that follows a claim names its token; who lost it changes nothing here and goes on in
//! [`super::late`].

mod later;

use super::{late, sql};
use crate::{
    Result,
    audit::Entry,
    outbox::{AttemptAudit, AttemptRecord, Ended, Lease, Recorded},
    sqlite::{audit, rows, stats::counts::Counted, writer::WriteSession},
    transcripts,
};
use domain::{
    Actor, AuditKind, AuditStatus, LaneId, LeaseToken, Seq, Status, TenantId, Timestamp,
    settle::{RecipientUpdate, SUPERSEDED, SUPERSEDED_IN_WORDS},
};
use later::{postponed, retried, waits};
use rusqlite::{OptionalExtension, Row, params};

pub(in crate::sqlite) fn record(s: &mut WriteSession<'_>, batch: &[AttemptRecord]) -> Result<Vec<Recorded>> {
    batch.iter().map(|attempt| one(s, attempt)).collect()
}

fn one(s: &mut WriteSession<'_>, attempt: &AttemptRecord) -> Result<Recorded> {
    let fenced = match &attempt.ended {
        Ended::Delivered { .. } | Ended::Park { .. } | Ended::Discard { .. } => ended(s, attempt)?,
        Ended::Retry { .. } => retried(s, attempt)?,
        Ended::Postpone { .. } => postponed(s, attempt)?,
        Ended::Wait { .. } => waits(s, attempt)?,
    };
    let Some(Kept {
        generation,
        superseded,
    }) = fenced
    else {
        return late::record(s, attempt);
    };
    recipients(
        s,
        attempt.lease.seq,
        generation,
        attempt.provider(),
        &attempt.recipients,
    )?;
    messages(s, attempt)?;
    transcript(s, attempt)?;
    if attempt.delivery().is_none() {
        audit::attempt(s, attempt, attempt.ended.status())?;
    }
    if superseded {
        discard_superseded(s, attempt.lease.seq)?;
        return Ok(Recorded::Superseded);
    }
    Ok(Recorded::Done)
}

/// A row whose lease was still held.
#[derive(Debug)]
struct Kept {
    generation: i32,
    /// A newer one with its key came meanwhile.
    superseded: bool,
}

/// The newer one says it all: this one does not go out after it.
fn discard_superseded(s: &mut WriteSession<'_>, seq: Seq) -> Result<()> {
    let left = s
        .conn
        .prepare_cached(sql::late_ended)?
        .query_row([seq.0], Left::from_row)?;
    let discarded = Outcome {
        code: Some(SUPERSEDED),
        error: Some(SUPERSEDED_IN_WORDS),
        ..Outcome::new(Status::Discarded)
    };
    end(s, &left, left.attempts, &discarded)?;
    let system = Actor::system();
    let entry = Entry {
        seq: Some(seq),
        status: AuditStatus::Discarded,
        code: Some(SUPERSEDED),
        detail: Some(SUPERSEDED_IN_WORDS),
        ..Entry::new(left.tenant, AuditKind::NotifyDeliver, &system)
    };
    audit::insert(s, &entry)
}

/// What is known about recipients while their row is being sent. Answers whether its lease is still held.
pub(in crate::sqlite) fn note(
    s: &WriteSession<'_>,
    lease: Lease,
    provider: &str,
    updates: &[RecipientUpdate],
) -> Result<bool> {
    let generation = s
        .conn
        .prepare_cached(sql::recipients_noted)?
        .query_row(params![lease.seq.0, lease.token.0], |row| row.get(0))
        .optional()?;
    let Some(generation) = generation else {
        return Ok(false);
    };
    recipients(s, lease.seq, generation, Some(provider), updates)?;
    Ok(true)
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
    let mut insert = s.conn.prepare_cached(sql::record_outcome)?;
    insert.execute(params![
        left.seq.0,
        left.tenant.0,
        left.site,
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
    ])?;
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

/// None when the lease was lost.
fn ended(s: &mut WriteSession<'_>, attempt: &AttemptRecord) -> Result<Option<Kept>> {
    let lease = attempt.lease;
    let left = s
        .conn
        .prepare_cached(sql::record_left)?
        .query_row(params![lease.seq.0, lease.token.0], Left::from_row)
        .optional()?;
    let (Some(left), Some(mut outcome)) = (left, Outcome::of(attempt)) else {
        return Ok(None);
    };
    outcome.attempt = attempt.delivery().map(|went_out| (lease.token, went_out));
    s.conn.prepare_cached(sql::record_ended)?.execute([lease.seq.0])?;
    let attempts = left.attempts + u32::from(attempt.attempt.is_some());
    end(s, &left, attempts, &outcome)?;
    Ok(Some(Kept {
        generation: left.generation,
        superseded: false,
    }))
}

/// What receipts of this attempt are found by. Nothing to do for lanes that get none.
pub(super) fn messages(s: &WriteSession<'_>, attempt: &AttemptRecord) -> Result<()> {
    for sent in &attempt.messages {
        let id = &sent.message_id;
        s.conn.prepare_cached(sql::record_message)?.execute(params![
            sent.lane.0,
            id,
            attempt.lease.seq.0,
            sent.address,
            sent.generation,
        ])?;
        s.conn
            .prepare_cached(sql::record_awaited)?
            .execute(params![sent.lane.0, id, s.now.as_millis()])?;
    }
    Ok(())
}

/// What was said in this attempt, where it is to be kept.
pub(super) fn transcript(s: &WriteSession<'_>, attempt: &AttemptRecord) -> Result<()> {
    let Some(said) = attempt.transcript() else {
        return Ok(());
    };
    let (lease, said) = (attempt.lease, transcripts::written(said));
    s.conn.prepare_cached(sql::record_transcript)?.execute(params![
        lease.seq.0,
        lease.token.0,
        s.now.as_millis(),
        said
    ])?;
    Ok(())
}

pub(in crate::sqlite) fn recipients<'a>(
    s: &WriteSession<'_>,
    seq: Seq,
    generation: i32,
    provider: Option<&str>,
    updates: impl IntoIterator<Item = &'a RecipientUpdate>,
) -> Result<()> {
    for update in updates {
        let cause = update.cause.as_ref();
        s.conn.prepare_cached(sql::record_recipient)?.execute(params![
            seq.0,
            update.address,
            update.state.as_str(),
            generation,
            update.provider_message_id,
            cause.map(|cause| &cause.code),
            cause.and_then(|cause| cause.provider_code.as_ref()),
            cause.map(|cause| &cause.error),
            s.now.as_millis(),
            provider,
            update.tried,
            update.wait.map(|wait| (s.now + wait).as_millis()),
        ])?;
    }
    Ok(())
}
