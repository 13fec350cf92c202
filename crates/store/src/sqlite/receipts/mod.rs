//! The [`Receipts`] trait on SQLite. What follows from a receipt is planned beside the trait and carried out in `apply`.

mod apply;
mod sql;

use crate::{
    Receipts, Result,
    receipts::{
        Kept, Proof, ReceiptRules, ReceiptsFrom, ReceiptsWaiting, Unproven, WorkedOn, cannot_be_worked_on,
    },
    sqlite::{
        SqliteStore,
        rows::{self, all},
        writer::WriteSession,
    },
};
use async_trait::async_trait;
use domain::{Correlation, LaneId, NotificationId, Receipt, TenantId, Timestamp};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::collections::HashSet;
use uuid::Uuid;

#[async_trait]
impl Receipts for SqliteStore {
    async fn keep_receipts(&self, from: ReceiptsFrom, receipts: Vec<Receipt>) -> Result<()> {
        self.write(receipts.len(), move |s| {
            receipts.iter().try_for_each(|receipt| keep(s, &from, receipt))
        })
        .await
    }

    async fn receipts_waiting(&self, bound: u32) -> Result<ReceiptsWaiting> {
        self.read(move |conn| {
            let mut statement = conn.prepare_cached(sql::receipts_waiting)?;
            Ok(statement.query_row([bound], |row| {
                Ok(ReceiptsWaiting {
                    fresh: rows::count(row, "fresh")?,
                    later: rows::count(row, "later")?,
                })
            })?)
        })
        .await
    }

    async fn lanes_with_orphans(&self, at_least: u32) -> Result<HashSet<LaneId>> {
        let lanes = self.read(move |conn| {
            all(conn, sql::receipts_orphaned, [at_least], |row| {
                Ok(LaneId(row.get(0)?))
            })
        });
        Ok(lanes.await?.into_iter().collect())
    }

    async fn unproven_receipts(&self, limit: u32) -> Result<Vec<Unproven>> {
        let now = self.clock.now();
        let mut unproven = vec![];
        for (id, kept) in self.read(move |conn| due(conn, now, limit, true)).await? {
            match kept {
                Ok(kept) => unproven.push(kept.into()),
                Err(error) => {
                    cannot_be_worked_on(id, &error);
                    self.prove_receipt(id, Proof::Later).await?;
                }
            }
        }
        Ok(unproven)
    }

    async fn prove_receipt(&self, id: i64, proof: Proof) -> Result<()> {
        self.write(1, move |s| prove(s, id, proof)).await
    }

    async fn work_on_receipts(&self, limit: u32, rules: &ReceiptRules) -> Result<WorkedOn> {
        // A look costs the writer nothing; what is found may have been worked on meanwhile only by ourselves.
        let now = self.clock.now();
        if self.read(move |conn| due(conn, now, 1, false)).await?.is_empty() {
            return Ok(WorkedOn::default());
        }
        let (together, apart) = (rules.clone(), rules.clone());
        let worked = self.write(limit as usize, move |s| work_together(s, limit, &together));
        match worked.await {
            Err(error) if !error.may_pass() => {
                self.write(limit as usize, move |s| work_apart(s, limit, &apart))
                    .await
            }
            worked => worked,
        }
    }
}

fn work_together(s: &mut WriteSession<'_>, limit: u32, rules: &ReceiptRules) -> Result<WorkedOn> {
    let mut worked = WorkedOn::default();
    for (_, kept) in due(s.conn, s.now, limit, false)? {
        worked.looked_at += 1;
        worked.done.extend(apply::one(s, &kept?, rules)?);
    }
    Ok(worked)
}

/// The same where one of them cannot be worked on: it waits, and those behind it do not.
fn work_apart(s: &mut WriteSession<'_>, limit: u32, rules: &ReceiptRules) -> Result<WorkedOn> {
    let mut worked = WorkedOn::default();
    for (id, kept) in due(s.conn, s.now, limit, false)? {
        worked.looked_at += 1;
        let done = kept.and_then(|kept| s.apart(|s| apply::one(s, &kept, rules)));
        match done {
            Ok(done) => worked.done.extend(done),
            Err(error) if error.may_pass() => return Err(error),
            Err(error) => {
                cannot_be_worked_on(id, &error);
                prove(s, id, Proof::Later)?;
            }
        }
    }
    Ok(worked)
}

