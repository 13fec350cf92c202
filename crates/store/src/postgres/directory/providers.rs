//! Providers and their lanes. A lane outlives its provider: history points at it, and what slipped in while the
//! provider was being deleted is still claimed there and parked with the reason.

use super::{bump, log, sql, tenants};
use crate::{
    Error, Result,
    audit::difference,
    directory::{NewProvider, Provider},
    postgres::{
        failed::Failed,
        outbox, rows,
        session::{Db, Params, Session, Tx},
    },
    receipts::{CALLBACK_CHANGED, ProviderCallback},
};
use domain::{Actor, AuditKind, Channel, HoldReason, LaneId, ProviderId, TenantId};
use std::collections::BTreeMap;
use tokio_postgres::Row;

pub(super) async fn by_id(
    session: &impl Session,
    tenant: TenantId,
    id: &ProviderId,
) -> Result<Option<Provider>, Failed> {
    let found = session.opt(sql::provider, &[&tenant.0, &id.as_str()]).await?;
    Ok(found.as_ref().map(from_row).transpose()?)
}

pub(super) async fn put(
    db: &Db,
    new: &NewProvider,
    expected_version: Option<i64>,
    actor: &Actor,
) -> Result<Provider, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    tenants::must_be_live(&tx, new.tenant).await?;
    let old = by_id(&tx, new.tenant, &new.id).await?;
    new.may_replace(old.as_ref(), expected_version)?;
    if let Some(old) = &old
        && old.provider.channel != new.channel
        && waits(&tx, old.lane).await?
    {
        return Err(new.rows_wait(old).into());
    }
    let (lane, lane_at) = lane(&tx, new.tenant, new.id.as_str(), new.channel).await?;
    let version = Provider::next_version(old.as_ref(), lane_at);
    write(&tx, new, version, lane).await?;
    let otherwise = new.asks_otherwise(old.as_ref());
    tx.exec(sql::lane_configured, &[&db.now(), &lane.0, &version, &otherwise])
        .await?;
    if !new.enabled {
        let disabled = HoldReason::Disabled.as_str();
        tx.exec(
            outbox::sql::hold_set,
            &[
                &db.now(),
                &lane.0,
                &disabled,
                &None::<String>,
                &None::<f64>,
                &None::<String>,
                &actor.as_str(),
            ],
        )
        .await?;
    }
    let told = difference::of_provider(old.as_ref().map(|old| &old.provider), new);
    log(
        db,
        &tx,
        new.tenant,
        AuditKind::ProviderChanged,
        actor,
        new.id.as_str(),
        &told,
    )
    .await?;
    let stored = by_id(&tx, new.tenant, &new.id).await?;
    tx.commit().await?;
    stored.ok_or_else(|| Error::corrupt("providers", "a row just written is gone").into())
}

async fn write(tx: &Tx<'_>, new: &NewProvider, version: i64, lane: LaneId) -> Result<(), Failed> {
    tx.exec(
        sql::provider_put,
        &[
            &new.tenant.0,
            &new.id.as_str(),
            &new.name,
            &new.kind,
            &new.channel.as_str(),
            &new.enabled,
            &new.order,
            &rows::to_json(&new.settings)?,
            &rows::to_json(&new.secrets)?,
            &rows::to_json(&new.retry)?,
            &rows::to_json(&new.limits)?,
            &new.on_ambiguous.as_str(),
            &version,
            &lane.0,
        ],
    )
    .await?;
    Ok(())
}

pub(super) async fn reseal(
    db: &Db,
    tenant: TenantId,
    id: &ProviderId,
    version: i64,
    settings: &serde_json::Map<String, serde_json::Value>,
    secrets: &BTreeMap<String, String>,
) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    let (settings, secrets) = (rows::to_json(settings)?, rows::to_json(secrets)?);
    let resealed = tx
        .exec(
            sql::provider_reseal,
            &[&tenant.0, &id.as_str(), &version, &settings, &secrets],
        )
        .await?;
    if resealed == 0 {
        return Ok(false);
    }
    tx.commit().await?;
    Ok(true)
}

