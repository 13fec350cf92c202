//! One receipt: which notification it is about, and everything that follows from it, in one transaction.

use super::{later, sql};
use crate::{
    Error, Result,
    audit::Entry,
    postgres::{
        audit::{self, without_nul},
        commit_retry::CommitRetry,
        failed::Failed,
        outbox::{self, record_columns::resolved},
        rows,
        session::{Db, Session, Tx},
        suppressions,
        types::At,
    },
    receipts::{
        Done, DoneAs, Found, Kept, OptOutFacts, Plan, ReceiptRules, RowPlan, SenderLane, SentMessage, Then,
        ToldHold, plan,
    },
};
use domain::{LaneId, NotificationId, ProviderId, RecipientResult, Seq, TenantId, Timestamp, receipt::Place};
use std::borrow::Cow;

/// None: it stays for later, or somebody else works on it.
pub(super) async fn one(db: &Db, kept: &Kept, rules: &ReceiptRules) -> Result<Option<Done>> {
    let mut retry = CommitRetry::new("receipt");
    loop {
        match alone(db, kept, rules).await {
            Ok(done) => return Ok(done),
            Err(failed) => retry.after(failed).await?,
        }
    }
}

async fn alone(db: &Db, kept: &Kept, rules: &ReceiptRules) -> Result<Option<Done>, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    if tx.opt(sql::receipt_taken, &[&kept.id]).await?.is_none() {
        return Ok(None);
    }
    let now = tx.one(sql::receipt_tries, &[&db.now(), &kept.id]).await?;
    let now = rows::time(&now, "now");
    let done = worked_on(db, &tx, kept, rules, now).await?;
    match &done {
        Some(_) => super::done(&tx, kept.id).await?,
        None => later(db, &tx, kept.id, kept.tries).await?,
    }
    tx.commit().await?;
    Ok(done)
}

async fn worked_on(
    db: &Db,
    tx: &Tx<'_>,
    kept: &Kept,
    rules: &ReceiptRules,
    now: Timestamp,
) -> Result<Option<Done>, Failed> {
    let sent = match message(tx, kept).await? {
        Ok(sent) => sent,
        Err(DoneAs::Orphaned) if kept.may_wait_for_its_message(rules, now) => return Ok(None),
        Err(what) => return Ok(Some(kept.done(what))),
    };
    let Some(found) = found(db, tx, sent.seq).await? else {
        return Ok(Some(kept.done(DoneAs::Purged)));
    };
    let plan = plan(&found, &sent, &kept.receipt, now);
    carry_out(db, tx, &found, &plan, kept).await?;
    Ok(match plan.then {
        Then::Later if !kept.is_too_old(now) => None,
        Then::Later => Some(kept.done(DoneAs::Orphaned)),
        Then::Done(what) => {
            let hold = hold(tx, kept, &found, &sent, what).await?;
            if let Some(hold) = &hold {
                outbox::lanes::hold_in(db, tx, &hold.asked()).await?;
            }
            if kept.may_opt_out(rules, what) {
                opt_out(db, tx, kept, rules, &found, &sent).await?;
            }
            Some(kept.done_with(&found, &plan, what, hold))
        }
    })
}

/// The hold that follows for the lane that sent it.
async fn hold(
    tx: &Tx<'_>,
    kept: &Kept,
    found: &Found,
    sent: &SentMessage,
    what: DoneAs,
) -> Result<Option<ToldHold>, Failed> {
    let Some(sender) = kept.may_hold(found, sent, what) else {
        return Ok(None);
    };
    let lane = tx
        .opt(sql::receipt_lane, &[&found.lane.0, &sender.provider])
        .await?;
    Ok(lane.and_then(|row| {
        let lane = SenderLane {
            lane: LaneId(row.get("lane_id")),
            config_version: row.get("config_version"),
            configured_at: rows::time_opt(&row, "configured_at"),
        };
        kept.hold(sender, lane)
    }))
}

/// Puts a recipient who wants no more on the list.
async fn opt_out(
    db: &Db,
    tx: &Tx<'_>,
    kept: &Kept,
    rules: &ReceiptRules,
    found: &Found,
    sent: &SentMessage,
) -> Result<(), Failed> {
    let Some(row) = tx
        .opt(sql::receipt_opt_out, &[&kept.lane.0, &found.seq.0])
        .await?
    else {
        return Ok(());
    };
    let facts = OptOutFacts {
        kind: row.get("kind"),
        event: rows::extra(&row)?.event.map(Cow::into_owned),
        created_at: rows::time(&row, "created_at"),
    };
    match kept.opt_out(rules, found, sent, &facts) {
        Some(told) => suppressions::as_told(db, tx, found.tenant, &told.entry, told.sent_at).await?,
        None => false,
    };
    Ok(())
}

