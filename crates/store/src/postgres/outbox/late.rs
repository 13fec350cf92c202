//! What becomes of a result whose lease was lost: it never overwrites, and nothing it learned is thrown away.

use super::{
    recipient_columns::Recipients,
    record::{Stopped, can_do_without_audit},
    record_columns::{Messages, Transcripts, resolved},
    sql,
};
use crate::{
    Error, Result,
    audit::entry::of_attempt,
    outbox::{AttemptRecord, Ended, Recorded},
    postgres::{
        audit,
        commit_retry::CommitRetry,
        failed::Failed,
        rows,
        server::Use,
        session::{Db, Session, Tx},
    },
};
use domain::Status;

pub(super) async fn record(db: &Db, record: &AttemptRecord) -> Result<Recorded> {
    let mut retry = CommitRetry::new("record");
    let mut audited = true;
    loop {
        match alone(db, record, audited).await {
            Ok(recorded) => return Ok(recorded),
            Err(Stopped::AtAudit(failed)) if can_do_without_audit(&failed, 1) => {
                metrics::counter!("waypost_audit_write_failures_total").increment(1);
                tracing::error!(
                    notification.id = %record.id,
                    error = &Error::from(failed) as &dyn std::error::Error,
                    "the audit row of an attempt could not be written; its outcome is written without"
                );
                audited = false;
            }
            Err(Stopped::AtAudit(failed) | Stopped::AtOutcome(failed)) => retry.after(failed).await?,
        }
    }
}

/// Where the row is, locked until the transaction ends.
enum Place {
    Waiting { generation: i32 },
    Ended { generation: i32, status: Status },
    Purged,
}

async fn alone(db: &Db, record: &AttemptRecord, audited: bool) -> Result<Recorded, Stopped> {
    let mut session = db.session(Use::Record).await?;
    let tx = session.begin().await?;
    // Looked up before anything else is: whoever holds the row now commits first, and is seen from here on.
    let place = place(&tx, record).await?;
    let lease = record.lease;
    if audited {
        let known = tx.one(sql::record_known, &[&lease.seq.0, &lease.token.0]).await;
        if known.map_err(Stopped::AtAudit)?.get(0) {
            tx.rollback().await?;
            return Ok(Recorded::AlreadyRecorded);
        }
    }
    let generation = match place {
        Place::Waiting { generation } | Place::Ended { generation, .. } => generation,
        // There is nothing left to add to.
        Place::Purged => return Ok(Recorded::LostLease { completed: false }),
    };
    let now = db.now();
    let mut accepted = Recipients::default();
    accepted.add(lease.seq, generation, record.provider(), record.accepted());
    if !accepted.is_empty() {
        tx.exec(sql::record_recipient, &accepted.params(&now)).await?;
    }
    let mut messages = Messages::default();
    messages.add(record);
    if !messages.is_empty() {
        tx.exec(sql::record_message, &messages.params(&now)).await?;
    }
    let mut said = Transcripts::default();
    said.add(record);
    if !said.is_empty() {
        tx.exec(sql::record_transcript, &said.params(&now)).await?;
    }
    let completed = complete(db, &tx, record, &place).await?;
    if audited {
        let entries = of_attempt(record, completed.then_some(Status::Delivered));
        audit::insert(db, &tx, entries).await.map_err(Stopped::AtAudit)?;
    }
    tx.commit().await?;
    Ok(Recorded::LostLease { completed })
}

async fn place(tx: &Tx<'_>, record: &AttemptRecord) -> Result<Place, Failed> {
    let row = (&record.lease.seq.0, &record.tenant.0, &record.id.0);
    // Twice: a row may go from one table to the other, or back, while we look.
    for _ in 0..2 {
        if let Some(found) = tx.opt(sql::late_waiting, &[row.0, row.1, row.2]).await? {
            return Ok(Place::Waiting {
                generation: found.get(0),
            });
        }
        if let Some(found) = tx.opt(sql::late_place, &[row.0, row.1, row.2]).await? {
            return Ok(Place::Ended {
                generation: found.get(0),
                status: rows::parsed("outcome", found.get(1))?,
            });
        }
    }
    Ok(Place::Purged)
}

/// A late success ends a row that waits, and completes one that is parked. Discarded and Delivered stay.
async fn complete(db: &Db, tx: &Tx<'_>, record: &AttemptRecord, place: &Place) -> Result<bool, Failed> {
    let Ended::Delivered { provider_message_id } = &record.ended else {
        return Ok(false);
    };
    let statement = match place {
        Place::Waiting { .. } => sql::late_ended,
        Place::Ended {
            status: Status::Parked,
            ..
        } => sql::late_delivered,
        Place::Ended { .. } | Place::Purged => return Ok(false),
    };
    let message_id = provider_message_id.as_deref().map(audit::without_nul);
    let targets = resolved(&record.resolved_targets);
    tx.exec(
        statement,
        &[&db.now(), &db.node, &record.lease.seq.0, &targets, &message_id],
    )
    .await?;
    Ok(true)
}