pub(super) async fn delete(
    db: &Db,
    tenant: TenantId,
    id: &ProviderId,
    actor: &Actor,
) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    let Some(old) = by_id(&tx, tenant, id).await? else {
        return Ok(false);
    };
    if waits(&tx, old.lane).await? {
        return Err(Error::Conflict(format!("notifications wait for provider {id}")).into());
    }
    tx.exec(sql::provider_delete, &[&tenant.0, &id.as_str()]).await?;
    tx.exec(
        sql::lane_configured,
        &[&db.now(), &old.lane.0, &(old.version + 1), &true],
    )
    .await?;
    tx.exec(outbox::sql::hold_end, &[&old.lane.0]).await?;
    log(
        db,
        &tx,
        tenant,
        AuditKind::ProviderChanged,
        actor,
        id.as_str(),
        "deleted",
    )
    .await?;
    tx.commit().await?;
    Ok(true)
}

pub(super) async fn put_callback(
    db: &Db,
    tenant: TenantId,
    id: &ProviderId,
    callback: &ProviderCallback,
    actor: Option<&Actor>,
) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    let hash = callback.hash.as_slice();
    let up = i64::from(actor.is_some());
    let params: Params<'_> = &[&tenant.0, &id.as_str(), &hash, &callback.sealed, &up];
    if tx.exec(sql::provider_callback, params).await? == 0 {
        return Ok(false);
    }
    if let Some(actor) = actor {
        let kind = AuditKind::ProviderChanged;
        log(db, &tx, tenant, kind, actor, id.as_str(), CALLBACK_CHANGED).await?;
    }
    tx.commit().await?;
    Ok(true)
}

fn callback(row: &Row) -> Result<Option<ProviderCallback>> {
    let Some(hash) = row.get::<_, Option<&[u8]>>("callback_hash") else {
        return Ok(None);
    };
    let hash = hash.try_into();
    let hash = hash.map_err(|_| Error::corrupt("providers", "a callback's hash of another length"))?;
    let sealed = row.get("callback_sealed");
    Ok(Some(ProviderCallback { hash, sealed }))
}

async fn waits(tx: &Tx<'_>, lane: LaneId) -> Result<bool, Failed> {
    Ok(tx.one(sql::lane_waits, &[&lane.0]).await?.get(0))
}

/// The lane, made when there is none, and the config version it is at; none for one that was just made.
pub(super) async fn lane(
    session: &impl Session,
    tenant: TenantId,
    provider: &str,
    channel: Channel,
) -> Result<(LaneId, Option<i64>), Failed> {
    let key: Params<'_> = &[&tenant.0, &provider, &channel.as_str()];
    if let Some(row) = session.opt(sql::lane_find, key).await? {
        return Ok((LaneId(row.get(0)), Some(row.get(1))));
    }
    let made = session.exec(sql::lane_make, key).await?;
    let row = session.one(sql::lane_find, key).await?;
    let version = (made == 0).then(|| row.get(1));
    Ok((LaneId(row.get(0)), version))
}

pub(super) fn from_row(row: &Row) -> Result<Provider> {
    const TABLE: &str = "providers";
    Ok(Provider {
        provider: NewProvider {
            tenant: TenantId(row.get("tenant")),
            id: ProviderId::new(row.get::<_, &str>("id")),
            name: row.get("name"),
            kind: row.get("kind"),
            channel: rows::parsed(TABLE, row.get("channel"))?,
            enabled: row.get("enabled"),
            order: row.get("ord"),
            settings: rows::json(row, TABLE, "settings")?.unwrap_or_default(),
            secrets: rows::json(row, TABLE, "secrets")?.unwrap_or_default(),
            retry: rows::json(row, TABLE, "retry")?.ok_or_else(|| Error::corrupt(TABLE, "no retry"))?,
            limits: rows::json(row, TABLE, "limits")?.unwrap_or_default(),
            on_ambiguous: rows::parsed(TABLE, row.get("on_ambiguous"))?,
        },
        lane: LaneId(row.get("lane_id")),
        version: row.get("version"),
        hold: rows::hold(row)?,
        callback: callback(row)?,
    })
}
