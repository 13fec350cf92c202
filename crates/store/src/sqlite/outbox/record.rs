//! Writing down what attempts came to: the row's next state, its recipients and its audit row, together.
//!
//! Always true: a write that follows a claim names its token; who lost it changes nothing here and goes on in
//! [`super::late`].

mod ending;
mod later;

pub(in crate::sqlite) use ending::{Left, Outcome, end, resolved};

use super::{late, sql};
use crate::{
    Result,
    audit::Entry,
    outbox::{AttemptRecord, Ended, Lease, Recorded},
    sqlite::{audit, writer::WriteSession},
    transcripts,
};
use domain::{
    Actor, AuditKind, AuditStatus, Seq, Status,
    settle::{RecipientUpdate, SUPERSEDED, SUPERSEDED_IN_WORDS},
};
use ending::Endings;
use later::{postponed, retried, waits};
use rusqlite::{OptionalExtension, params};

pub(in crate::sqlite) fn record(s: &mut WriteSession<'_>, batch: &[AttemptRecord]) -> Result<Vec<Recorded>> {
    let mut endings = Endings::prepare(s.conn)?;
    batch
        .iter()
        .map(|attempt| one(s, &mut endings, attempt))
        .collect()
}

fn one(s: &mut WriteSession<'_>, endings: &mut Endings<'_>, attempt: &AttemptRecord) -> Result<Recorded> {
    let fenced = match &attempt.ended {
        Ended::Delivered { .. } | Ended::Park { .. } | Ended::Discard { .. } => ended(s, endings, attempt)?,
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

/// None when the lease was lost.
fn ended(
    s: &mut WriteSession<'_>,
    endings: &mut Endings<'_>,
    attempt: &AttemptRecord,
) -> Result<Option<Kept>> {
    let lease = attempt.lease;
    let left = endings.left(lease)?;
    let (Some(left), Some(mut outcome)) = (left, Outcome::of(attempt)) else {
        return Ok(None);
    };
    outcome.attempt = attempt.delivery().map(|went_out| (lease.token, went_out));
    let attempts = left.attempts + u32::from(attempt.attempt.is_some());
    endings.end(s, &left, attempts, &outcome)?;
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
