//! Lanes held, resumed, paused and owned: what nodes tell each other through the store.

use super::sql;
use crate::{
    outbox::{HoldLane, expired_in_words, switched_off},
    postgres::{
        audit::{self, Entry},
        failed::Failed,
        rows,
        server::Use,
        session::{Db, Params, Session, Tx},
        types::millis,
    },
};
use domain::{Actor, AuditKind, HoldReason, LaneId, NotificationId, TenantId, settle::EXPIRED};
use std::time::Duration;

struct Lane {
    tenant: TenantId,
    provider: String,
    config_version: i64,
    held: Option<HoldReason>,
    probing: bool,
}

/// The lane, locked until the transaction ends.
async fn lane(tx: &Tx<'_>, lane: LaneId) -> Result<Option<Lane>, Failed> {
    let Some(row) = tx.opt(sql::lane, &[&lane.0]).await? else {
        return Ok(None);
    };
    let reason: Option<&str> = row.get("hold_reason");
    Ok(Some(Lane {
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
    let Some(lane) = lane(&tx, ask.lane).await? else {
        return Ok(false);
    };
    if ask
        .config_version
        .is_some_and(|version| version != lane.config_version)
    {
        return Ok(false);
    }
    let reason = ask.reason.as_str();
    let by_operator = ask.reason == HoldReason::Operator;
    let statement = match lane.held {
        None => sql::hold_set,
        Some(HoldReason::Disabled) if by_operator => return Err(switched_off(&lane.provider).into()),
        // A person's hold is not ended by a probe, so it replaces one that would be.
        Some(held) if by_operator && held != HoldReason::Operator => sql::hold_set,
        // The probe of this hold has come back with nothing better.
        Some(held) if lane.probing && held.is_probed() && ask.reason.is_probed() => sql::hold_probe_failed,
        Some(held) => return Ok(held == ask.reason),
    };
    let next_probe = ask.probe_after.map(millis);
    tx.exec(
        statement,
        &[&db.now(), &ask.lane.0, &reason, &ask.detail, &next_probe],
    )
    .await?;
    if statement == sql::hold_set {
        let entry = Entry {
            target: Some(&lane.provider),
            code: Some(reason.into()),
            detail: ask.detail.as_deref().map(Into::into),
            ..Entry::new(lane.tenant, AuditKind::LaneHeld, &ask.actor)
        };
        audit::insert(db, &tx, [entry]).await?;
    }
    tx.commit().await?;
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
    let Some(lane) = lane(&tx, of).await? else {
        return Ok(false);
    };
    let Some(held) = lane.held.filter(|held| only.is_none_or(|reason| reason == *held)) else {
        return Ok(false);
    };
    if held == HoldReason::Disabled {
        return Err(switched_off(&lane.provider).into());
    }
    tx.exec(sql::hold_end, &[&of.0]).await?;
    let entry = Entry {
        target: Some(&lane.provider),
        code: Some(held.as_str().into()),
        ..Entry::new(lane.tenant, AuditKind::LaneResumed, actor)
    };
    audit::insert(db, &tx, [entry]).await?;
    tx.commit().await?;
    Ok(true)
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

pub(super) async fn own(db: &Db, lane: LaneId, node: &str, ttl: Duration) -> Result<bool, Failed> {
    let session = db.general().await?;
    let taken = session
        .exec(sql::own_lane, &[&db.now(), &lane.0, &node, &millis(ttl)])
        .await?;
    Ok(taken > 0)
}