fn keep(s: &WriteSession<'_>, from: &ReceiptsFrom, receipt: &Receipt) -> Result<()> {
    let about = receipt.correlation.as_ref();
    s.conn.prepare_cached(sql::receipt_keep)?.execute(params![
        from.tenant.0,
        from.lane.0,
        s.now.as_millis(),
        receipt.unproven,
        receipt.state.as_str(),
        about.map(|about| about.id.0.as_bytes().as_slice()),
        about.map(|about| about.generation),
        about.and_then(|about| about.recipient.as_deref()),
        receipt.provider_message_id,
        receipt.recipient,
        receipt.code,
        receipt.provider_code,
        receipt.detail,
        receipt.hold.map(|hold| hold.as_str()),
    ])?;
    Ok(())
}

fn prove(s: &WriteSession<'_>, id: i64, proof: Proof) -> Result<()> {
    match proof {
        Proof::Proven(state) => {
            let mut proven = s.conn.prepare_cached(sql::receipt_proven)?;
            proven.execute(params![id, state.as_str()])?;
        }
        Proof::Unknown => done(s, id)?,
        Proof::Later => {
            let tried = s
                .conn
                .prepare_cached(sql::receipt_tries)?
                .query_row([id], |row| Ok((row.get(0)?, rows::time(row, "at")?)))
                .optional()?;
            match tried {
                Some((tries, at)) if !Kept::is_over(at, s.now) => later(s, id, tries)?,
                Some(_) => done(s, id)?,
                None => {}
            }
        }
    }
    Ok(())
}

fn done(s: &WriteSession<'_>, id: i64) -> Result<()> {
    s.conn.prepare_cached(sql::receipt_done)?.execute([id])?;
    Ok(())
}

/// Looks at it again after a while.
fn later(s: &WriteSession<'_>, id: i64, tries: u32) -> Result<()> {
    let next = s.now + Kept::wait_after(tries);
    let mut later = s.conn.prepare_cached(sql::receipt_later)?;
    later.execute(params![id, next.as_millis()])?;
    Ok(())
}

/// Each by its number, for one that cannot be read is still to be put off.
fn due(conn: &Connection, now: Timestamp, limit: u32, unproven: bool) -> Result<Vec<(i64, Result<Kept>)>> {
    let params = params![now.as_millis(), limit, unproven];
    all(conn, sql::receipts_due, params, |row| {
        Ok((row.get("receipt_id")?, kept(row)))
    })
}

fn kept(row: &Row<'_>) -> Result<Kept> {
    const TABLE: &str = "receipt_inbox";
    let notification: Option<[u8; 16]> = row.get("notification")?;
    let generation: Option<i32> = row.get("generation")?;
    let correlation = notification.zip(generation);
    let hold: Option<String> = row.get("hold")?;
    let recipient: Option<String> = row.get("address")?;
    Ok(Kept {
        id: row.get("receipt_id")?,
        tenant: TenantId(row.get("tenant")?),
        lane: LaneId(row.get("lane")?),
        at: rows::time(row, "at")?,
        tries: row.get("tries")?,
        receipt: Receipt {
            correlation: correlation.map(|(id, generation)| Correlation {
                id: NotificationId(Uuid::from_bytes(id)),
                generation,
                recipient,
            }),
            provider_message_id: row.get("message_id")?,
            recipient: row.get("number")?,
            state: rows::parse(TABLE, &row.get::<_, String>("state")?)?,
            code: row.get("code")?,
            provider_code: row.get("provider_code")?,
            detail: row.get("detail")?,
            hold: hold.map(|text| rows::parse(TABLE, &text)).transpose()?,
            unproven: row.get("unproven")?,
        },
    })
}
