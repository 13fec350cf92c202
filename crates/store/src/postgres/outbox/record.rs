//! Writing down what attempts came to: each row's next state, its recipients and its audit rows, together.
//!
//! Always true: a write that follows a claim names its token, and who lost it changes nothing here but goes on in
//! [`super::late`]; one bad record never fails its neighbours; the same attempt sent twice changes nothing the
//! second time, so a broken connection is answered by sending again.

use super::{
    late,
    recipient_columns::Recipients,
    record_columns::{Deliveries, Ends, Messages, Postponed, Retries, Transcripts, Waits},
    sql,
};
use crate::{
    Error, Result,
    audit::entry::of_attempt,
    outbox::{AttemptRecord, Ended, Lease, Recorded},
    postgres::{
        audit::{self, without_nul},
        commit_retry::CommitRetry,
        failed::Failed,
        server::Use,
        session::{Db, Params, Session, Tx},
        types::At,
    },
};
use domain::settle::{RecipientUpdate, SUPERSEDED, SUPERSEDED_IN_WORDS};
use std::collections::{HashMap, HashSet};
use tokio_postgres::Row;

/// Records in one transaction.
const RECORD_BATCH: usize = 1_000;

/// Where in the transaction a failure struck. Trouble with the audit log does not keep an outcome from being written.
pub(super) enum Stopped {
    AtOutcome(Failed),
    AtAudit(Failed),
}

impl From<Failed> for Stopped {
    fn from(failed: Failed) -> Self {
        Stopped::AtOutcome(failed)
    }
}

pub(super) async fn record(db: &Db, batch: &[AttemptRecord]) -> Result<Vec<Recorded>> {
    let mut answers: Vec<Option<Recorded>> = vec![None; batch.len()];
    // In the order of their rows, as everybody takes locks; a row that comes twice goes the slow way the second time.
    let mut order: Vec<usize> = (0..batch.len()).collect();
    order.sort_by_key(|i| (batch[*i].lease.seq, *i));
    let mut seen = HashSet::new();
    let (once, mut slow): (Vec<usize>, Vec<usize>) =
        order.into_iter().partition(|i| seen.insert(batch[*i].lease.seq));
    let mut parts: Vec<Vec<usize>> = once.chunks(RECORD_BATCH).map(<[usize]>::to_vec).collect();
    while let Some(part) = parts.pop() {
        let records: Vec<&AttemptRecord> = part.iter().map(|i| &batch[*i]).collect();
        match commit(db, &records).await {
            Ok(held) => {
                for i in part {
                    match held.get(&batch[i].lease.seq.0) {
                        Some(answer) => answers[i] = Some(*answer),
                        None => slow.push(i),
                    }
                }
            }
            Err(Failed::Data(_)) if part.len() > 1 => {
                let (left, right) = part.split_at(part.len() / 2);
                parts.push(left.to_vec());
                parts.push(right.to_vec());
            }
            Err(Failed::Data(reason)) => {
                let bare = without_details(records[0], &reason);
                let held = commit(db, &[&bare]).await?;
                answers[part[0]] = Some(match held.into_values().next() {
                    Some(answer) => answer,
                    None => late::record(db, &bare).await?,
                });
            }
            Err(failed) => return Err(failed.into()),
        }
    }
    for i in slow {
        answers[i] = Some(late::record(db, &batch[i]).await?);
    }
    Ok(answers.into_iter().flatten().collect())
}

/// The seqs whose lease was still held; those are on record when this returns.
type Held = HashMap<i64, Recorded>;

async fn commit(db: &Db, records: &[&AttemptRecord]) -> Result<Held, Failed> {
    let mut retry = CommitRetry::new("record");
    let mut audited = true;
    loop {
        match together(db, records, audited).await {
            Ok(held) => {
                if !audited {
                    metrics::counter!("waypost_audit_write_failures_total").increment(held.len() as u64);
                }
                return Ok(held);
            }
            Err(Stopped::AtAudit(failed)) if can_do_without_audit(&failed, records.len()) => {
                tracing::error!(
                    rows = records.len(),
                    error = &Error::from(failed) as &dyn std::error::Error,
                    "the audit rows of attempts could not be written; their outcomes are written without"
                );
                audited = false;
            }
            Err(Stopped::AtAudit(failed) | Stopped::AtOutcome(failed)) => retry.after(failed).await?,
        }
    }
}

/// A bad audit row among many is found first; only then is an outcome written without one.
pub(super) fn can_do_without_audit(failed: &Failed, records: usize) -> bool {
    match failed {
        Failed::Data(_) => records == 1,
        Failed::Server(_) | Failed::Final(_) => true,
        Failed::Lost(_) | Failed::Busy(_) | Failed::Later(_) => false,
    }
}

