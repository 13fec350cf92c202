//! The [`Templates`] trait on SQLite.

mod sql;

use super::{
    SqliteStore,
    directory::{changed, conflict, must_be_live},
    rows::{self, all},
    writer::WriteSession,
};
use crate::{
    Error, Result,
    audit::fields::{of_fields, template_named},
    templates::{
        IdentityColumns, LISTED_VERSIONS, NewTemplate, Template, TemplateFilter, TemplateRow,
        TemplateSettings, TemplateVersion, Templates, changed_meanwhile,
    },
};
use async_trait::async_trait;
use domain::{
    Actor, AuditKind, TemplateId, TenantId,
    template::{TemplateContent, TemplateIdentity},
};
use rusqlite::{Connection, OptionalExtension, Row, params};

const TABLE: &str = "message_templates";

#[async_trait]
impl Templates for SqliteStore {
    async fn templates(&self, tenant: TenantId, filter: &TemplateFilter) -> Result<Vec<TemplateRow>> {
        let filter = filter.clone();
        self.read(move |conn| {
            let params = params![
                tenant.0,
                filter.deleted,
                filter.event_type,
                filter.channel.map(|channel| channel.as_str()),
                filter.active
            ];
            all(conn, sql::templates, params, listed)
        })
        .await
    }

    async fn template(
        &self,
        tenant: TenantId,
        id: TemplateId,
        version: Option<i64>,
    ) -> Result<Option<Template>> {
        self.read(move |conn| find(conn, tenant, id, version)).await
    }

    async fn event_templates(&self, tenant: TenantId, event_type: &str) -> Result<Vec<Template>> {
        let event_type = event_type.to_owned();
        self.read(move |conn| all(conn, sql::event_templates, params![tenant.0, event_type], whole))
            .await
    }

    async fn template_versions(&self, tenant: TenantId, id: TemplateId) -> Result<Vec<TemplateVersion>> {
        self.read(move |conn| {
            all(
                conn,
                sql::template_versions,
                params![tenant.0, id.0, LISTED_VERSIONS],
                |row| {
                    Ok(TemplateVersion {
                        version: row.get("version")?,
                        saved_at: rows::time(row, "saved_at")?,
                        saved_by: Actor::new(row.get::<_, String>("saved_by")?),
                    })
                },
            )
        })
        .await
    }

    async fn create_template(&self, template: &NewTemplate, actor: &Actor) -> Result<Template> {
        let (template, actor) = (template.clone(), actor.clone());
        self.write(1, move |s| create(s, &template, &actor)).await
    }

    async fn save_template(
        &self,
        tenant: TenantId,
        id: TemplateId,
        based_on: i64,
        content: &TemplateContent,
        actor: &Actor,
    ) -> Result<Option<Template>> {
        let (content, actor) = (content.clone(), actor.clone());
        self.write(1, move |s| save(s, tenant, id, based_on, &content, &actor))
            .await
    }

    async fn delete_template(&self, tenant: TenantId, id: TemplateId, actor: &Actor) -> Result<bool> {
        let actor = actor.clone();
        self.write(1, move |s| {
            let params = params![tenant.0, id.0, s.now.as_millis()];
            let gone = s.conn.prepare_cached(sql::template_delete)?.execute(params)?;
            if gone > 0 {
                let gone = find(s.conn, tenant, id, None)?.ok_or_else(vanished)?;
                log(s, tenant, &actor, (id, &gone.identity), "deleted")?;
            }
            Ok(gone > 0)
        })
        .await
    }

    async fn template_settings(&self, tenant: TenantId) -> Result<TemplateSettings> {
        self.read(move |conn| settings_of(conn, tenant)).await
    }

    async fn put_template_settings(
        &self,
        tenant: TenantId,
        settings: &TemplateSettings,
        actor: &Actor,
    ) -> Result<()> {
        let (settings, actor) = (settings.clone(), actor.clone());
        self.write(1, move |s| {
            must_be_live(s.conn, tenant)?;
            let detail = of_fields("changed", &settings_of(s.conn, tenant)?, &settings);
            let mut put = s.conn.prepare_cached(sql::template_settings_put)?;
            put.execute(params![tenant.0, rows::json(&settings)])?;
            changed(s, tenant, AuditKind::TemplateChanged, &actor, "settings", &detail)
        })
        .await
    }
}

fn settings_of(conn: &Connection, tenant: TenantId) -> Result<TemplateSettings> {
    let found = all(conn, sql::template_settings, [tenant.0], |row| {
        rows::from_json("template_settings", &row.get::<_, String>(0)?)
    })?;
    Ok(found.into_iter().next().unwrap_or_default())
}

