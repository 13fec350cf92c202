//! Templates made, saved and deleted.

use super::{sql, whole};
use crate::{
    Error,
    audit::fields::{of_fields, template_named},
    postgres::{
        directory::{bump, log, must_be_live},
        failed::Failed,
        rows,
        session::{Db, Session, Tx},
    },
    templates::{IdentityColumns, NewTemplate, Template, TemplateSettings, changed_meanwhile},
};
use domain::{
    Actor, AuditKind, TemplateId, TenantId,
    template::{TemplateContent, TemplateIdentity},
};

pub(super) async fn create(db: &Db, new: &NewTemplate, actor: &Actor) -> Result<Template, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    must_be_live(&tx, new.tenant).await?;
    NewTemplate::fits(tx.one(sql::template_count, &[&new.tenant.0]).await?.get(0))?;
    let (identity, columns) = (&new.identity, IdentityColumns::of(&new.identity));
    let made = tx
        .opt(
            sql::template_create,
            &[
                &db.now(),
                &new.tenant.0,
                &identity.event_type,
                &identity.channel.as_str(),
                &identity.name,
                &columns.language,
                &columns.scope_type,
                &columns.scope_id,
                &new.content.active,
            ],
        )
        .await?;
    let id = TemplateId(made.ok_or_else(|| new.taken())?.get(0));
    add_version(db, &tx, id, 1, &new.content, actor).await?;
    written(db, &tx, new.tenant, actor, (id, identity), "created").await?;
    let made = find(&tx, new.tenant, id, None).await?.ok_or_else(vanished)?;
    tx.commit().await?;
    Ok(made)
}

pub(super) async fn save(
    db: &Db,
    tenant: TenantId,
    id: TemplateId,
    based_on: i64,
    content: &TemplateContent,
    actor: &Actor,
) -> Result<Option<Template>, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    let saved = tx
        .opt(
            sql::template_save,
            &[&tenant.0, &id.0, &based_on, &content.active],
        )
        .await?;
    let Some(saved) = saved else {
        return match find(&tx, tenant, id, None).await? {
            Some(found) if found.deleted_at.is_none() => Err(changed_meanwhile(id, found.version).into()),
            _ => Ok(None),
        };
    };
    let version: i64 = saved.get(0);
    let before = find(&tx, tenant, id, Some(based_on))
        .await?
        .ok_or_else(vanished)?;
    add_version(db, &tx, id, version, content, actor).await?;
    let word = format!("saved as version {version}");
    let detail = of_fields(&word, &before.content, content);
    written(db, &tx, tenant, actor, (id, &before.identity), &detail).await?;
    let saved = find(&tx, tenant, id, None).await?;
    tx.commit().await?;
    Ok(saved)
}

pub(super) async fn delete(db: &Db, tenant: TenantId, id: TemplateId, actor: &Actor) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    if tx
        .exec(sql::template_delete, &[&db.now(), &tenant.0, &id.0])
        .await?
        == 0
    {
        return Ok(false);
    }
    let gone = find(&tx, tenant, id, None).await?.ok_or_else(vanished)?;
    written(db, &tx, tenant, actor, (id, &gone.identity), "deleted").await?;
    tx.commit().await?;
    Ok(true)
}

pub(super) async fn settings(
    db: &Db,
    tenant: TenantId,
    settings: &TemplateSettings,
    actor: &Actor,
) -> Result<(), Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    must_be_live(&tx, tenant).await?;
    let before = tx.opt(sql::template_settings, &[&tenant.0]).await?;
    let before = before.map(|row| rows::json_text(&row, "template_settings", "settings", 0));
    let before: TemplateSettings = before.transpose()?.flatten().unwrap_or_default();
    let detail = of_fields("changed", &before, settings);
    let text = rows::to_json(settings)?;
    tx.exec(sql::template_settings_put, &[&tenant.0, &text]).await?;
    log(
        db,
        &tx,
        tenant,
        AuditKind::TemplateChanged,
        actor,
        "settings",
        &detail,
    )
    .await?;
    tx.commit().await
}

fn vanished() -> Error {
    Error::corrupt("message_templates", "a row just written is gone")
}

async fn find(
    tx: &Tx<'_>,
    tenant: TenantId,
    id: TemplateId,
    version: Option<i64>,
) -> Result<Option<Template>, Failed> {
    let found = tx.opt(sql::template, &[&tenant.0, &id.0, &version]).await?;
    Ok(found.as_ref().map(whole).transpose()?)
}

async fn add_version(
    db: &Db,
    tx: &Tx<'_>,
    id: TemplateId,
    version: i64,
    content: &TemplateContent,
    actor: &Actor,
) -> Result<(), Failed> {
    let content = rows::to_json(content)?;
    tx.exec(
        sql::template_version_add,
        &[&db.now(), &id.0, &version, &content, &actor.as_str()],
    )
    .await?;
    Ok(())
}

async fn written(
    db: &Db,
    tx: &Tx<'_>,
    tenant: TenantId,
    actor: &Actor,
    (id, identity): (TemplateId, &TemplateIdentity),
    detail: &str,
) -> Result<(), Failed> {
    let target = template_named(identity, id);
    log(db, tx, tenant, AuditKind::TemplateChanged, actor, &target, detail).await
}
