//! One receipt: which notification it is about, and everything that follows from it, in the writer's transaction.

use super::{done, later, sql};
use crate::{
    Error, Result,
    audit::Entry,
    receipts::{
        Done, DoneAs, Found, Kept, LogPlan, OptOutFacts, Plan, ReceiptRules, RowPlan, SenderLane,
        SentMessage, Then, ToldHold, plan,
    },
    sqlite::{
        audit,
        outbox::{
            self,
            record::{self, Left, Outcome},
        },
        query::notification::recipients,
        rows,
        stats::counts::Counted,
        suppressions,
        writer::WriteSession,
    },
};
use domain::{
    LaneId, NotificationId, ProviderId, RecipientResult, Seq, Status, TenantId, Timestamp, receipt::Place,
};
use rusqlite::{OptionalExtension, params};
use std::borrow::Cow;
use uuid::Uuid;

/// None: it stays for later.
pub(super) fn one(s: &mut WriteSession<'_>, kept: &Kept, rules: &ReceiptRules) -> Result<Option<Done>> {
    let sent = match message(s, kept)? {
        Ok(sent) => sent,
        Err(DoneAs::Orphaned) if kept.may_wait_for_its_message(rules, s.now) => {
            later(s, kept.id, kept.tries)?;
            return Ok(None);
        }
        Err(what) => {
            done(s, kept.id)?;
            return Ok(Some(kept.done(what)));
        }
    };
    let Some(found) = found(s, sent.seq)? else {
        done(s, kept.id)?;
        return Ok(Some(kept.done(DoneAs::Purged)));
    };
    let plan = plan(&found, &sent, &kept.receipt, s.now);
    carry_out(s, &found, &plan, kept)?;
    match plan.then {
        Then::Later if !kept.is_too_old(s.now) => {
            later(s, kept.id, kept.tries)?;
            Ok(None)
        }
        Then::Later => {
            done(s, kept.id)?;
            Ok(Some(kept.done(DoneAs::Orphaned)))
        }
        Then::Done(what) => {
            done(s, kept.id)?;
            let hold = hold(s, kept, &found, &sent, what)?;
            if let Some(hold) = &hold {
                outbox::lanes::hold(s, &hold.asked())?;
            }
            if kept.may_opt_out(rules, what) {
                opt_out(s, kept, rules, &found, &sent)?;
            }
            Ok(Some(kept.done_with(&found, &plan, what, hold)))
        }
    }
}

/// The hold that follows for the lane that sent it.
fn hold(
    s: &WriteSession<'_>,
    kept: &Kept,
    found: &Found,
    sent: &SentMessage,
    what: DoneAs,
) -> Result<Option<ToldHold>> {
    let Some(sender) = kept.may_hold(found, sent, what) else {
        return Ok(None);
    };
    let lane = s
        .conn
        .prepare_cached(sql::receipt_lane)?
        .query_row(params![found.lane.0, sender.provider], |row| {
            Ok(SenderLane {
                lane: LaneId(row.get(0)?),
                config_version: row.get(1)?,
                configured_at: row.get::<_, Option<i64>>(2)?.map(Timestamp::from_millis),
            })
        })
        .optional()?;
    Ok(lane.and_then(|lane| kept.hold(sender, lane)))
}

/// Puts a recipient who wants no more on the list.
fn opt_out(
    s: &mut WriteSession<'_>,
    kept: &Kept,
    rules: &ReceiptRules,
    found: &Found,
    sent: &SentMessage,
) -> Result<()> {
    let params = params![kept.lane.0, found.seq.0];
    let facts = rows::all(s.conn, sql::receipt_opt_out, params, |row| {
        let extra: Option<String> = row.get("extra")?;
        Ok(OptOutFacts {
            kind: row.get("kind")?,
            event: rows::extra(extra.as_deref())?.event.map(Cow::into_owned),
            created_at: rows::time(row, "created_at")?,
        })
    })?;
    let told = facts
        .first()
        .and_then(|facts| kept.opt_out(rules, found, sent, facts));
    if let Some(told) = told {
        suppressions::as_told(s, found.tenant, &told.entry, told.sent_at)?;
    }
    Ok(())
}

/// The message of ours that it is about, by what we gave the far end to repeat, or else by its own id.
fn message(s: &WriteSession<'_>, kept: &Kept) -> Result<Result<SentMessage, DoneAs>> {
    if let Some(about) = &kept.receipt.correlation {
        let seq = s
            .conn
            .prepare_cached(sql::receipt_notification)?
            .query_row(params![kept.tenant.0, about.id.0.as_bytes()], |row| row.get(0))
            .optional()?;
        return Ok(seq
            .map(|seq| SentMessage::of(Seq(seq), about))
            .ok_or(DoneAs::Purged));
    }
    let Some(id) = &kept.receipt.provider_message_id else {
        return Ok(Err(DoneAs::Purged));
    };
    let sent = rows::all(s.conn, sql::receipt_message, params![kept.lane.0, id], |row| {
        Ok(SentMessage {
            seq: Seq(row.get(0)?),
            generation: row.get(1)?,
            address: row.get(2)?,
        })
    })?;
    Ok(kept.fitting(sent).ok_or(DoneAs::Orphaned))
}

