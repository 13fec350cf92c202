//! The [`Sites`] trait on SQLite; what sites tell about calls and writes is in [`calls`],
//! which machine of a pair may attempt what both know in [`lease`].

mod calls;
mod lease;
mod sql;

use crate::{
    Error, Result,
    audit::Entry,
    directory::{NewKey, Role},
    query::Page,
    sites::{
        CONFLICT_OVER, CallFilter, CallPage, Conflict, LeaseQuestion, OtherAgent, PRESENCE_TIMEOUT,
        RELAY_FORGOTTEN, RelayQuestion, Site, SiteAction, SiteMachine, SiteSeen, Sites, database_id,
        in_order, tidy,
    },
    sqlite::{
        SqliteStore, audit,
        directory::create_key,
        rows::{self, all},
        writer::WriteSession,
    },
};
use async_trait::async_trait;
use domain::{
    Actor, AuditKind, SiteId, TenantId,
    pair::LeaseAnswer,
    site::{DatabaseIdentity, Telemetry},
};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

#[async_trait]
impl Sites for SqliteStore {
    async fn register_site(
        &self,
        tenant: TenantId,
        site: &SiteId,
        key_hash: &[u8; 32],
        actor: &Actor,
    ) -> Result<Site> {
        let (site, hash, actor) = (site.clone(), *key_hash, actor.clone());
        self.write(1, move |s| register(s, tenant, &site, hash, &actor))
            .await
    }

    async fn sites(&self, tenant: TenantId) -> Result<Vec<Site>> {
        self.read(move |conn| all(conn, sql::sites_of, [tenant.0], site_row))
            .await
    }

    async fn site(&self, tenant: TenantId, site: &SiteId) -> Result<Option<Site>> {
        let site = site.clone();
        self.read(move |conn| by_id(conn, tenant, &site)).await
    }

    async fn site_machines(&self, tenant: TenantId, site: &SiteId) -> Result<Vec<SiteMachine>> {
        let (site, since) = (site.clone(), self.clock.now() - PRESENCE_TIMEOUT);
        self.read(move |conn| {
            let of = params![tenant.0, site.as_str(), since.as_millis()];
            all(conn, sql::machines_of, of, |row| {
                Ok(SiteMachine {
                    central_node: row.get("central_node")?,
                    turn: row.get::<_, i64>("turn")?.unsigned_abs(),
                })
            })
        })
        .await
    }

    async fn sites_seen(&self, mut seen: Vec<SiteSeen>) -> Result<()> {
        in_order(&mut seen);
        self.write(seen.len(), move |s| {
            for site in &seen {
                s.conn.prepare_cached(sql::site_seen)?.execute(params![
                    site.tenant.0,
                    site.site.as_str(),
                    s.now.as_millis(),
                    site.central_node,
                    site.session.as_bytes(),
                    (s.now - site.connected_for).as_millis(),
                    (s.now - site.silent_for).as_millis(),
                    site.agent_node,
                    site.agent_version,
                    site.peer,
                    site.report,
                    site.agent_buffer.as_bytes(),
                    site.agent_run.as_bytes(),
                    site.turn_kept(),
                    (s.now - PRESENCE_TIMEOUT).as_millis(),
                ])?;
                if let Some(turn) = site.turn_kept() {
                    s.conn.prepare_cached(sql::machine_seen)?.execute(params![
                        site.tenant.0,
                        site.site.as_str(),
                        site.agent_node,
                        site.session.as_bytes(),
                        site.central_node,
                        turn,
                        (s.now - site.silent_for).as_millis(),
                    ])?;
                }
            }
            Ok(())
        })
        .await
    }

    async fn site_left(&self, tenant: TenantId, site: &SiteId, session: Uuid, why: &str) -> Result<()> {
        let (site, why) = (site.clone(), why.to_owned());
        self.write(1, move |s| {
            let params = params![
                tenant.0,
                site.as_str(),
                session.as_bytes(),
                s.now.as_millis(),
                why
            ];
            s.conn.prepare_cached(sql::site_left)?.execute(params)?;
            s.conn.prepare_cached(sql::machine_left)?.execute(params![
                tenant.0,
                site.as_str(),
                session.as_bytes(),
                (s.now - PRESENCE_TIMEOUT).as_millis(),
            ])?;
            Ok(())
        })
        .await
    }

    async fn site_conflict(&self, tenant: TenantId, site: &SiteId, other: OtherAgent) -> Result<bool> {
        let site = site.clone();
        self.write(1, move |s| {
            let params = params![
                tenant.0,
                site.as_str(),
                s.now.as_millis(),
                other.node,
                other.peer,
                other.version,
                i64::try_from(CONFLICT_OVER.as_millis()).unwrap_or(i64::MAX),
            ];
            let is_new = all(s.conn, sql::site_conflict, params, |row| {
                Ok(row.get::<_, bool>(0)?)
            })?;
            let is_new = is_new.first().copied().unwrap_or(false);
            if is_new {
                let (own, words) = (Actor::site(&site), other.in_words());
                let kind = AuditKind::SiteChanged;
                audit::insert(s, &Entry::of_change(tenant, kind, &own, site.as_str(), &words))?;
            }
            Ok(is_new)
        })
        .await
    }

    async fn record_telemetry(&self, tenant: TenantId, site: &SiteId, news: Vec<Telemetry>) -> Result<()> {
        let site = site.clone();
        let news: Vec<Telemetry> = news.into_iter().map(tidy).collect();
        self.write(2 * news.len(), move |s| calls::record(s, tenant, &site, &news))
            .await
    }

    async fn site_calls(&self, tenant: TenantId, filter: &CallFilter, page: Page) -> Result<CallPage> {
        let filter = filter.clone();
        self.read(move |conn| calls::page(conn, tenant, &filter, &page))
            .await
    }

