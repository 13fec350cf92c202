//! The [`Directory`] trait on SQLite: keys here, tenants in [`tenants`], lists in [`lists`], providers
//! in [`providers`].

mod lists;
mod providers;
pub(super) mod sql;
mod tenants;

pub(super) use tenants::must_be_live;

use crate::{
    Error, Result,
    audit::Entry,
    directory::{
        ApiKey, Directory, List, NewKey, NewProvider, Provider, ProviderTest, Tenant, TenantDeletion,
        TenantUse,
    },
    receipts::ProviderCallback,
    sqlite::{
        SqliteStore, audit,
        rows::{self, all},
        writer::WriteSession,
    },
};
use async_trait::async_trait;
use domain::{Actor, AuditKind, Channel, LaneId, ProviderId, TenantId};
use rusqlite::{OptionalExtension, Row, params};
use std::collections::BTreeMap;

#[async_trait]
impl Directory for SqliteStore {
    async fn directory_version(&self) -> Result<i64> {
        self.read(version).await
    }

    async fn create_tenant(&self, name: &str, actor: &Actor) -> Result<Tenant> {
        let (name, actor) = (name.to_owned(), actor.clone());
        self.write(1, move |s| tenants::create(s, &name, &actor)).await
    }

    async fn tenants(&self) -> Result<Vec<Tenant>> {
        self.read(|conn| all(conn, sql::tenants, [], |row| Ok(tenants::from_row(row)?)))
            .await
    }

    async fn tenant_by_name(&self, name: &str) -> Result<Option<Tenant>> {
        let name = name.to_owned();
        self.read(move |conn| {
            let mut statement = conn.prepare_cached(sql::tenant_by_name)?;
            Ok(statement.query_row([name], tenants::from_row).optional()?)
        })
        .await
    }

    async fn delete_tenant(&self, tenant: TenantId, actor: &Actor) -> Result<TenantDeletion> {
        let actor = actor.clone();
        self.write(1, move |s| tenants::delete(s, tenant, &actor)).await
    }

    async fn tenant_use(&self, tenant: TenantId) -> Result<TenantUse> {
        self.read(move |conn| tenants::hangs(conn, tenant)).await
    }

    async fn create_key(&self, key: NewKey, actor: &Actor) -> Result<ApiKey> {
        let actor = actor.clone();
        self.write(1, move |s| create_key(s, &key, &actor)).await
    }

    async fn keys(&self, tenant: TenantId) -> Result<Vec<ApiKey>> {
        self.read(move |conn| all(conn, sql::keys, [tenant.0], api_key))
            .await
    }