/// The message of ours that it is about, by what we gave the far end to repeat, or else by its own id.
async fn message(tx: &Tx<'_>, kept: &Kept) -> Result<Result<SentMessage, DoneAs>, Failed> {
    if let Some(about) = &kept.receipt.correlation {
        let known = tx
            .opt(sql::receipt_notification, &[&kept.tenant.0, &about.id.0])
            .await?;
        let known = known.map(|row| SentMessage::of(Seq(row.get(0)), about));
        return Ok(known.ok_or(DoneAs::Purged));
    }
    let Some(id) = &kept.receipt.provider_message_id else {
        return Ok(Err(DoneAs::Purged));
    };
    let sent = tx.rows(sql::receipt_message, &[&kept.lane.0, id]).await?;
    let sent = sent.iter().map(|row| SentMessage {
        seq: Seq(row.get("seq")),
        generation: row.get("generation"),
        address: row.get("address"),
    });
    Ok(kept.fitting(sent.collect()).ok_or(DoneAs::Orphaned))
}

/// The notification, whose row nobody else changes until the transaction ends.
async fn found(db: &Db, tx: &Tx<'_>, seq: Seq) -> Result<Option<Found>, Failed> {
    // Twice: a row may go from one table to the other, or back, while we look.
    for _ in 0..2 {
        for lock in [sql::receipt_waiting, sql::receipt_ended] {
            if tx.opt(lock, &[&seq.0]).await?.is_some() {
                return read(db, tx, seq).await;
            }
        }
    }
    Ok(None)
}

async fn read(db: &Db, tx: &Tx<'_>, seq: Seq) -> Result<Option<Found>, Failed> {
    let Some(row) = tx.opt(sql::receipt_found, &[&db.now(), &seq.0]).await? else {
        return Ok(None);
    };
    let status = rows::status(row.get("status"))?;
    let place = match (row.get("waits"), status) {
        (true, _) => Place::Waiting {
            leased: row.get::<_, Option<bool>>("leased").unwrap_or(false),
        },
        (false, Some(status)) => Place::Ended(status),
        (false, None) => {
            return Err(Error::corrupt("notifications", "a row in neither due nor outcome").into());
        }
    };
    let receipt: Option<&str> = row.get("receipt");
    let list: Option<&str> = row.get("list_name");
    let named = rows::json_text(&row, "notifications", "recipients", "recipients")?;
    let recipients = tx
        .rows(crate::postgres::query::sql::recipients_of, &[&seq.0])
        .await?;
    Ok(Some(Found {
        seq,
        id: NotificationId(row.get("id")),
        tenant: TenantId(row.get("tenant")),
        site: row.get("site"),
        lane: LaneId(row.get("lane")),
        provider: row.get::<_, Option<&str>>("provider").map(ProviderId::new),
        last_attempt_at: rows::time_opt(&row, "last_attempt_at"),
        place,
        generation: row.get("generation"),
        overall: receipt.map(|text| rows::parsed("outcome", text)).transpose()?,
        recipients: recipients.iter().map(rows::recipient).collect::<Result<_>>()?,
        channel: rows::channel(&row)?,
        named: named.filter(|_: &Vec<String>| list.is_none()),
        listed: rows::json_text(&row, "lists", "recipients", "members")?,
    }))
}

async fn carry_out(db: &Db, tx: &Tx<'_>, found: &Found, plan: &Plan, kept: &Kept) -> Result<(), Failed> {
    let (now, seq) = (db.now(), found.seq.0);
    if let Some(result) = &plan.recipient {
        recipient(tx, seq, result).await?;
    }
    match &plan.row {
        RowPlan::Stays => {}
        RowPlan::Shows(state) => {
            tx.exec(sql::receipt_shown, &[&now, &seq, &state.as_str()])
                .await?;
        }
        RowPlan::Park { cause, still_with } => {
            tx.exec(sql::receipt_attempt_logged, &[&seq]).await?;
            let still_with = resolved(still_with);
            tx.exec(
                sql::receipt_parked,
                &[
                    &now,
                    &db.node,
                    &seq,
                    &cause.code,
                    &without_nul(&cause.error),
                    &still_with,
                    &cause.provider_code,
                ],
            )
            .await?;
        }
        RowPlan::Deliver { with, shows } => {
            // The same as for a late success of an attempt.
            let statement = match found.place {
                Place::Waiting { .. } => outbox::sql::late_ended,
                Place::Ended(_) => outbox::sql::late_delivered,
            };
            let (with, id) = (resolved(with), &kept.receipt.provider_message_id);
            tx.exec(statement, &[&now, &db.node, &seq, &with, id]).await?;
            tx.exec(sql::receipt_shown, &[&now, &seq, &shows.as_str()])
                .await?;
        }
    }
    if let Some(told) = &plan.log {
        audit::insert(db, tx, [Entry::of_receipt(found, told)]).await?;
    }
    Ok(())
}

async fn recipient(tx: &Tx<'_>, seq: i64, result: &RecipientResult) -> Result<(), Failed> {
    tx.exec(
        sql::receipt_recipient,
        &[
            &seq,
            &without_nul(&result.address),
            &result.state.as_str(),
            &result.generation,
            &result.provider_message_id,
            &result.code,
            &result.error.as_deref().map(without_nul),
            &At(result.at),
            &result.receipt.map(|receipt| receipt.as_str()),
            &result.provider_code,
        ],
    )
    .await?;
    Ok(())
}
