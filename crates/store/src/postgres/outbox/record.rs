//! Writing down what attempts came to: each row's next state, its recipients and its audit rows, together.
//!
//! Always true: a write that follows a claim names its token, and who lost it changes nothing here but goes on in
//! [`super::late`]; one bad record never fails its neighbours; the same attempt sent twice changes nothing the
//! second time, so a broken connection is answered by sending again.

use super::{
    late,
    record_columns::{Deliveries, Ends, Messages, Recipients, Retries, Waits},
    sql,
};
use crate::{
    Error, Result,
    audit::entry::of_attempt,
    outbox::{AttemptRecord, Ended, Recorded},
    postgres::{
        audit::{self, without_nul},
        commit_retry::CommitRetry,
        failed::Failed,
        server::Use,
        session::{Db, Session},
    },
};
use domain::settle::RecipientUpdate;
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
                    if held.contains(&batch[i].lease.seq.0) {
                        answers[i] = Some(Recorded::Done);
                    } else {
                        slow.push(i);
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
                answers[part[0]] = Some(match commit(db, &[&bare]).await?.is_empty() {
                    false => Recorded::Done,
                    true => late::record(db, &bare).await?,
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
async fn commit(db: &Db, records: &[&AttemptRecord]) -> Result<HashSet<i64>, Failed> {
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

async fn together(db: &Db, records: &[&AttemptRecord], audited: bool) -> Result<HashSet<i64>, Stopped> {
    let now = db.now();
    let mut session = db.session(Use::Record).await?;
    let deliveries = Deliveries::of(records);
    let bare = |record: &&AttemptRecord| record.recipients.is_empty() && record.messages.is_empty();
    if deliveries.len() == records.len() && records.iter().all(bare) {
        // Nearly always. One statement is a transaction of its own.
        let params = deliveries.params(&now, &db.node);
        let rows = session.rows(sql::record_delivered, &params).await?;
        return Ok(rows.iter().map(|row| row.get(0)).collect());
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
    let retries = Retries::of(records);
    if !retries.is_empty() {
        let params = retries.params(&now, &db.node);
        keep(tx.rows(sql::record_retry, &params).await?);
    }
    let waits = Waits::of(records);
    if !waits.is_empty() {
        keep(tx.rows(sql::record_wait, &waits.params()).await?);
    }
    let kept = || records.iter().filter(|r| held.contains_key(&r.lease.seq.0));
    let mut recipients = Recipients::default();
    for record in kept() {
        recipients.add(record.lease.seq, held[&record.lease.seq.0], &record.recipients);
    }
    if !recipients.is_empty() {
        tx.exec(sql::record_recipient, &recipients.params(&now)).await?;
    }
    let mut messages = Messages::default();
    kept().for_each(|record| messages.add(record));
    if !messages.is_empty() {
        tx.exec(sql::record_message, &messages.params(&now)).await?;
    }
    if audited {
        let entries = kept()
            .filter(|r| r.delivery().is_none())
            .flat_map(|r| of_attempt(r, r.ended.status()));
        audit::insert(db, &tx, entries).await.map_err(Stopped::AtAudit)?;
    }
    tx.commit().await?;
    if !waits.is_empty() {
        db.claim_starts.came_back();
    }
    Ok(held.into_keys().collect())
}

/// The last resort for a record that the database does not take: what became of the message, without the words.
fn without_details(record: &AttemptRecord, reason: &str) -> AttemptRecord {
    tracing::error!(notification.id = %record.id, reason, "an outcome is written without its details: they were refused");
    let refused = || format!("the details were refused by the database: {reason}");
    let mut bare = record.clone();
    match &mut bare.ended {
        Ended::Delivered { provider_message_id } => *provider_message_id = None,
        Ended::Retry { cause, .. }
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
    }
    bare.recipients = record
        .accepted()
        .map(|r| RecipientUpdate {
            address: without_nul(&r.address).into_owned(),
            state: r.state,
            provider_message_id: None,
            cause: None,
        })
        .collect();
    bare
}
