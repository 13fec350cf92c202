//! Providers and their lanes. A lane outlives its provider: history points at it, and what slipped in while the
//! provider was being deleted is still claimed there and parked with the reason.

use super::{changed, sql, tenants};
use crate::{
    Error, Result,
    audit::difference,
    directory::{NewProvider, Provider},
    receipts::{CALLBACK_CHANGED, ProviderCallback},
    sqlite::{
        outbox,
        rows::{self, all},
        writer::WriteSession,
    },
};
use domain::{Actor, AuditKind, Channel, HoldReason, LaneId, ProviderId, TenantId};
use rusqlite::{Connection, OptionalExtension, Row, params};

pub(super) fn by_id(conn: &Connection, tenant: TenantId, id: &ProviderId) -> Result<Option<Provider>> {
    Ok(all(conn, sql::provider, params![tenant.0, id.as_str()], from_row)?.pop())
}

pub(super) fn put(
    s: &mut WriteSession<'_>,
    new: &NewProvider,
    expected_version: Option<i64>,
    actor: &Actor,
) -> Result<Provider> {
    tenants::must_be_live(s.conn, new.tenant)?;
    let old = by_id(s.conn, new.tenant, &new.id)?;
    new.may_replace(old.as_ref(), expected_version)?;
    if let Some(old) = &old
        && old.provider.channel != new.channel
        && waits(s, old.lane)?
    {
        return Err(new.rows_wait(old));
    }
    let (lane, lane_at) = lane_or_new(s, new.tenant, new.id.as_str(), new.channel)?;
    let version = Provider::next_version(old.as_ref(), lane_at);
    s.conn.prepare_cached(sql::provider_put)?.execute(params![
        new.tenant.0,
        new.id.as_str(),
        new.name,
        new.kind,
        new.channel.as_str(),
        new.enabled,
        new.order,
        rows::json(&new.settings),
        rows::json(&new.secrets),
        rows::json(&new.retry),
        rows::json(&new.limits),
        new.on_ambiguous.as_str(),
        version,
        lane.0,
    ])?;
    let otherwise = new.asks_otherwise(old.as_ref());
    configured(s, lane, version, otherwise)?;
    if !new.enabled {
        switch_off(s, lane, actor)?;
    }
    let told = difference::of_provider(old.as_ref().map(|old| &old.provider), new);
    changed(
        s,
        new.tenant,
        AuditKind::ProviderChanged,
        actor,
        new.id.as_str(),
        &told,
    )?;
    by_id(s.conn, new.tenant, &new.id)?
        .ok_or_else(|| Error::corrupt("providers", "a row just written is gone"))
}

/// The lane's rows are from now on sent with these settings.
fn configured(s: &WriteSession<'_>, lane: LaneId, version: i64, otherwise: bool) -> Result<()> {
    s.conn.prepare_cached(sql::lane_configured)?.execute(params![
        lane.0,
        version,
        s.now.as_millis(),
        otherwise
    ])?;
    Ok(())
}

fn switch_off(s: &WriteSession<'_>, lane: LaneId, actor: &Actor) -> Result<()> {
    s.conn.prepare_cached(outbox::sql::hold_set)?.execute(params![
        lane.0,
        HoldReason::Disabled.as_str(),
        None::<String>,
        s.now.as_millis(),
        None::<i64>,
        None::<String>,
        actor.as_str(),
    ])?;
    Ok(())
}

pub(super) fn delete(
    s: &mut WriteSession<'_>,
    tenant: TenantId,
    id: &ProviderId,
    actor: &Actor,
) -> Result<bool> {
    let Some(old) = by_id(s.conn, tenant, id)? else {
        return Ok(false);
    };
    if waits(s, old.lane)? {
        return Err(Error::Conflict(format!("notifications wait for provider {id}")));
    }
    s.conn
        .prepare_cached(sql::provider_delete)?
        .execute(params![tenant.0, id.as_str()])?;
    configured(s, old.lane, old.version + 1, true)?;
    s.conn
        .prepare_cached(outbox::sql::hold_end)?
        .execute([old.lane.0])?;
    changed(
        s,
        tenant,
        AuditKind::ProviderChanged,
        actor,
        id.as_str(),
        "deleted",
    )?;
    Ok(true)
}