fn find(
    conn: &Connection,
    tenant: TenantId,
    id: TemplateId,
    version: Option<i64>,
) -> Result<Option<Template>> {
    Ok(all(conn, sql::template, params![tenant.0, id.0, version], whole)?.pop())
}

fn create(s: &mut WriteSession<'_>, new: &NewTemplate, actor: &Actor) -> Result<Template> {
    must_be_live(s.conn, new.tenant)?;
    let counted = s
        .conn
        .prepare_cached(sql::template_count)?
        .query_row([new.tenant.0], |row| row.get(0))?;
    NewTemplate::fits(counted)?;
    let (identity, columns) = (&new.identity, IdentityColumns::of(&new.identity));
    let made = s.conn.prepare_cached(sql::template_create)?.query_row(
        params![
            new.tenant.0,
            identity.event_type,
            identity.channel.as_str(),
            identity.name,
            columns.language,
            columns.scope_type,
            columns.scope_id,
            new.content.active,
            s.now.as_millis(),
        ],
        |row| row.get(0).map(TemplateId),
    );
    let id = made.map_err(|error| match conflict(error, String::new) {
        Error::Conflict(_) => new.taken(),
        other => other,
    })?;
    add_version(s, id, 1, &new.content, actor)?;
    log(s, new.tenant, actor, (id, &new.identity), "created")?;
    find(s.conn, new.tenant, id, None)?.ok_or_else(vanished)
}

fn save(
    s: &mut WriteSession<'_>,
    tenant: TenantId,
    id: TemplateId,
    based_on: i64,
    content: &TemplateContent,
    actor: &Actor,
) -> Result<Option<Template>> {
    let saved: Option<i64> = s
        .conn
        .prepare_cached(sql::template_save)?
        .query_row(params![tenant.0, id.0, based_on, content.active], |row| {
            row.get(0)
        })
        .optional()?;
    let Some(version) = saved else {
        return match find(s.conn, tenant, id, None)? {
            Some(found) if found.deleted_at.is_none() => Err(changed_meanwhile(id, found.version)),
            _ => Ok(None),
        };
    };
    let before = find(s.conn, tenant, id, Some(based_on))?.ok_or_else(vanished)?;
    add_version(s, id, version, content, actor)?;
    let word = format!("saved as version {version}");
    let detail = of_fields(&word, &before.content, content);
    log(s, tenant, actor, (id, &before.identity), &detail)?;
    find(s.conn, tenant, id, None)
}

fn add_version(
    s: &WriteSession<'_>,
    id: TemplateId,
    version: i64,
    content: &TemplateContent,
    actor: &Actor,
) -> Result<()> {
    s.conn
        .prepare_cached(sql::template_version_add)?
        .execute(params![
            id.0,
            version,
            rows::json(content),
            s.now.as_millis(),
            actor.as_str(),
        ])?;
    Ok(())
}

fn log(
    s: &WriteSession<'_>,
    tenant: TenantId,
    actor: &Actor,
    (id, identity): (TemplateId, &TemplateIdentity),
    detail: &str,
) -> Result<()> {
    let target = template_named(identity, id);
    changed(s, tenant, AuditKind::TemplateChanged, actor, &target, detail)
}

fn vanished() -> Error {
    Error::corrupt(TABLE, "a row just written is gone")
}

fn identity(row: &Row<'_>) -> Result<TemplateIdentity> {
    let channel = rows::parse(TABLE, &row.get::<_, String>("channel")?)?;
    Ok(IdentityColumns::identity(
        row.get("event_type")?,
        channel,
        row.get("name")?,
        row.get("language")?,
        (row.get("scope_type")?, row.get("scope_id")?),
    ))
}

fn listed(row: &Row<'_>) -> Result<TemplateRow> {
    Ok(TemplateRow {
        id: TemplateId(row.get("template_id")?),
        identity: identity(row)?,
        version: row.get("version")?,
        active: row.get("active")?,
        saved_at: rows::time(row, "saved_at")?,
        saved_by: Actor::new(row.get::<_, String>("saved_by")?),
        deleted_at: rows::optional_time(row, "deleted_at")?,
    })
}

fn whole(row: &Row<'_>) -> Result<Template> {
    let content = rows::from_json("message_template_versions", &row.get::<_, String>("content")?)?;
    let TemplateRow {
        id,
        identity,
        version,
        saved_at,
        saved_by,
        deleted_at,
        ..
    } = listed(row)?;
    Ok(Template {
        id,
        identity,
        version,
        content,
        created_at: rows::time(row, "created_at")?,
        saved_at,
        saved_by,
        deleted_at,
    })
}
