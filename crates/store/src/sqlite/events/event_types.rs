//! What a tenant says about events of one name.

use super::sql;
use crate::{
    Error, Result,
    audit::fields::of_event_type,
    events::EventTypeRow,
    sqlite::{
        directory,
        rows::{all, from_json, json, time},
        writer::WriteSession,
    },
};
use domain::{Actor, AuditKind, EventType, TenantId};
use rusqlite::{Row, params};

pub(super) fn from_row(row: &Row<'_>) -> Result<EventTypeRow> {
    Ok(EventTypeRow {
        name: row.get("name")?,
        definition: from_json("event_types", &row.get::<_, String>("definition")?)?,
        version: row.get("version")?,
        updated_at: time(row, "updated_at")?,
    })
}

pub(super) struct Put {
    tenant: TenantId,
    name: String,
    definition: EventType,
    actor: Actor,
}

impl Put {
    pub fn new(tenant: TenantId, name: &str, definition: &EventType, actor: &Actor) -> Self {
        Self {
            tenant,
            name: name.to_owned(),
            definition: definition.clone(),
            actor: actor.clone(),
        }
    }

    pub fn write(&self, s: &WriteSession<'_>) -> Result<EventTypeRow> {
        let before = params![self.tenant.0, self.name];
        let before = all(s.conn, sql::event_type, before, from_row)?.pop();
        let definition = json(&self.definition);
        let params = params![self.tenant.0, self.name, definition, s.now.as_millis()];
        let row = all(s.conn, sql::event_type_put, params, from_row)?.pop();
        let kind = AuditKind::EventTypeChanged;
        let detail = of_event_type(before.as_ref().map(|row| &row.definition), &self.definition);
        directory::changed(s, self.tenant, kind, &self.actor, &self.name, &detail)?;
        row.ok_or_else(|| Error::corrupt("event_types", "a row just written is gone"))
    }
}

pub(super) fn delete(s: &WriteSession<'_>, tenant: TenantId, name: &str, actor: &Actor) -> Result<bool> {
    let gone = s
        .conn
        .prepare_cached(sql::event_type_delete)?
        .execute(params![tenant.0, name])?
        > 0;
    if gone {
        directory::changed(s, tenant, AuditKind::EventTypeChanged, actor, name, "deleted")?;
    }
    Ok(gone)
}
