//! Lists of recipients. A list is one row, so it is replaced all at once.

use super::{bump, log, sql};
use crate::{
    Result,
    audit::difference,
    directory::List,
    postgres::{
        failed::Failed,
        rows,
        session::{Db, Session},
    },
};
use domain::{Actor, AuditKind, TenantId};
use tokio_postgres::Row;

pub(super) async fn put(db: &Db, tenant: TenantId, list: &List, actor: &Actor) -> Result<(), Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    let before = tx.opt(sql::list_by_name, &[&tenant.0, &list.name]).await?;
    let before = before.as_ref().map(from_row).transpose()?;
    let before = before.map(|list| list.recipients).unwrap_or_default();
    let told = difference::of_list(&before, &list.recipients);
    let recipients = rows::to_json(&list.recipients)?;
    tx.exec(sql::list_put, &[&tenant.0, &list.name, &recipients])
        .await?;
    log(db, &tx, tenant, AuditKind::ListChanged, actor, &list.name, &told).await?;
    tx.commit().await
}

pub(super) async fn create(db: &Db, tenant: TenantId, list: &List, actor: &Actor) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    let recipients = rows::to_json(&list.recipients)?;
    if tx
        .exec(sql::list_create, &[&tenant.0, &list.name, &recipients])
        .await?
        == 0
    {
        return Ok(false);
    }
    log(
        db,
        &tx,
        tenant,
        AuditKind::ListChanged,
        actor,
        &list.name,
        "created",
    )
    .await?;
    tx.commit().await?;
    Ok(true)
}

pub(super) async fn change(
    db: &Db,
    tenant: TenantId,
    expected: &List,
    list: &List,
    actor: &Actor,
) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    let (before, after) = (
        rows::to_json(&expected.recipients)?,
        rows::to_json(&list.recipients)?,
    );
    if tx
        .exec(sql::list_change, &[&tenant.0, &list.name, &before, &after])
        .await?
        == 0
    {
        return Ok(false);
    }
    let told = difference::of_list(&expected.recipients, &list.recipients);
    log(db, &tx, tenant, AuditKind::ListChanged, actor, &list.name, &told).await?;
    tx.commit().await?;
    Ok(true)
}

pub(super) async fn delete(db: &Db, tenant: TenantId, name: &str, actor: &Actor) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    if tx.exec(sql::list_delete, &[&tenant.0, &name]).await? == 0 {
        return Ok(false);
    }
    log(db, &tx, tenant, AuditKind::ListChanged, actor, name, "deleted").await?;
    tx.commit().await?;
    Ok(true)
}

pub(super) fn from_row(row: &Row) -> Result<List> {
    Ok(List {
        name: row.get("name"),
        recipients: rows::json(row, "lists", "recipients")?.unwrap_or_default(),
    })
}
