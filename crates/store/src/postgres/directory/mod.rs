//! The [`Directory`] trait on PostgreSQL: keys here, tenants in [`tenants`], lists in [`lists`],
//! providers in [`providers`].
//!
//! Always true: a change first raises the directory version, whose row lock keeps changes one after the other; so what
//! is looked up after it stays true until the commit.

mod lists;
mod providers;
mod sql;
mod tenants;

pub(super) use tenants::must_be_live;

use crate::{
    Error, Result,
    audit::Entry,
    directory::{
        ApiKey, Directory, List, NewKey, NewProvider, Provider, ProviderTest, Tenant, TenantDeletion,
        TenantUse,
    },
    postgres::{
        PgStore, audit,
        failed::Failed,
        rows,
        session::{Db, Session, Tx},
    },
    receipts::ProviderCallback,
};
use async_trait::async_trait;
use domain::{Actor, AuditKind, Channel, LaneId, ProviderId, TenantId};
use std::collections::BTreeMap;
use tokio_postgres::Row;

#[async_trait]
impl Directory for PgStore {
    async fn directory_version(&self) -> Result<i64> {
        let session = self.db.general().await?;
        Ok(session.one(sql::directory_version, &[]).await?.get(0))
    }

    async fn create_tenant(&self, name: &str, actor: &Actor) -> Result<Tenant> {
        tenants::create(&self.db, name, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn tenants(&self) -> Result<Vec<Tenant>> {
        let session = self.db.general().await?;
        Ok(session
            .rows(sql::tenants, &[])
            .await?
            .iter()
            .map(tenants::from_row)
            .collect())
    }

    async fn tenant_by_name(&self, name: &str) -> Result<Option<Tenant>> {
        let session = self.db.general().await?;
        Ok(session
            .opt(sql::tenant_by_name, &[&name])
            .await?
            .as_ref()
            .map(tenants::from_row))
    }

    async fn delete_tenant(&self, tenant: TenantId, actor: &Actor) -> Result<TenantDeletion> {
        tenants::delete(&self.db, tenant, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn tenant_use(&self, tenant: TenantId) -> Result<TenantUse> {
        Ok(tenants::hangs(&self.db.general().await?, tenant).await?)
    }

    async fn create_key(&self, key: NewKey, actor: &Actor) -> Result<ApiKey> {
        create_key(&self.db, &key, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn keys(&self, tenant: TenantId) -> Result<Vec<ApiKey>> {
        let session = self.db.general().await?;
        session
            .rows(sql::keys, &[&tenant.0])
            .await?
            .iter()
            .map(api_key)
            .collect()
    }

    async fn revoke_key(&self, tenant: TenantId, id: i64, actor: &Actor) -> Result<bool> {
        revoke_key(&self.db, tenant, id, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<ApiKey>> {
        let session = self.db.general().await?;
        let found = session.opt(sql::key_by_hash, &[&hash.as_slice()]).await?;
        found.as_ref().map(api_key).transpose()
    }

    async fn key_used(&self, id: i64) -> Result<()> {
        let session = self.db.general().await?;
        session.exec(sql::key_used, &[&self.db.now(), &id]).await?;
        Ok(())
    }

    async fn lists(&self, tenant: TenantId) -> Result<Vec<List>> {
        let session = self.db.general().await?;
        session
            .rows(sql::lists, &[&tenant.0])
            .await?
            .iter()
            .map(lists::from_row)
            .collect()
    }

    async fn list_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<List>> {
        let session = self.db.general().await?;
        let found = session.opt(sql::list_by_name, &[&tenant.0, &name]).await?;
        found.as_ref().map(lists::from_row).transpose()
    }

    async fn put_list(&self, tenant: TenantId, list: &List, actor: &Actor) -> Result<()> {
        lists::put(&self.db, tenant, list, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn create_list(&self, tenant: TenantId, list: &List, actor: &Actor) -> Result<bool> {
        lists::create(&self.db, tenant, list, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn change_list(
        &self,
        tenant: TenantId,
        expected: &List,
        list: &List,
        actor: &Actor,
    ) -> Result<bool> {
        lists::change(&self.db, tenant, expected, list, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn delete_list(&self, tenant: TenantId, name: &str, actor: &Actor) -> Result<bool> {
        lists::delete(&self.db, tenant, name, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn providers(&self, tenant: TenantId) -> Result<Vec<Provider>> {
        let session = self.db.general().await?;
        let found = session.rows(sql::providers, &[&tenant.0]).await?;
        found.iter().map(providers::from_row).collect()
    }

    async fn provider(&self, tenant: TenantId, id: &ProviderId) -> Result<Option<Provider>> {
        let session = self.db.general().await?;
        Ok(providers::by_id(&session, tenant, id).await?)
    }

    async fn provider_of_lane(&self, lane: LaneId) -> Result<Option<Provider>> {
        let session = self.db.general().await?;
        let found = session.opt(sql::provider_of_lane, &[&lane.0]).await?;
        found.as_ref().map(providers::from_row).transpose()
    }

    async fn all_providers(&self) -> Result<Vec<Provider>> {
        let session = self.db.general().await?;
        let found = session.rows(sql::all_providers, &[]).await?;
        found.iter().map(providers::from_row).collect()
    }

    async fn put_provider(
        &self,
        provider: &NewProvider,
        expected_version: Option<i64>,
        actor: &Actor,
    ) -> Result<Provider> {
        providers::put(&self.db, provider, expected_version, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn reseal_provider(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        version: i64,
        settings: &serde_json::Map<String, serde_json::Value>,
        secrets: &BTreeMap<String, String>,
    ) -> Result<bool> {
        providers::reseal(&self.db, tenant, id, version, settings, secrets)
            .await
            .map_err(Failed::while_committing)
    }

    async fn provider_by_callback(&self, hash: &[u8; 32]) -> Result<Option<Provider>> {
        let session = self.db.general().await?;
        let found = session
            .opt(sql::provider_by_callback, &[&hash.as_slice()])
            .await?;
        found.as_ref().map(providers::from_row).transpose()
    }

    async fn put_callback(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        callback: ProviderCallback,
        actor: Option<&Actor>,
    ) -> Result<bool> {
        providers::put_callback(&self.db, tenant, id, &callback, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn log_provider_test(&self, test: ProviderTest) -> Result<()> {
        let session = self.db.general().await?;
        let entry = Entry {
            status: test.status(),
            target: Some(test.provider.as_str()),
            duration_ms: Some(test.duration_ms),
            code: test.code.as_deref(),
            detail: Some(&test.detail),
            ..Entry::new(test.tenant, AuditKind::ProviderTested, &test.actor)
        };
        Ok(audit::insert(&self.db, &session, [entry]).await?)
    }

    async fn delete_provider(&self, tenant: TenantId, id: &ProviderId, actor: &Actor) -> Result<bool> {
        providers::delete(&self.db, tenant, id, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn unrouted_lane(&self, tenant: TenantId, channel: Channel) -> Result<LaneId> {
        let session = self.db.general().await?;
        tenants::must_be_live(&session, tenant).await?;
        Ok(providers::lane(&session, tenant, "", channel).await?.0)
    }

    async fn unrouted_channel(&self, lane: LaneId) -> Result<Option<(TenantId, Channel)>> {
        let session = self.db.general().await?;
        let found = session.opt(sql::unrouted_channel, &[&lane.0]).await?;
        found
            .map(|row| Ok((TenantId(row.get(0)), rows::parsed("lanes", row.get(1))?)))
            .transpose()
    }
}

async fn create_key(db: &Db, key: &NewKey, actor: &Actor) -> Result<ApiKey, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let made = make_key(db, &tx, key, actor).await?;
    tx.commit().await?;
    Ok(made)
}

pub(super) async fn make_key(db: &Db, tx: &Tx<'_>, key: &NewKey, actor: &Actor) -> Result<ApiKey, Failed> {
    bump(tx).await?;
    let hash = key.hash.as_slice();
    let made = tx
        .opt(
            sql::key_create,
            &[&db.now(), &key.tenant.0, &key.name, &key.role.as_str(), &hash],
        )
        .await?;
    let made = made.ok_or_else(|| Error::Conflict(format!("there is a live key {:?} already", key.name)))?;
    let made = api_key(&made)?;
    log(
        db,
        tx,
        key.tenant,
        AuditKind::KeyChanged,
        actor,
        &key.name,
        "created",
    )
    .await?;
    Ok(made)
}

async fn revoke_key(db: &Db, tenant: TenantId, id: i64, actor: &Actor) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    bump(&tx).await?;
    let Some(row) = tx.opt(sql::key_revoke, &[&db.now(), &tenant.0, &id]).await? else {
        return Ok(false);
    };
    log(
        db,
        &tx,
        tenant,
        AuditKind::KeyChanged,
        actor,
        row.get(0),
        "revoked",
    )
    .await?;
    tx.commit().await?;
    Ok(true)
}

/// Every change is seen by the next claim.
pub(in crate::postgres) async fn bump(tx: &Tx<'_>) -> Result<(), Failed> {
    tx.exec(sql::directory_bump, &[]).await?;
    Ok(())
}

pub(in crate::postgres) async fn log(
    db: &Db,
    tx: &Tx<'_>,
    tenant: TenantId,
    kind: AuditKind,
    actor: &Actor,
    target: &str,
    detail: &str,
) -> Result<(), Failed> {
    let entry = Entry::of_change(tenant, kind, actor, target, detail);
    audit::insert(db, tx, [entry]).await
}

fn api_key(row: &Row) -> Result<ApiKey> {
    Ok(ApiKey {
        id: row.get("key_id"),
        tenant: TenantId(row.get("tenant")),
        name: row.get("name"),
        role: rows::parsed("api_keys", row.get("role"))?,
        created_at: rows::time(row, "created_at"),
        revoked_at: rows::time_opt(row, "revoked_at"),
        last_used_at: rows::time_opt(row, "last_used_at"),
    })
}
