//! The [`Suppressions`] trait on SQLite.

mod sql;

use super::{
    SqliteStore, audit,
    directory::{bump, must_be_live},
    rows::{self, all},
    writer::WriteSession,
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
use rusqlite::{OptionalExtension, Row, params};

const TABLE: &str = "suppressions";

#[async_trait]
impl Suppressions for SqliteStore {
    async fn suppressions(
        &self,
        tenant: TenantId,
        filter: &SuppressionFilter,
        page: Page,
    ) -> Result<SuppressionPage> {
        let address = filter.address.as_deref().map(compared);
        let channel = filter.channel.map(|channel| channel.as_str());
        self.read(move |conn| {
            let before = page.after.map(|after| after.seq);
            let params = params![tenant.0, address, channel, before, i64::from(page.limit) + 1];
            Ok(SuppressionPage::of(
                all(conn, sql::suppressions, params, entry)?,
                page.limit,
            ))
        })
        .await
    }

    async fn suppress(
        &self,
        tenant: TenantId,
        entry: &NewSuppression,
        actor: &Actor,
    ) -> Result<(Suppression, bool)> {
        let (entry, actor) = (entry.clone(), actor.clone());
        self.write(1, move |s| suppress(s, tenant, &entry, &actor)).await
    }

    async fn suppress_as_told(
        &self,
        tenant: TenantId,
        entry: &NewSuppression,
        sent_at: Timestamp,
    ) -> Result<bool> {
        let entry = entry.clone();
        self.write(1, move |s| as_told(s, tenant, &entry, sent_at)).await
    }

    async fn unsuppress(&self, tenant: TenantId, id: i64, actor: &Actor) -> Result<bool> {
        let actor = actor.clone();
        self.write(1, move |s| unsuppress(s, tenant, id, &actor)).await
    }

    async fn suppressing_tenants(&self) -> Result<Vec<TenantId>> {
        self.read(|conn| {
            all(conn, sql::suppressing_tenants, [], |row| {
                Ok(TenantId(row.get(0)?))
            })
        })
        .await
    }

    async fn suppressed(&self, asked: &[(TenantId, String)]) -> Result<Vec<(TenantId, Suppression)>> {
        let asked: Vec<_> = asked
            .iter()
            .map(|(tenant, address)| (tenant.0, address))
            .collect();
        let asked = rows::json(&asked);
        self.read(move |conn| {
            all(conn, sql::suppressed, [asked], |row| {
                Ok((TenantId(row.get("tenant")?), entry(row)?))
            })
        })
        .await
    }
}

/// What a provider said about a message of that time, as a part of somebody's transaction.
pub(super) fn as_told(
    s: &mut WriteSession<'_>,
    tenant: TenantId,
    entry: &NewSuppression,
    sent_at: Timestamp,
) -> Result<bool> {
    let lifted: bool = s.conn.prepare_cached(sql::suppression_was_lifted)?.query_row(
        params![tenant.0, compared(&entry.address), sent_at.as_millis()],
        |row| row.get(0),
    )?;
    Ok(!lifted && suppress(s, tenant, entry, &Actor::system())?.1)
}

fn suppress(
    s: &mut WriteSession<'_>,
    tenant: TenantId,
    new: &NewSuppression,
    actor: &Actor,
) -> Result<(Suppression, bool)> {
    must_be_live(s.conn, tenant)?;
    let first: bool = s
        .conn
        .prepare_cached(sql::suppression_is_first)?
        .query_row([tenant.0], |row| row.get(0))?;
    if first {
        bump(s)?;
    }
    let (channel, topic) = columns(new);
    let key = compared(&new.address);
    let made = s.conn.prepare_cached(sql::suppress)?.execute(params![
        tenant.0,
        key,
        new.address,
        channel,
        topic,
        new.reason,
        new.source.as_str(),
        s.now.as_millis(),
        actor.as_str(),
    ])?;
    if made > 0 {
        let detail = of_suppression("put on", new.channel, new.topic.as_deref());
        log(s, tenant, actor, &new.address, &detail)?;
    }
    let found = all(
        s.conn,
        sql::suppression_find,
        params![tenant.0, key, channel, topic],
        entry,
    )?
    .pop();
    let found = found.ok_or_else(|| Error::corrupt(TABLE, "a row just written is gone"))?;
    Ok((found, made > 0))
}

fn unsuppress(s: &WriteSession<'_>, tenant: TenantId, id: i64, actor: &Actor) -> Result<bool> {
    let gone = s
        .conn
        .prepare_cached(sql::unsuppress)?
        .query_row(params![tenant.0, id], |row| {
            Ok((
                row.get::<_, String>("address")?,
                row.get::<_, String>("address_key")?,
                row.get::<_, String>("channel")?,
                row.get::<_, String>("topic")?,
            ))
        })
        .optional()?;
    let Some((address, key, channel, topic)) = gone else {
        return Ok(false);
    };
    s.conn
        .prepare_cached(sql::suppression_lifted)?
        .execute(params![tenant.0, key, s.now.as_millis()])?;
    let (channel, topic) = (
        channel.parse().ok(),
        Some(topic).filter(|topic| !topic.is_empty()),
    );
    let detail = of_suppression("taken off", channel, topic.as_deref());
    log(s, tenant, actor, &address, &detail)?;
    Ok(true)
}

fn log(s: &WriteSession<'_>, tenant: TenantId, actor: &Actor, address: &str, detail: &str) -> Result<()> {
    audit::insert(
        s,
        &Entry::of_change(tenant, AuditKind::SuppressionChanged, actor, address, detail),
    )
}

fn entry(row: &Row<'_>) -> Result<Suppression> {
    let text = |column: &str| row.get::<_, String>(column);
    let (channel, topic) = (text("channel")?, text("topic")?);
    Ok(Suppression {
        id: row.get("suppression_id")?,
        entry: NewSuppression {
            address: text("address")?,
            channel: match channel.is_empty() {
                true => None,
                false => Some(rows::parse(TABLE, &channel)?),
            },
            topic: Some(topic).filter(|topic| !topic.is_empty()),
            reason: text("reason")?,
            source: rows::parse(TABLE, &text("source")?)?,
        },
        created_at: rows::time(row, "created_at")?,
        created_by: Actor::new(text("created_by")?),
    })
}
