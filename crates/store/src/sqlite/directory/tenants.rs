//! Tenants: made, found, ended. A tenant that was deleted keeps its row, which its history and its lanes point at.

use super::{changed, conflict, sql};
use crate::{
    Result,
    directory::{Tenant, TenantDeletion, TenantUse},
    sqlite::{rows, writer::WriteSession},
};
use domain::{Actor, AuditKind, TenantId};
use rusqlite::{Connection, OptionalExtension, Row, params};

pub(super) fn create(s: &mut WriteSession<'_>, name: &str, actor: &Actor) -> Result<Tenant> {
    let taken = || format!("there is a tenant {name:?} already");
    let made = s
        .conn
        .prepare_cached(sql::tenant_create)?
        .query_row(params![name, s.now.as_millis()], from_row);
    let made = made.map_err(|e| conflict(e, taken))?;
    changed(s, made.id, AuditKind::TenantChanged, actor, name, "created")?;
    Ok(made)
}

pub(super) fn delete(s: &mut WriteSession<'_>, tenant: TenantId, actor: &Actor) -> Result<TenantDeletion> {
    Tenant::may_be_deleted(tenant)?;
    let hangs = hangs(s.conn, tenant)?;
    if !hangs.is_none() {
        return Ok(TenantDeletion::InUse(hangs));
    }
    let now = s.now.as_millis();
    let name: Option<String> = s
        .conn
        .prepare_cached(sql::tenant_delete)?
        .query_row(params![tenant.0, now], |row| row.get("name"))
        .optional()?;
    let Some(name) = name else {
        return Ok(TenantDeletion::NotFound);
    };
    s.conn
        .prepare_cached(sql::tenant_keys_revoke)?
        .execute(params![tenant.0, now])?;
    for emptied in [
        sql::tenant_channels_delete,
        sql::tenant_lists_delete,
        sql::tenant_roles_delete,
        sql::tenant_sessions_end,
        sql::tenant_sites_delete,
    ] {
        s.conn.prepare_cached(emptied)?.execute([tenant.0])?;
    }
    changed(
        s,
        TenantId::DEFAULT,
        AuditKind::TenantChanged,
        actor,
        &name,
        "deleted",
    )?;
    Ok(TenantDeletion::Deleted)
}

pub(super) fn hangs(conn: &Connection, tenant: TenantId) -> Result<TenantUse> {
    let mut count = conn.prepare_cached(sql::tenant_use)?;
    Ok(count.query_row(params![tenant.0, TenantUse::COUNTED], |row| {
        Ok(TenantUse {
            providers: row.get("providers")?,
            waiting: row.get("waiting")?,
            parked: row.get("parked")?,
        })
    })?)
}

pub(in crate::sqlite) fn must_be_live(conn: &Connection, tenant: TenantId) -> Result<()> {
    let live: bool = conn
        .prepare_cached(sql::tenant_is_live)?
        .query_row([tenant.0], |row| row.get(0))?;
    Tenant::must_be(live)
}

pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Tenant> {
    Ok(Tenant {
        id: TenantId(row.get("tenant")?),
        name: row.get("name")?,
        created_at: rows::time(row, "created_at")?,
    })
}