async fn together(db: &Db, records: &[&AttemptRecord], audited: bool) -> Result<Held, Stopped> {
    let now = db.now();
    let mut session = db.session(Use::Record).await?;
    let deliveries = Deliveries::of(records);
    let bare = |record: &&AttemptRecord| {
        record.recipients.is_empty() && record.messages.is_empty() && record.transcript().is_none()
    };
    if deliveries.len() == records.len() && records.iter().all(bare) {
        // Nearly always. One statement is a transaction of its own.
        let params = deliveries.params(&now, &db.node);
        let rows = session.rows(sql::record_delivered, &params).await?;
        return Ok(rows.iter().map(|row| (row.get(0), Recorded::Done)).collect());
    }
    let tx = session.begin().await?;
    let mut held: HashMap<i64, i32> = HashMap::new();
    let mut keep = |rows: Vec<Row>| {
        held.extend(
            rows.iter()
                .map(|row| (row.get::<_, i64>(0), row.get::<_, i32>(1))),
        )
    };
    if deliveries.len() > 0 {
        let params = deliveries.params(&now, &db.node);
        keep(tx.rows(sql::record_delivered, &params).await?);
    }
    let ends = Ends::of(records);
    if !ends.is_empty() {
        let params = ends.params(&now, &db.node);
        keep(tx.rows(sql::record_ended, &params).await?);
    }
    let again = coming_again(db, &tx, records).await?;
    let superseded: Vec<i64> = again
        .iter()
        .filter(|row| row.get("superseded"))
        .map(|row| row.get(0))
        .collect();
    keep(again);
    let kept = || records.iter().filter(|r| held.contains_key(&r.lease.seq.0));
    what_hangs_on(&tx, &now, kept(), &held).await?;
    if audited {
        let entries = kept()
            .filter(|r| r.delivery().is_none())
            .flat_map(|r| of_attempt(r, r.ended.status()));
        audit::insert(db, &tx, entries).await.map_err(Stopped::AtAudit)?;
    }
    if !superseded.is_empty() {
        let params: Params<'_> = &[&now, &db.node, &superseded, &SUPERSEDED, &SUPERSEDED_IN_WORDS];
        tx.exec(sql::record_superseded, params).await?;
    }
    tx.commit().await?;
    if records.iter().any(|r| matches!(r.ended, Ended::Wait { .. })) {
        db.claim_starts.came_back();
    }
    let answer = |seq: &i64| match superseded.contains(seq) {
        true => Recorded::Superseded,
        false => Recorded::Done,
    };
    Ok(held.into_keys().map(|seq| (seq, answer(&seq))).collect())
}

/// Recipients, the far ends' ids and what was said: one statement each, and none for what there is nothing of.
async fn what_hangs_on<'a>(
    tx: &Tx<'_>,
    now: &Option<At>,
    kept: impl Iterator<Item = &'a &'a AttemptRecord>,
    held: &HashMap<i64, i32>,
) -> Result<(), Failed> {
    let mut recipients = Recipients::default();
    let (mut messages, mut said) = (Messages::default(), Transcripts::default());
    for record in kept {
        let seq = record.lease.seq;
        recipients.add(seq, held[&seq.0], record.provider(), &record.recipients);
        messages.add(record);
        said.add(record);
    }
    if !recipients.is_empty() {
        tx.exec(sql::record_recipient, &recipients.params(now)).await?;
    }
    if !messages.is_empty() {
        tx.exec(sql::record_message, &messages.params(now)).await?;
    }
    if !said.is_empty() {
        tx.exec(sql::record_transcript, &said.params(now)).await?;
    }
    Ok(())
}

/// Rows that come again, at once or at their time, unless a newer one has taken their place.
async fn coming_again(db: &Db, tx: &Tx<'_>, records: &[&AttemptRecord]) -> Result<Vec<Row>, Failed> {
    let now = db.now();
    let mut again = vec![];
    let retries = Retries::of(records);
    if !retries.is_empty() {
        let params = retries.params(&now, &db.node);
        again.extend(tx.rows(sql::record_retry, &params).await?);
    }
    let waits = Waits::of(records);
    if !waits.is_empty() {
        again.extend(tx.rows(sql::record_wait, &waits.params()).await?);
    }
    let postponed = Postponed::of(records);
    if !postponed.is_empty() {
        again.extend(tx.rows(sql::record_postpone, &postponed.params(&now)).await?);
    }
    Ok(again)
}

/// What is known about recipients while their row is being sent. Answers whether its lease is still held.
pub(super) async fn note(
    db: &Db,
    lease: Lease,
    provider: &str,
    updates: &[RecipientUpdate],
) -> Result<bool, Failed> {
    let mut session = db.session(Use::Record).await?;
    let tx = session.begin().await?;
    let Some(row) = tx
        .opt(sql::recipients_noted, &[&lease.seq.0, &lease.token.0])
        .await?
    else {
        return Ok(false);
    };
    let mut noted = Recipients::default();
    noted.add(lease.seq, row.get(0), Some(provider), updates);
    if !noted.is_empty() {
        tx.exec(sql::record_recipient, &noted.params(&db.now())).await?;
    }
    tx.commit().await?;
    Ok(true)
}

/// The last resort for a record that the database does not take: what became of the message, without the words.
fn without_details(record: &AttemptRecord, reason: &str) -> AttemptRecord {
    tracing::error!(notification.id = %record.id, reason, "an outcome is written without its details: they were refused");
    let refused = || format!("the details were refused by the database: {reason}");
    let mut bare = record.clone();
    match &mut bare.ended {
        Ended::Delivered { provider_message_id } => *provider_message_id = None,
        Ended::Retry { cause, .. }
        | Ended::Postpone { cause, .. }
        | Ended::Wait { cause }
        | Ended::Park { cause }
        | Ended::Discard { cause } => {
            (cause.error, cause.provider_code) = (refused(), None);
        }
    }
    bare.resolved_targets.clear();
    bare.messages.clear();
    if let Some(attempt) = &mut bare.attempt {
        (attempt.detail, attempt.provider_code) = (Some(refused()), None);
        attempt.transcript = None;
    }
    bare.recipients = record
        .accepted()
        .map(|r| RecipientUpdate {
            address: without_nul(&r.address).into_owned(),
            state: r.state,
            provider_message_id: None,
            cause: None,
            tried: r.tried,
            wait: None,
        })
        .collect();
    bare
}
