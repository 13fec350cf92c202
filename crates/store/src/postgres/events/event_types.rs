//! What a tenant says about events of one name.

use super::sql;
use crate::{
    Result,
    audit::fields::of_event_type,
    events::EventTypeRow,
    postgres::{
        directory::{bump, log},
        failed::Failed,
        rows::{json_text, time, to_json},
        session::{Db, Session},
    },
};
use domain::{Actor, AuditKind, EventType, TenantId};
use tokio_postgres::Row;

pub(super) fn from_row(row: &Row) -> Result<EventTypeRow> {
    let definition = json_text(row, "event_types", "definition", "definition")?;
    Ok(EventTypeRow {
        name: row.get("name"),
        definition: definition.ok_or_else(|| crate::Error::corrupt("event_types", "no definition"))?,
        version: row.get("version"),
        updated_at: time(row, "updated_at"),
    })
}

pub(super) async fn put(
    db: &Db,
    tenant: TenantId,
    name: &str,
    definition: &EventType,
    actor: &Actor,
) -> Result<EventTypeRow, Failed> {
    let text = to_json(definition)?;
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    let before = tx.opt(sql::event_type, &[&tenant.0, &name]).await?;
    let before = before.as_ref().map(from_row).transpose()?;
    let row = tx
        .one(sql::event_type_put, &[&db.now(), &tenant.0, &name, &text])
        .await?;
    let detail = of_event_type(before.as_ref().map(|row| &row.definition), definition);
    log(db, &tx, tenant, AuditKind::EventTypeChanged, actor, name, &detail).await?;
    let put = from_row(&row)?;
    tx.commit().await?;
    Ok(put)
}

pub(super) async fn delete(db: &Db, tenant: TenantId, name: &str, actor: &Actor) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    if tx.exec(sql::event_type_delete, &[&tenant.0, &name]).await? == 0 {
        return Ok(false);
    }
    log(
        db,
        &tx,
        tenant,
        AuditKind::EventTypeChanged,
        actor,
        name,
        "deleted",
    )
    .await?;
    tx.commit().await?;
    Ok(true)
}