    async fn log_site_action(&self, action: SiteAction) -> Result<()> {
        self.write(1, move |s| calls::log_action(s, &action)).await
    }

    async fn ask_relay(&self, relay: Uuid, node: &str, question: RelayQuestion) -> Result<()> {
        let node = node.to_owned();
        self.write(1, move |s| {
            s.conn.prepare_cached(sql::relay_ask)?.execute(params![
                relay.as_bytes(),
                node,
                question.tenant.0,
                question.site.as_str(),
                question.question,
                s.now.as_millis(),
            ])?;
            Ok(())
        })
        .await
    }

    async fn take_relays(&self, node: &str) -> Result<Vec<(Uuid, RelayQuestion)>> {
        let node = node.to_owned();
        self.write(1, move |s| {
            let forgotten = (s.now - RELAY_FORGOTTEN).as_millis();
            s.conn.prepare_cached(sql::relay_expire)?.execute([forgotten])?;
            all(s.conn, sql::relay_take, [&node], |row| {
                let question = RelayQuestion {
                    tenant: TenantId(row.get("tenant")?),
                    site: SiteId::new(row.get::<_, String>("site")?),
                    question: row.get("question")?,
                };
                Ok((Uuid::from_bytes(row.get("relay")?), question))
            })
        })
        .await
    }

    async fn answer_relay(&self, relay: Uuid, answer: &str) -> Result<()> {
        let answer = answer.to_owned();
        self.write(1, move |s| {
            s.conn
                .prepare_cached(sql::relay_answer)?
                .execute(params![relay.as_bytes(), answer])?;
            Ok(())
        })
        .await
    }

    async fn relay_answered(&self, relay: Uuid) -> Result<Option<String>> {
        self.write(1, move |s| {
            Ok(all(s.conn, sql::relay_answered, [relay.as_bytes()], |row| {
                Ok(row.get(0)?)
            })?
            .pop())
        })
        .await
    }

    async fn database(&self) -> Result<DatabaseIdentity> {
        self.read(|conn| {
            let (id, epoch): (String, String) = conn
                .prepare_cached(sql::database)?
                .query_row([], |row| Ok((row.get("id")?, row.get("epoch")?)))?;
            Ok(DatabaseIdentity {
                id: database_id(&id)?,
                epoch,
            })
        })
        .await
    }

    async fn ask_lease(&self, question: LeaseQuestion) -> Result<LeaseAnswer> {
        self.write(1, move |s| lease::ask(s, &question)).await
    }

    async fn begin_epoch(&self) -> Result<()> {
        self.write(1, |s| {
            let epoch = Uuid::now_v7().simple().to_string();
            s.conn.prepare_cached(sql::begin_epoch)?.execute([epoch])?;
            Ok(())
        })
        .await
    }
}

fn register(
    s: &mut WriteSession<'_>,
    tenant: TenantId,
    site: &SiteId,
    hash: [u8; 32],
    actor: &Actor,
) -> Result<Site> {
    let params = params![tenant.0, site.as_str(), s.now.as_millis()];
    s.conn.prepare_cached(sql::site_put)?.execute(params)?;
    let key = NewKey {
        tenant,
        name: site.to_string(),
        role: Role::Site,
        hash,
    };
    create_key(s, &key, actor)?;
    let kind = AuditKind::SiteChanged;
    audit::insert(
        s,
        &Entry::of_change(tenant, kind, actor, site.as_str(), "registered"),
    )?;
    by_id(s.conn, tenant, site)?.ok_or_else(|| Error::corrupt("sites", "a row just written is gone"))
}

fn by_id(conn: &Connection, tenant: TenantId, site: &SiteId) -> Result<Option<Site>> {
    Ok(all(conn, sql::site, params![tenant.0, site.as_str()], site_row)?.pop())
}

fn site_row(row: &Row<'_>) -> Result<Site> {
    Ok(Site {
        tenant: TenantId(row.get("tenant")?),
        id: SiteId::new(row.get::<_, String>("site")?),
        created_at: rows::time(row, "created_at")?,
        session: row.get::<_, Option<[u8; 16]>>("session")?.map(Uuid::from_bytes),
        central_node: row.get("central_node")?,
        connected_at: rows::optional_time(row, "connected_at")?,
        last_contact_at: rows::optional_time(row, "last_contact_at")?,
        offline_since: rows::optional_time(row, "offline_since")?,
        offline_why: row.get("offline_why")?,
        agent_node: row.get("agent_node")?,
        agent_version: row.get("agent_version")?,
        peer: row.get("peer")?,
        report: row.get("report")?,
        agent_buffer: agent_id(row, "agent_buffer")?,
        agent_run: agent_id(row, "agent_run")?,
        conflict: conflict(row)?,
    })
}

/// Nil means that the agent did not say.
fn agent_id(row: &Row<'_>, column: &str) -> Result<Option<Uuid>> {
    let id = row.get::<_, Option<[u8; 16]>>(column)?.map(Uuid::from_bytes);
    Ok(id.filter(|id| !id.is_nil()))
}

fn conflict(row: &Row<'_>) -> Result<Option<Conflict>> {
    let Some(at) = rows::optional_time(row, "conflict_at")? else {
        return Ok(None);
    };
    let text = |column| Ok::<_, Error>(row.get::<_, Option<String>>(column)?.unwrap_or_default());
    Ok(Some(Conflict {
        other: OtherAgent {
            node: text("conflict_node")?,
            peer: text("conflict_peer")?,
            version: text("conflict_version")?,
        },
        since: rows::optional_time(row, "conflict_since")?.unwrap_or(at),
        at,
    }))
}
