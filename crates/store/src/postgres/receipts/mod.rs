//! The [`Receipts`] trait on PostgreSQL. What nearly all receipts are is one statement for all of them; each of the others is
//! a transaction of its own ([`apply`]), so that two never wait for each other's rows crosswise.

mod apply;
mod keep;
mod sql;

pub(super) use keep::Inbox;

use crate::{
    Receipts, Result,
    postgres::{
        PgStore,
        failed::Failed,
        rows,
        session::{Db, Session},
        types::{count, millis, small},
    },
    receipts::{
        Done, DoneAs, Kept, Proof, ReceiptRules, ReceiptsFrom, ReceiptsWaiting, Unproven, WorkedOn,
        cannot_be_worked_on,
    },
};
use async_trait::async_trait;
use domain::{Correlation, LaneId, NotificationId, Receipt, Status, TenantId};
use std::collections::HashSet;
use tokio_postgres::Row;
use uuid::Uuid;

#[async_trait]
impl Receipts for PgStore {
    async fn keep_receipts(&self, from: ReceiptsFrom, receipts: Vec<Receipt>) -> Result<()> {
        self.inbox.keep(from, receipts).await
    }

    async fn receipts_waiting(&self, bound: u32) -> Result<ReceiptsWaiting> {
        let session = self.db.general().await?;
        let row = session.one(sql::receipts_waiting, &[&i64::from(bound)]).await?;
        Ok(ReceiptsWaiting {
            fresh: count(row.get("fresh")),
            later: count(row.get("later")),
        })
    }

    async fn lanes_with_orphans(&self, at_least: u32) -> Result<HashSet<LaneId>> {
        let session = self.db.general().await?;
        let lanes = session
            .rows(sql::receipts_orphaned, &[&i64::from(at_least)])
            .await?;
        Ok(lanes.iter().map(|row| LaneId(row.get("lane"))).collect())
    }

    async fn unproven_receipts(&self, limit: u32) -> Result<Vec<Unproven>> {
        let mut unproven = vec![];
        for (id, kept) in due(&self.db, limit, true).await? {
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
        prove(&self.db, id, proof).await.map_err(Failed::while_committing)
    }

    async fn work_on_receipts(&self, limit: u32, rules: &ReceiptRules) -> Result<WorkedOn> {
        let done = raise(&self.db, limit).await.map_err(Failed::while_committing)?;
        let raised = u32::try_from(done.len()).unwrap_or(u32::MAX);
        let mut worked = WorkedOn {
            looked_at: raised,
            done,
            failed: None,
        };
        let due = match due(&self.db, limit.saturating_sub(raised), false).await {
            Ok(due) => due,
            Err(failed) => {
                worked.failed = Some(failed);
                return Ok(worked);
            }
        };
        for (id, kept) in due {
            worked.looked_at += 1;
            match work_on(&self.db, id, kept, rules).await {
                Ok(done) => worked.done.extend(done),
                Err(failed) => {
                    worked.failed = Some(failed);
                    break;
                }
            }
        }
        Ok(worked)
    }
}

/// One that cannot be worked on waits, and does not keep those behind it waiting too.
async fn work_on(db: &Db, id: i64, kept: Result<Kept>, rules: &ReceiptRules) -> Result<Option<Done>> {
    let done = match kept {
        Ok(kept) => apply::one(db, &kept, rules).await,
        Err(unreadable) => Err(unreadable),
    };
    match done {
        Err(error) if !error.may_pass() => {
            cannot_be_worked_on(id, &error);
            let later = prove(db, id, Proof::Later).await;
            later.map_err(Failed::while_committing)?;
            Ok(None)
        }
        done => done,
    }
}

async fn prove(db: &Db, id: i64, proof: Proof) -> Result<(), Failed> {
    let session = db.general().await?;
    match proof {
        Proof::Proven(state) => {
            session.exec(sql::receipt_proven, &[&id, &state.as_str()]).await?;
        }
        Proof::Unknown => done(&session, id).await?,
        Proof::Later => {
            let Some(row) = session.opt(sql::receipt_tries, &[&db.now(), &id]).await? else {
                return Ok(());
            };
            match Kept::is_over(rows::time(&row, "at"), rows::time(&row, "now")) {
                true => done(&session, id).await?,
                false => later(db, &session, id, small(row.get("tries"))).await?,
            }
        }
    }
    Ok(())
}

async fn done(session: &impl Session, id: i64) -> Result<(), Failed> {
    session.exec(sql::receipt_done, &[&id]).await?;
    Ok(())
}

/// Looks at it again after a while.
async fn later(db: &Db, session: &impl Session, id: i64, tries: u32) -> Result<(), Failed> {
    let wait = millis(Kept::wait_after(tries));
    session.exec(sql::receipt_later, &[&db.now(), &id, &wait]).await?;
    Ok(())
}

/// The ones that say no more than that things went better than known.
async fn raise(db: &Db, limit: u32) -> Result<Vec<Done>, Failed> {
    let session = db.general().await?;
    let raised = session
        .rows(sql::receipts_raised, &[&db.now(), &i64::from(limit)])
        .await?;
    let done = |row: &Row| Done {
        tenant: TenantId(row.get("tenant")),
        lane: LaneId(row.get("lane")),
        notification: row.get::<_, Option<Uuid>>("notification").map(NotificationId),
        what: DoneAs::Applied,
        status: Some(Status::Delivered),
        code: None,
        hold: None,
    };
    Ok(raised.iter().map(done).collect())
}

/// Each by its number, for one that cannot be read is still to be put off.
async fn due(db: &Db, limit: u32, unproven: bool) -> Result<Vec<(i64, Result<Kept>)>> {
    let session = db.general().await?;
    let due = session
        .rows(sql::receipts_due, &[&db.now(), &i64::from(limit), &unproven])
        .await?;
    Ok(due.iter().map(|row| (row.get("receipt_id"), kept(row))).collect())
}

fn kept(row: &Row) -> Result<Kept> {
    const TABLE: &str = "receipt_inbox";
    let correlation = row
        .get::<_, Option<Uuid>>("notification")
        .zip(row.get::<_, Option<i32>>("generation"));
    let hold: Option<&str> = row.get("hold");
    Ok(Kept {
        id: row.get("receipt_id"),
        tenant: TenantId(row.get("tenant")),
        lane: LaneId(row.get("lane")),
        at: rows::time(row, "at"),
        tries: small(row.get("tries")),
        receipt: Receipt {
            correlation: correlation.map(|(id, generation)| Correlation {
                id: NotificationId(id),
                generation,
                recipient: row.get("address"),
            }),
            provider_message_id: row.get("message_id"),
            recipient: row.get("number"),
            state: rows::parsed(TABLE, row.get("state"))?,
            code: row.get("code"),
            provider_code: row.get("provider_code"),
            detail: row.get("detail"),
            hold: hold.map(|text| rows::parsed(TABLE, text)).transpose()?,
            unproven: row.get("unproven"),
        },
    })
}