fn found(s: &WriteSession<'_>, seq: Seq) -> Result<Option<Found>> {
    let mut statement = s.conn.prepare_cached(sql::receipt_found)?;
    let mut hits = statement.query(params![seq.0, s.now.as_millis()])?;
    let Some(row) = hits.next()? else { return Ok(None) };
    let text = |column: &str| row.get::<_, Option<String>>(column);
    let status = text("status")?;
    let place = match (row.get("waits")?, status) {
        (true, _) => Place::Waiting {
            leased: row.get::<_, Option<bool>>("leased")?.unwrap_or(false),
        },
        (false, Some(status)) => Place::Ended(rows::parse("outcome", &status)?),
        (false, None) => {
            return Err(Error::corrupt(
                "notifications",
                "a row in neither due nor outcome",
            ));
        }
    };
    let receipt = text("receipt")?.map(|text| rows::parse("outcome", &text));
    let named = match text("list_name")? {
        Some(_) => None,
        None => text("recipients")?,
    };
    Ok(Some(Found {
        seq,
        id: NotificationId(Uuid::from_bytes(row.get("id")?)),
        tenant: TenantId(row.get("tenant")?),
        site: text("site")?,
        lane: LaneId(row.get("lane")?),
        provider: text("provider")?.map(ProviderId::new),
        last_attempt_at: row
            .get::<_, Option<i64>>("last_attempt_at")?
            .map(Timestamp::from_millis),
        place,
        generation: row.get("generation")?,
        overall: receipt.transpose()?,
        recipients: recipients(s.conn, seq)?,
        channel: rows::parse("notifications", &row.get::<_, String>("channel")?)?,
        named: named
            .map(|json| rows::from_json("notifications", &json))
            .transpose()?,
        listed: text("members")?
            .map(|json| rows::from_json("lists", &json))
            .transpose()?,
    }))
}

fn carry_out(s: &mut WriteSession<'_>, found: &Found, plan: &Plan, kept: &Kept) -> Result<()> {
    if let Some(result) = &plan.recipient {
        recipient(s, found.seq, result)?;
    }
    match &plan.row {
        RowPlan::Stays => {}
        RowPlan::Shows(state) => shown(s, found, state.as_str())?,
        RowPlan::Park { cause, still_with } => {
            let seq = found.seq.0;
            s.conn
                .prepare_cached(sql::receipt_attempt_logged)?
                .execute([seq])?;
            s.conn.prepare_cached(sql::receipt_parked)?.execute(params![
                seq,
                s.now.as_millis(),
                cause.code,
                cause.error,
                record::resolved(still_with),
                cause.provider_code,
            ])?;
            s.counts
                .one(s.now, found.tenant, found.site.as_deref(), Counted::Parked);
        }
        RowPlan::Deliver { with, shows } => {
            deliver(s, found, with, kept.receipt.provider_message_id.as_deref())?;
            shown(s, found, shows.as_str())?;
        }
    }
    plan.log.as_ref().map_or(Ok(()), |told| log(s, found, told))
}

fn recipient(s: &WriteSession<'_>, seq: Seq, result: &RecipientResult) -> Result<()> {
    s.conn.prepare_cached(sql::receipt_recipient)?.execute(params![
        seq.0,
        result.address,
        result.state.as_str(),
        result.generation,
        result.provider_message_id,
        result.code,
        result.provider_code,
        result.error,
        result.at.as_millis(),
        result.receipt.map(|receipt| receipt.as_str()),
    ])?;
    Ok(())
}

fn shown(s: &WriteSession<'_>, found: &Found, state: &str) -> Result<()> {
    let mut shown = s.conn.prepare_cached(sql::receipt_shown)?;
    shown.execute(params![found.seq.0, state, s.now.as_millis()])?;
    Ok(())
}

/// The same as for a late success of an attempt.
fn deliver(
    s: &mut WriteSession<'_>,
    found: &Found,
    with: &[String],
    provider_message_id: Option<&str>,
) -> Result<()> {
    let delivered = Outcome {
        resolved_targets: with,
        provider_message_id,
        ..Outcome::new(Status::Delivered)
    };
    let waiting = s
        .conn
        .prepare_cached(outbox::sql::late_ended)?
        .query_row([found.seq.0], Left::from_row)
        .optional()?;
    if let Some(left) = waiting {
        return record::end(s, &left, left.attempts.max(1), &delivered);
    }
    s.conn.prepare_cached(outbox::sql::late_delivered)?.query_row(
        params![
            found.seq.0,
            s.now.as_millis(),
            record::resolved(with),
            provider_message_id
        ],
        |_| Ok(()),
    )?;
    s.counts
        .one(s.now, found.tenant, found.site.as_deref(), Counted::Delivered);
    Ok(())
}

fn log(s: &WriteSession<'_>, found: &Found, told: &LogPlan) -> Result<()> {
    let entry = Entry::of_receipt(found, told);
    audit::insert(s, &entry)
}
