//! The [`Templates`] trait on PostgreSQL.
//!
//! Always true: a change first raises the directory version, whose row lock keeps changes one after the other.

mod sql;
mod write;

use super::{PgStore, failed::Failed, rows, session::Session};
use crate::{
    Result,
    templates::{
        IdentityColumns, LISTED_VERSIONS, NewTemplate, Template, TemplateFilter, TemplateRow,
        TemplateSettings, TemplateVersion, Templates,
    },
};
use async_trait::async_trait;
use domain::{
    Actor, TemplateId, TenantId,
    template::{TemplateContent, TemplateIdentity},
};
use tokio_postgres::Row;

#[async_trait]
impl Templates for PgStore {
    async fn templates(&self, tenant: TenantId, filter: &TemplateFilter) -> Result<Vec<TemplateRow>> {
        let channel = filter.channel.map(|channel| channel.as_str());
        let session = self.db.general().await?;
        let found = session
            .rows(
                sql::templates,
                &[
                    &tenant.0,
                    &filter.deleted,
                    &filter.event_type,
                    &channel,
                    &filter.active,
                ],
            )
            .await?;
        found.iter().map(listed).collect()
    }

    async fn template(
        &self,
        tenant: TenantId,
        id: TemplateId,
        version: Option<i64>,
    ) -> Result<Option<Template>> {
        let session = self.db.general().await?;
        let found = session.opt(sql::template, &[&tenant.0, &id.0, &version]).await?;
        found.as_ref().map(whole).transpose()
    }

    async fn event_templates(&self, tenant: TenantId, event_type: &str) -> Result<Vec<Template>> {
        let session = self.db.general().await?;
        let found = session
            .rows(sql::event_templates, &[&tenant.0, &event_type])
            .await?;
        found.iter().map(whole).collect()
    }

    async fn template_versions(&self, tenant: TenantId, id: TemplateId) -> Result<Vec<TemplateVersion>> {
        let session = self.db.general().await?;
        let found = session
            .rows(sql::template_versions, &[&tenant.0, &id.0, &LISTED_VERSIONS])
            .await?;
        let version = |row: &Row| TemplateVersion {
            version: row.get("version"),
            saved_at: rows::time(row, "saved_at"),
            saved_by: Actor::new(row.get::<_, &str>("saved_by")),
        };
        Ok(found.iter().map(version).collect())
    }

    async fn create_template(&self, template: &NewTemplate, actor: &Actor) -> Result<Template> {
        write::create(&self.db, template, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn save_template(
        &self,
        tenant: TenantId,
        id: TemplateId,
        based_on: i64,
        content: &TemplateContent,
        actor: &Actor,
    ) -> Result<Option<Template>> {
        write::save(&self.db, tenant, id, based_on, content, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn delete_template(&self, tenant: TenantId, id: TemplateId, actor: &Actor) -> Result<bool> {
        write::delete(&self.db, tenant, id, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn template_settings(&self, tenant: TenantId) -> Result<TemplateSettings> {
        let session = self.db.general().await?;
        let found = session.opt(sql::template_settings, &[&tenant.0]).await?;
        let settings = found.map(|row| rows::json_text(&row, "template_settings", "settings", 0));
        Ok(settings.transpose()?.flatten().unwrap_or_default())
    }

    async fn put_template_settings(
        &self,
        tenant: TenantId,
        settings: &TemplateSettings,
        actor: &Actor,
    ) -> Result<()> {
        write::settings(&self.db, tenant, settings, actor)
            .await
            .map_err(Failed::while_committing)
    }
}

fn identity(row: &Row) -> Result<TemplateIdentity> {
    let scope = (row.get("scope_type"), row.get("scope_id"));
    let channel = rows::parsed("message_templates", row.get("channel"))?;
    let (event_type, name) = (row.get("event_type"), row.get("name"));
    let language = row.get("language");
    Ok(IdentityColumns::identity(
        event_type, channel, name, language, scope,
    ))
}

fn listed(row: &Row) -> Result<TemplateRow> {
    Ok(TemplateRow {
        id: TemplateId(row.get("template_id")),
        identity: identity(row)?,
        version: row.get("version"),
        active: row.get("active"),
        saved_at: rows::time(row, "saved_at"),
        saved_by: Actor::new(row.get::<_, &str>("saved_by")),
        deleted_at: rows::time_opt(row, "deleted_at"),
    })
}

fn whole(row: &Row) -> Result<Template> {
    let listed = listed(row)?;
    let content = rows::json_text(row, "message_template_versions", "content", "content")?;
    Ok(Template {
        id: listed.id,
        identity: listed.identity,
        version: listed.version,
        content: content.unwrap_or_default(),
        created_at: rows::time(row, "created_at"),
        saved_at: listed.saved_at,
        saved_by: listed.saved_by,
        deleted_at: listed.deleted_at,
    })
}
