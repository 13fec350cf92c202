//! Lists of recipients, kept whole. Equal recipients are equal texts, because all texts are of our own making.

use super::{changed, sql};
use crate::{
    Result,
    audit::difference,
    directory::List,
    sqlite::{
        rows::{self, all},
        writer::WriteSession,
    },
};
use domain::{Actor, AuditKind, TenantId};
use rusqlite::{Connection, Params, Row, params};

pub(super) fn all_of(conn: &Connection, tenant: TenantId) -> Result<Vec<List>> {
    all(conn, sql::lists, [tenant.0], from_row)
}

pub(super) fn by_name(conn: &Connection, tenant: TenantId, name: &str) -> Result<Option<List>> {
    Ok(all(conn, sql::list_by_name, params![tenant.0, name], from_row)?.pop())
}

pub(super) fn put(s: &WriteSession<'_>, tenant: TenantId, list: &List, actor: &Actor) -> Result<()> {
    let before = by_name(s.conn, tenant, &list.name)?;
    let recipients = rows::json(&list.recipients);
    let mut put = s.conn.prepare_cached(sql::list_put)?;
    put.execute(params![tenant.0, list.name, recipients])?;
    let before = before.map(|list| list.recipients).unwrap_or_default();
    let told = difference::of_list(&before, &list.recipients);
    changed(s, tenant, AuditKind::ListChanged, actor, &list.name, &told)
}

pub(super) fn create(s: &WriteSession<'_>, tenant: TenantId, list: &List, actor: &Actor) -> Result<bool> {
    let recipients = rows::json(&list.recipients);
    let params = params![tenant.0, list.name, recipients];
    if !happened(s, sql::list_create, params)? {
        return Ok(false);
    }
    changed(s, tenant, AuditKind::ListChanged, actor, &list.name, "created")?;
    Ok(true)
}

pub(super) fn change(
    s: &WriteSession<'_>,
    tenant: TenantId,
    expected: &List,
    list: &List,
    actor: &Actor,
) -> Result<bool> {
    let (old, new) = (rows::json(&expected.recipients), rows::json(&list.recipients));
    if !happened(s, sql::list_change, params![tenant.0, list.name, old, new])? {
        return Ok(false);
    }
    let told = difference::of_list(&expected.recipients, &list.recipients);
    changed(s, tenant, AuditKind::ListChanged, actor, &list.name, &told)?;
    Ok(true)
}

pub(super) fn delete(s: &WriteSession<'_>, tenant: TenantId, name: &str, actor: &Actor) -> Result<bool> {
    if !happened(s, sql::list_delete, params![tenant.0, name])? {
        return Ok(false);
    }
    changed(s, tenant, AuditKind::ListChanged, actor, name, "deleted")?;
    Ok(true)
}

fn happened(s: &WriteSession<'_>, statement: &str, params: impl Params) -> Result<bool> {
    Ok(s.conn.prepare_cached(statement)?.execute(params)? > 0)
}

fn from_row(row: &Row<'_>) -> Result<List> {
    Ok(List {
        name: row.get("name")?,
        recipients: rows::from_json("lists", &row.get::<_, String>("recipients")?)?,
    })
}