pub(super) fn put_callback(
    s: &mut WriteSession<'_>,
    tenant: TenantId,
    id: &ProviderId,
    callback: &ProviderCallback,
    actor: Option<&Actor>,
) -> Result<bool> {
    let params = params![
        tenant.0,
        id.as_str(),
        callback.hash,
        callback.sealed,
        i64::from(actor.is_some())
    ];
    let put = s
        .conn
        .prepare_cached(sql::provider_callback)?
        .query_row(params, |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
        .optional()?;
    let Some((lane, version)) = put else {
        return Ok(false);
    };
    s.conn
        .prepare_cached(sql::lane_version)?
        .execute(params![lane, version])?;
    if let Some(actor) = actor {
        let kind = AuditKind::ProviderChanged;
        changed(s, tenant, kind, actor, id.as_str(), CALLBACK_CHANGED)?;
    }
    Ok(true)
}

fn callback(row: &Row<'_>) -> Result<Option<ProviderCallback>> {
    let hash: Option<[u8; 32]> = row.get("callback_hash")?;
    let sealed = row.get("callback_sealed")?;
    Ok(hash.map(|hash| ProviderCallback { hash, sealed }))
}

fn waits(s: &WriteSession<'_>, lane: LaneId) -> Result<bool> {
    let mut statement = s.conn.prepare_cached(sql::lane_waits)?;
    Ok(statement.query_row([lane.0], |row| row.get(0))?)
}

/// A lane and the config version it is at.
pub(super) fn lane(
    conn: &Connection,
    tenant: TenantId,
    provider: &str,
    channel: Channel,
) -> Result<Option<(LaneId, i64)>> {
    let mut statement = conn.prepare_cached(sql::lane_find)?;
    let found = statement
        .query_row(params![tenant.0, provider, channel.as_str()], |row| {
            Ok((LaneId(row.get(0)?), row.get(1)?))
        })
        .optional()?;
    Ok(found)
}

/// The version is none for a lane that was just made.
pub(super) fn lane_or_new(
    s: &WriteSession<'_>,
    tenant: TenantId,
    provider: &str,
    channel: Channel,
) -> Result<(LaneId, Option<i64>)> {
    if let Some((lane, version)) = lane(s.conn, tenant, provider, channel)? {
        return Ok((lane, Some(version)));
    }
    let made = s
        .conn
        .prepare_cached(sql::lane_make)?
        .query_row(params![tenant.0, provider, channel.as_str()], |row| {
            row.get(0).map(LaneId)
        })?;
    Ok((made, None))
}

pub(super) fn from_row(row: &Row<'_>) -> Result<Provider> {
    const TABLE: &str = "providers";
    let text = |column: &str| row.get::<_, String>(column);
    Ok(Provider {
        provider: NewProvider {
            tenant: TenantId(row.get("tenant")?),
            id: ProviderId::new(text("id")?),
            name: text("name")?,
            kind: text("kind")?,
            channel: rows::parse(TABLE, &text("channel")?)?,
            enabled: row.get("enabled")?,
            order: row.get("ord")?,
            settings: rows::from_json(TABLE, &text("settings")?)?,
            secrets: rows::from_json(TABLE, &text("secrets")?)?,
            retry: rows::from_json(TABLE, &text("retry")?)?,
            limits: rows::from_json(TABLE, &text("limits")?)?,
            on_ambiguous: rows::parse(TABLE, &text("on_ambiguous")?)?,
        },
        lane: LaneId(row.get("lane_id")?),
        version: row.get("version")?,
        hold: rows::hold(row)?,
        callback: callback(row)?,
    })
}
