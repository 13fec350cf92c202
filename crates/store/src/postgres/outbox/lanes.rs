//! Lanes held, resumed, paused and owned: what nodes tell each other through the store.

use super::sql;
use crate::{
    holds::{FoundLane, Holding},
    outbox::{HoldLane, MAX_TRIED_ROWS, Owned, expired_in_words},
    postgres::{
        audit,
        failed::Failed,
        rows,
        server::Use,
        session::{Db, Params, Session, Tx},
        types::millis,
    },
};
use domain::{Actor, HoldReason, LaneId, NotificationId, TenantId, code::EXPIRED};
use std::time::Duration;
use tokio_postgres::types::ToSql;

/// The lane, locked until the transaction ends.
async fn find(tx: &Tx<'_>, lane: LaneId) -> Result<Option<FoundLane>, Failed> {
    let Some(row) = tx.opt(sql::lane, &[&lane.0]).await? else {
        return Ok(None);
    };
    let reason: Option<&str> = row.get("hold_reason");
    Ok(Some(FoundLane {
        tenant: TenantId(row.get("tenant")),
        provider: row.get("provider"),
        config_version: row.get("config_version"),
        held: reason.map(|text| rows::parsed("lanes", text)).transpose()?,
        probing: row.get("probing"),
    }))
}

pub(super) async fn hold(db: &Db, ask: &HoldLane) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let held = hold_in(db, &tx, ask).await?;
    tx.commit().await?;
    Ok(held)
}

/// The same as a part of somebody's transaction.
pub(in crate::postgres) async fn hold_in(db: &Db, tx: &Tx<'_>, ask: &HoldLane) -> Result<bool, Failed> {
    let Some(lane) = find(tx, ask.lane).await? else {
        return Ok(false);
    };
    let (now, reason, by) = (db.now(), ask.reason.as_str(), ask.held_by());
    let asked = ask.probe_asked();
    let next_probe = ask.probe_after.map(millis);
    let mut params: Vec<&(dyn ToSql + Sync)> =
        vec![&now, &ask.lane.0, &reason, &ask.detail, &next_probe, &ask.code];
    match lane.hold(ask)? {
        Holding::Stays(as_asked) => return Ok(as_asked),
        Holding::Set => {
            params.push(&by);
            tx.exec(sql::hold_set, &params).await?;
            audit::insert(db, tx, [lane.held_entry(ask)]).await?;
        }
        Holding::ProbeFailed => {
            params.push(&asked);
            tx.exec(sql::hold_probe_failed, &params).await?;
        }
    }
    Ok(true)
}

pub(super) async fn resume(
    db: &Db,
    of: LaneId,
    only: Option<HoldReason>,
    actor: &Actor,
) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let Some(lane) = find(&tx, of).await? else {
        return Ok(false);
    };
    let Some(held) = lane.resume(only)? else {
        return Ok(false);
    };
    tx.exec(sql::hold_end, &[&of.0]).await?;
    audit::insert(db, &tx, [lane.resumed_entry(held, actor)]).await?;
    tx.commit().await?;
    Ok(true)
}

pub(super) async fn try_now(db: &Db, of: LaneId, actor: &Actor) -> Result<Option<u64>, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let Some(lane) = find(&tx, of).await? else {
        return Ok(None);
    };
    lane.check_tried()?;
    tx.exec(sql::lane_try, &[&db.now(), &of.0]).await?;
    let most = i64::from(MAX_TRIED_ROWS);
    let moved = tx.exec(sql::lane_try_rows, &[&db.now(), &of.0, &most]).await?;
    audit::insert(db, &tx, [lane.tried_entry(actor)]).await?;
    tx.commit().await?;
    Ok(Some(moved))
}

/// Parks what waits past its time, whatever it waits for.
pub(super) async fn park_expired(db: &Db, limit: u32) -> Result<Vec<(TenantId, NotificationId)>, Failed> {
    let session = db.session(Use::Record).await?;
    let (plain, interrupted) = (expired_in_words(false), expired_in_words(true));
    let params: Params<'_> = &[
        &db.now(),
        &db.node,
        &i64::from(limit),
        &EXPIRED,
        &plain,
        &interrupted,
    ];
    let parked = session.rows(sql::park_expired, params).await?;
    let found = parked
        .iter()
        .map(|row| (TenantId(row.get("tenant")), NotificationId(row.get("id"))));
    Ok(found.collect())
}

pub(super) async fn pause(db: &Db, lane: LaneId, wait: Duration) -> Result<(), Failed> {
    let session = db.general().await?;
    session
        .exec(sql::pause_lane, &[&db.now(), &lane.0, &millis(wait)])
        .await?;
    Ok(())
}

pub(super) async fn own(db: &Db, lane: LaneId, node: &str, ttl: Duration) -> Result<Owned, Failed> {
    let session = db.general().await?;
    let taken = session
        .rows(sql::own_lane, &[&db.now(), &lane.0, &node, &millis(ttl)])
        .await?;
    Ok(match taken.first() {
        Some(row) => Owned::after(row.get(0), node),
        None => Owned::ByAnother,
    })
}
