//! Tenants: made, found, ended. A tenant that was deleted keeps its row, which its history and its lanes point at.

use super::{bump, log, sql};
use crate::{
    Error,
    directory::{Tenant, TenantDeletion, TenantUse},
    postgres::{
        failed::Failed,
        rows,
        session::{Db, Session},
    },
};
use domain::{Actor, AuditKind, TenantId};
use tokio_postgres::Row;

pub(super) async fn create(db: &Db, name: &str, actor: &Actor) -> Result<Tenant, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    let made = tx.opt(sql::tenant_create, &[&db.now(), &name]).await?;
    let made = made.ok_or_else(|| Error::Conflict(format!("there is a tenant {name:?} already")))?;
    let made = from_row(&made);
    log(db, &tx, made.id, AuditKind::TenantChanged, actor, name, "created").await?;
    tx.commit().await?;
    Ok(made)
}

pub(super) async fn hangs(session: &impl Session, tenant: TenantId) -> Result<TenantUse, Failed> {
    let counted = session
        .one(sql::tenant_use, &[&tenant.0, &TenantUse::COUNTED])
        .await?;
    Ok(TenantUse {
        providers: counted.get("providers"),
        waiting: counted.get("waiting"),
        parked: counted.get("parked"),
    })
}

pub(super) async fn delete(db: &Db, tenant: TenantId, actor: &Actor) -> Result<TenantDeletion, Failed> {
    Tenant::may_be_deleted(tenant)?;
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    let hangs = hangs(&tx, tenant).await?;
    if !hangs.is_none() {
        return Ok(TenantDeletion::InUse(hangs));
    }
    let now = db.now();
    let Some(row) = tx.opt(sql::tenant_delete, &[&now, &tenant.0]).await? else {
        return Ok(TenantDeletion::NotFound);
    };
    tx.exec(sql::tenant_keys_revoke, &[&now, &tenant.0]).await?;
    for emptied in [
        sql::tenant_channels_delete,
        sql::tenant_lists_delete,
        sql::tenant_roles_delete,
        sql::tenant_sessions_end,
        sql::tenant_sites_delete,
    ] {
        tx.exec(emptied, &[&tenant.0]).await?;
    }
    log(
        db,
        &tx,
        TenantId::DEFAULT,
        AuditKind::TenantChanged,
        actor,
        row.get("name"),
        "deleted",
    )
    .await?;
    tx.commit().await?;
    Ok(TenantDeletion::Deleted)
}

pub(in crate::postgres) async fn must_be_live(
    session: &impl Session,
    tenant: TenantId,
) -> Result<(), Failed> {
    let live = session.one(sql::tenant_is_live, &[&tenant.0]).await?.get(0);
    Ok(Tenant::must_be(live)?)
}

pub(super) fn from_row(row: &Row) -> Tenant {
    Tenant {
        id: TenantId(row.get("tenant")),
        name: row.get("name"),
        created_at: rows::time(row, "created_at"),
    }
}