    async fn revoke_key(&self, tenant: TenantId, id: i64, actor: &Actor) -> Result<bool> {
        let actor = actor.clone();
        self.write(1, move |s| {
            let name: Option<String> = s
                .conn
                .prepare_cached(sql::key_revoke)?
                .query_row(params![tenant.0, id, s.now.as_millis()], |row| row.get(0))
                .optional()?;
            let Some(name) = name else { return Ok(false) };
            changed(s, tenant, AuditKind::KeyChanged, &actor, &name, "revoked")?;
            Ok(true)
        })
        .await
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<ApiKey>> {
        let hash = *hash;
        self.read(move |conn| Ok(all(conn, sql::key_by_hash, [hash], api_key)?.pop()))
            .await
    }

    async fn key_used(&self, id: i64) -> Result<()> {
        self.write(1, move |s| {
            let mut used = s.conn.prepare_cached(sql::key_used)?;
            used.execute(params![id, s.now.as_millis()])?;
            Ok(())
        })
        .await
    }

    async fn lists(&self, tenant: TenantId) -> Result<Vec<List>> {
        self.read(move |conn| lists::all_of(conn, tenant)).await
    }

    async fn list_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<List>> {
        let name = name.to_owned();
        self.read(move |conn| lists::by_name(conn, tenant, &name)).await
    }

    async fn put_list(&self, tenant: TenantId, list: &List, actor: &Actor) -> Result<()> {
        let (list, actor) = (list.clone(), actor.clone());
        self.write(1, move |s| lists::put(s, tenant, &list, &actor)).await
    }

    async fn create_list(&self, tenant: TenantId, list: &List, actor: &Actor) -> Result<bool> {
        let (list, actor) = (list.clone(), actor.clone());
        self.write(1, move |s| lists::create(s, tenant, &list, &actor))
            .await
    }

    async fn change_list(
        &self,
        tenant: TenantId,
        expected: &List,
        list: &List,
        actor: &Actor,
    ) -> Result<bool> {
        let (expected, list, actor) = (expected.clone(), list.clone(), actor.clone());
        self.write(1, move |s| lists::change(s, tenant, &expected, &list, &actor))
            .await
    }

    async fn delete_list(&self, tenant: TenantId, name: &str, actor: &Actor) -> Result<bool> {
        let (name, actor) = (name.to_owned(), actor.clone());
        self.write(1, move |s| lists::delete(s, tenant, &name, &actor))
            .await
    }

    async fn providers(&self, tenant: TenantId) -> Result<Vec<Provider>> {
        self.read(move |conn| all(conn, sql::providers, [tenant.0], providers::from_row))
            .await
    }

    async fn provider(&self, tenant: TenantId, id: &ProviderId) -> Result<Option<Provider>> {
        let id = id.clone();
        self.read(move |conn| providers::by_id(conn, tenant, &id)).await
    }

    async fn provider_of_lane(&self, lane: LaneId) -> Result<Option<Provider>> {
        self.read(move |conn| Ok(all(conn, sql::provider_of_lane, [lane.0], providers::from_row)?.pop()))
            .await
    }

    async fn all_providers(&self) -> Result<Vec<Provider>> {
        self.read(|conn| all(conn, sql::all_providers, [], providers::from_row))
            .await
    }

    async fn put_provider(
        &self,
        provider: &NewProvider,
        expected_version: Option<i64>,
        actor: &Actor,
    ) -> Result<Provider> {
        let (provider, actor) = (provider.clone(), actor.clone());
        self.write(1, move |s| providers::put(s, &provider, expected_version, &actor))
            .await
    }

    async fn reseal_provider(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        version: i64,
        settings: &serde_json::Map<String, serde_json::Value>,
        secrets: &BTreeMap<String, String>,
    ) -> Result<bool> {
        let (id, settings, secrets) = (id.clone(), rows::json(settings), rows::json(secrets));
        self.write(1, move |s| {
            let resealed = s.conn.prepare_cached(sql::provider_reseal)?.execute(params![
                tenant.0,
                id.as_str(),
                version,
                settings,
                secrets
            ])?;
            if resealed > 0 {
                bump(s)?;
            }
            Ok(resealed > 0)
        })
        .await
    }

    async fn provider_by_callback(&self, hash: &[u8; 32]) -> Result<Option<Provider>> {
        let hash = *hash;
        self.read(move |conn| Ok(all(conn, sql::provider_by_callback, [hash], providers::from_row)?.pop()))
            .await
    }

    async fn put_callback(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        callback: ProviderCallback,
        actor: Option<&Actor>,
    ) -> Result<bool> {
        let (id, actor) = (id.clone(), actor.cloned());
        self.write(1, move |s| {
            providers::put_callback(s, tenant, &id, &callback, actor.as_ref())
        })
        .await
    }

    async fn log_provider_test(&self, test: ProviderTest) -> Result<()> {
        self.write(1, move |s| {
            let entry = Entry {
                status: test.status(),
                target: Some(test.provider.as_str()),
                duration_ms: Some(test.duration_ms),
                code: test.code.as_deref(),
                detail: Some(&test.detail),
                ..Entry::new(test.tenant, AuditKind::ProviderTested, &test.actor)
            };
            audit::insert(s, &entry)
        })
        .await
    }

    async fn delete_provider(&self, tenant: TenantId, id: &ProviderId, actor: &Actor) -> Result<bool> {
        let (id, actor) = (id.clone(), actor.clone());
        self.write(1, move |s| providers::delete(s, tenant, &id, &actor))
            .await
    }

    async fn unrouted_lane(&self, tenant: TenantId, channel: Channel) -> Result<LaneId> {
        let found = self
            .read(move |conn| {
                tenants::must_be_live(conn, tenant)?;
                providers::lane(conn, tenant, "", channel)
            })
            .await?;
        match found {
            Some((lane, _)) => Ok(lane),
            None => {
                self.write(1, move |s| Ok(providers::lane_or_new(s, tenant, "", channel)?.0))
                    .await
            }
        }
    }

    async fn unrouted_channel(&self, lane: LaneId) -> Result<Option<(TenantId, Channel)>> {
        self.read(move |conn| {
            Ok(all(conn, sql::unrouted_channel, [lane.0], |row| {
                let channel = rows::parse("lanes", &row.get::<_, String>(1)?)?;
                Ok((TenantId(row.get(0)?), channel))
            })?
            .pop())
        })
        .await
    }
}

pub(in crate::sqlite) fn version(conn: &rusqlite::Connection) -> Result<i64> {
    let mut statement = conn.prepare_cached(sql::directory_version)?;
    Ok(statement.query_row([], |row| row.get(0))?)
}

/// Every change is seen by the next claim, and written down.
pub(in crate::sqlite) fn changed(
    s: &WriteSession<'_>,
    tenant: TenantId,
    kind: AuditKind,
    actor: &Actor,
    target: &str,
    detail: &str,
) -> Result<()> {
    bump(s)?;
    audit::insert(s, &Entry::of_change(tenant, kind, actor, target, detail))
}

pub(super) fn bump(s: &WriteSession<'_>) -> Result<()> {
    s.conn.prepare_cached(sql::directory_bump)?.execute([])?;
    Ok(())
}

/// A name that is taken is a conflict; everything else a UNIQUE or CHECK says is a refusal.
pub(super) fn conflict(error: rusqlite::Error, taken: impl Fn() -> String) -> Error {
    let unique = error
        .sqlite_error()
        .is_some_and(|e| e.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE);
    if unique {
        Error::Conflict(taken())
    } else {
        error.into()
    }
}

pub(super) fn create_key(s: &mut WriteSession<'_>, key: &NewKey, actor: &Actor) -> Result<ApiKey> {
    let taken = || format!("there is a live key {:?} already", key.name);
    let mut insert = s.conn.prepare_cached(sql::key_create)?;
    let mut made = insert.query(params![
        key.tenant.0,
        key.name,
        key.role.as_str(),
        key.hash,
        s.now.as_millis()
    ])?;
    let row = made.next().map_err(|e| conflict(e, taken))?;
    let made = row.map(api_key).ok_or_else(super::closed)??;
    changed(s, key.tenant, AuditKind::KeyChanged, actor, &key.name, "created")?;
    Ok(made)
}

fn api_key(row: &Row<'_>) -> Result<ApiKey> {
    Ok(ApiKey {
        id: row.get("key_id")?,
        tenant: TenantId(row.get("tenant")?),
        name: row.get("name")?,
        role: rows::parse("api_keys", &row.get::<_, String>("role")?)?,
        created_at: rows::time(row, "created_at")?,
        revoked_at: rows::optional_time(row, "revoked_at")?,
        last_used_at: rows::optional_time(row, "last_used_at")?,
    })
}
