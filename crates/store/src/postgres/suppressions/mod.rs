//! The [`Suppressions`] trait on PostgreSQL.

mod sql;

use super::{
    PgStore, audit,
    directory::{bump, must_be_live},
    failed::Failed,
    rows,
    session::{Db, Session, Tx},
    types::At,
};
use crate::{
    Error, Result,
    audit::{Entry, fields::of_suppression},
    query::Page,
    suppressions::{SuppressionFilter, SuppressionPage, Suppressions, columns},
};
use async_trait::async_trait;
use domain::{
    Actor, AuditKind, TenantId, Timestamp,
    suppression::{NewSuppression, Suppression, compared},
};
use tokio_postgres::Row;

const TABLE: &str = "suppressions";

#[async_trait]
impl Suppressions for PgStore {
    async fn suppressions(
        &self,
        tenant: TenantId,
        filter: &SuppressionFilter,
        page: Page,
    ) -> Result<SuppressionPage> {
        let (address, channel) = (
            filter.address.as_deref().map(compared),
            filter.channel.map(|c| c.as_str()),
        );
        let (before, limit) = (page.after.map(|after| after.seq), i64::from(page.limit) + 1);
        let session = self.db.general().await?;
        let found = session
            .rows(
                sql::suppressions,
                &[&tenant.0, &address, &channel, &before, &limit],
            )
            .await?;
        let rows: Result<Vec<_>> = found.iter().map(entry).collect();
        Ok(SuppressionPage::of(rows?, page.limit))
    }

    async fn suppress(
        &self,
        tenant: TenantId,
        entry: &NewSuppression,
        actor: &Actor,
    ) -> Result<(Suppression, bool)> {
        suppress(&self.db, tenant, entry, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn suppress_as_told(
        &self,
        tenant: TenantId,
        entry: &NewSuppression,
        sent_at: Timestamp,
    ) -> Result<bool> {
        told(&self.db, tenant, entry, sent_at)
            .await
            .map_err(Failed::while_committing)
    }

    async fn unsuppress(&self, tenant: TenantId, id: i64, actor: &Actor) -> Result<bool> {
        unsuppress(&self.db, tenant, id, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn suppressing_tenants(&self) -> Result<Vec<TenantId>> {
        let session = self.db.general().await?;
        let found = session.rows(sql::suppressing_tenants, &[]).await?;
        Ok(found.iter().map(|row| TenantId(row.get(0))).collect())
    }

    async fn suppressed(&self, asked: &[(TenantId, String)]) -> Result<Vec<(TenantId, Suppression)>> {
        let tenants: Vec<i32> = asked.iter().map(|(tenant, _)| tenant.0).collect();
        let addresses: Vec<&str> = asked.iter().map(|(_, address)| address.as_str()).collect();
        let session = self.db.general().await?;
        let found = session.rows(sql::suppressed, &[&tenants, &addresses]).await?;
        let with_tenant = |row: &Row| Ok((TenantId(row.get("tenant")), entry(row)?));
        found.iter().map(with_tenant).collect()
    }
}

async fn suppress(
    db: &Db,
    tenant: TenantId,
    new: &NewSuppression,
    actor: &Actor,
) -> Result<(Suppression, bool), Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let added = suppress_in(db, &tx, tenant, new, actor).await?;
    tx.commit().await?;
    Ok(added)
}

async fn told(db: &Db, tenant: TenantId, entry: &NewSuppression, sent_at: Timestamp) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let added = as_told(db, &tx, tenant, entry, sent_at).await?;
    tx.commit().await?;
    Ok(added)
}

/// What a provider said about a message of that time, as a part of somebody's transaction.
pub(super) async fn as_told(
    db: &Db,
    tx: &Tx<'_>,
    tenant: TenantId,
    entry: &NewSuppression,
    sent_at: Timestamp,
) -> Result<bool, Failed> {
    let key = compared(&entry.address);
    let lifted = tx
        .one(sql::suppression_was_lifted, &[&tenant.0, &key, &At(sent_at)])
        .await?;
    match lifted.get(0) {
        true => Ok(false),
        false => Ok(suppress_in(db, tx, tenant, entry, &Actor::system()).await?.1),
    }
}

async fn suppress_in(
    db: &Db,
    tx: &Tx<'_>,
    tenant: TenantId,
    new: &NewSuppression,
    actor: &Actor,
) -> Result<(Suppression, bool), Failed> {
    let (channel, topic) = columns(new);
    let key = compared(&new.address);
    must_be_live(tx, tenant).await?;
    if tx.one(sql::suppression_is_first, &[&tenant.0]).await?.get(0) {
        bump(tx).await?;
    }
    let (source, by) = (new.source.as_str(), actor.as_str());
    let made = tx
        .exec(
            sql::suppress,
            &[
                &db.now(),
                &tenant.0,
                &key,
                &new.address,
                &channel,
                &topic,
                &new.reason,
                &source,
                &by,
            ],
        )
        .await?;
    if made > 0 {
        let detail = of_suppression("put on", new.channel, new.topic.as_deref());
        let put_on = Entry::of_change(
            tenant,
            AuditKind::SuppressionChanged,
            actor,
            &new.address,
            &detail,
        );
        audit::insert(db, tx, [put_on]).await?;
    }
    let found = tx
        .opt(sql::suppression_find, &[&tenant.0, &key, &channel, &topic])
        .await?;
    let found = found.ok_or_else(|| Error::corrupt(TABLE, "a row just written is gone"))?;
    let found = entry(&found)?;
    Ok((found, made > 0))
}

async fn unsuppress(db: &Db, tenant: TenantId, id: i64, actor: &Actor) -> Result<bool, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let Some(row) = tx.opt(sql::unsuppress, &[&tenant.0, &id]).await? else {
        return Ok(false);
    };
    let key: &str = row.get("address_key");
    tx.exec(sql::suppression_lifted, &[&db.now(), &tenant.0, &key])
        .await?;
    let (channel, topic): (&str, &str) = (row.get("channel"), row.get("topic"));
    let topic = Some(topic).filter(|topic| !topic.is_empty());
    let detail = of_suppression("taken off", channel.parse().ok(), topic);
    let taken_off = Entry::of_change(
        tenant,
        AuditKind::SuppressionChanged,
        actor,
        row.get("address"),
        &detail,
    );
    audit::insert(db, &tx, [taken_off]).await?;
    tx.commit().await?;
    Ok(true)
}

fn entry(row: &Row) -> Result<Suppression> {
    let channel = Some(row.get::<_, &str>("channel")).filter(|channel| !channel.is_empty());
    let channel = channel.map(|channel| rows::parsed(TABLE, channel)).transpose()?;
    let source = rows::parsed(TABLE, row.get("source"))?;
    Ok(Suppression {
        id: row.get("suppression_id"),
        created_at: rows::time(row, "created_at"),
        created_by: Actor::new(row.get::<_, &str>("created_by")),
        entry: NewSuppression {
            source,
            channel,
            address: row.get("address"),
            topic: Some(row.get("topic")).filter(|topic: &String| !topic.is_empty()),
            reason: row.get("reason"),
        },
    })
}
