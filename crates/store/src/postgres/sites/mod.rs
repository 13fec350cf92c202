//! The [`Sites`] trait on PostgreSQL; what sites tell about calls and writes is in [`calls`],
//! which machine of a pair may attempt what both know in [`lease`].

mod calls;
mod lease;
mod sql;

use crate::{
    Error, Result,
    directory::{NewKey, Role},
    postgres::{
        PgStore,
        audit::without_nul,
        directory::{log, make_key},
        failed::Failed,
        rows,
        session::{Db, Session},
        types::millis,
    },
    query::Page,
    sites::{
        CONFLICT_OVER, CallFilter, CallPage, Conflict, LeaseQuestion, OtherAgent, PRESENCE_TIMEOUT,
        RELAY_FORGOTTEN, RelayQuestion, Site, SiteAction, SiteMachine, SiteSeen, Sites, database_id,
        in_order,
    },
};
use async_trait::async_trait;
use domain::{
    Actor, AuditKind, SiteId, TenantId,
    pair::LeaseAnswer,
    site::{DatabaseIdentity, Telemetry},
};
use tokio_postgres::Row;
use uuid::Uuid;

#[async_trait]
impl Sites for PgStore {
    async fn register_site(
        &self,
        tenant: TenantId,
        site: &SiteId,
        key_hash: &[u8; 32],
        actor: &Actor,
    ) -> Result<Site> {
        register(&self.db, tenant, site, *key_hash, actor)
            .await
            .map_err(Failed::while_committing)
    }

    async fn sites(&self, tenant: TenantId) -> Result<Vec<Site>> {
        let session = self.db.general().await?;
        let found = session.rows(sql::sites_of, &[&tenant.0]).await?;
        Ok(found.iter().map(site_row).collect())
    }

    async fn site(&self, tenant: TenantId, site: &SiteId) -> Result<Option<Site>> {
        let session = self.db.general().await?;
        let found = session.opt(sql::site, &[&tenant.0, &site.as_str()]).await?;
        Ok(found.as_ref().map(site_row))
    }

    async fn site_machines(&self, tenant: TenantId, site: &SiteId) -> Result<Vec<SiteMachine>> {
        let session = self.db.general().await?;
        let found = session
            .rows(
                sql::machines_of,
                &[
                    &self.db.now(),
                    &tenant.0,
                    &site.as_str(),
                    &millis(PRESENCE_TIMEOUT),
                ],
            )
            .await?;
        let machine = |row: &Row| SiteMachine {
            central_node: row.get("central_node"),
            turn: row.get::<_, i64>("turn").unsigned_abs(),
        };
        Ok(found.iter().map(machine).collect())
    }

    async fn sites_seen(&self, seen: Vec<SiteSeen>) -> Result<()> {
        write_seen(&self.db, seen).await.map_err(Failed::while_committing)
    }

    async fn site_left(&self, tenant: TenantId, site: &SiteId, session: Uuid, why: &str) -> Result<()> {
        let conn = self.db.general().await?;
        let why = without_nul(why);
        conn.exec(
            sql::site_left,
            &[&self.db.now(), &tenant.0, &site.as_str(), &session, &why.as_ref()],
        )
        .await
        .map_err(Failed::while_committing)?;
        conn.exec(
            sql::machine_left,
            &[
                &self.db.now(),
                &tenant.0,
                &site.as_str(),
                &session,
                &millis(PRESENCE_TIMEOUT),
            ],
        )
        .await
        .map_err(Failed::while_committing)?;
        Ok(())
    }

    async fn site_conflict(&self, tenant: TenantId, site: &SiteId, other: OtherAgent) -> Result<bool> {
        write_conflict(&self.db, tenant, site, &other)
            .await
            .map_err(Failed::while_committing)
    }

    async fn record_telemetry(&self, tenant: TenantId, site: &SiteId, news: Vec<Telemetry>) -> Result<()> {
        calls::record(&self.db, tenant, site, news)
            .await
            .map_err(Failed::while_committing)
    }

    async fn site_calls(&self, tenant: TenantId, filter: &CallFilter, page: Page) -> Result<CallPage> {
        Ok(calls::page(&self.db, tenant, filter, &page).await?)
    }

    async fn log_site_action(&self, action: SiteAction) -> Result<()> {
        calls::log_action(&self.db, &action)
            .await
            .map_err(Failed::while_committing)
    }

    async fn ask_relay(&self, relay: Uuid, node: &str, question: RelayQuestion) -> Result<()> {
        let session = self.db.general().await?;
        let text = without_nul(&question.question);
        let (tenant, site) = (question.tenant.0, question.site.as_str());
        session
            .exec(
                sql::relay_ask,
                &[&self.db.now(), &relay, &node, &tenant, &site, &text.as_ref()],
            )
            .await
            .map_err(Failed::while_committing)?;
        Ok(())
    }

    async fn take_relays(&self, node: &str) -> Result<Vec<(Uuid, RelayQuestion)>> {
        let session = self.db.general().await?;
        let forgotten = millis(RELAY_FORGOTTEN);
        session
            .exec(sql::relay_expire, &[&self.db.now(), &forgotten])
            .await?;
        let taken = session.rows(sql::relay_take, &[&node]).await?;
        let question = |row: &Row| {
            let question = RelayQuestion {
                tenant: TenantId(row.get("tenant")),
                site: SiteId::new(row.get::<_, &str>("site")),
                question: row.get("question"),
            };
            (row.get("relay"), question)
        };
        Ok(taken.iter().map(question).collect())
    }

    async fn answer_relay(&self, relay: Uuid, answer: &str) -> Result<()> {
        let session = self.db.general().await?;
        let answer = without_nul(answer);
        session
            .exec(sql::relay_answer, &[&relay, &answer.as_ref()])
            .await?;
        Ok(())
    }

    async fn relay_answered(&self, relay: Uuid) -> Result<Option<String>> {
        let session = self.db.general().await?;
        let answer = session.opt(sql::relay_answered, &[&relay]).await?;
        Ok(answer.map(|row| row.get(0)))
    }

    async fn database(&self) -> Result<DatabaseIdentity> {
        let session = self.db.general().await?;
        let row = session.one(sql::database, &[]).await?;
        Ok(DatabaseIdentity {
            id: database_id(row.get("id"))?,
            epoch: row.get("epoch"),
        })
    }

    async fn ask_lease(&self, question: LeaseQuestion) -> Result<LeaseAnswer> {
        lease::ask(&self.db, &question)
            .await
            .map_err(Failed::while_committing)
    }

    /// The server itself says when it is another one.
    async fn begin_epoch(&self) -> Result<()> {
        Ok(())
    }
}

async fn register(
    db: &Db,
    tenant: TenantId,
    site: &SiteId,
    hash: [u8; 32],
    actor: &Actor,
) -> Result<Site, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    tx.exec(sql::site_put, &[&db.now(), &tenant.0, &site.as_str()])
        .await?;
    let key = NewKey {
        tenant,
        name: site.to_string(),
        role: Role::Site,
        hash,
    };
    make_key(db, &tx, &key, actor).await?;
    log(
        db,
        &tx,
        tenant,
        AuditKind::SiteChanged,
        actor,
        site.as_str(),
        "registered",
    )
    .await?;
    let made = tx.opt(sql::site, &[&tenant.0, &site.as_str()]).await?;
    let made = made.ok_or_else(|| Error::corrupt("sites", "a row just written is gone"))?;
    let made = site_row(&made);
    tx.commit().await?;
    Ok(made)
}

async fn write_seen(db: &Db, mut seen: Vec<SiteSeen>) -> Result<(), Failed> {
    in_order(&mut seen);
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    for site in &seen {
        let (node, version) = (without_nul(&site.agent_node), without_nul(&site.agent_version));
        let report = site.report.as_deref().map(without_nul);
        tx.exec(
            sql::site_seen,
            &[
                &db.now(),
                &site.tenant.0,
                &site.site.as_str(),
                &site.central_node,
                &site.session,
                &millis(site.connected_for),
                &millis(site.silent_for),
                &node.as_ref(),
                &version.as_ref(),
                &site.peer,
                &report.as_deref(),
                &site.agent_buffer,
                &site.agent_run,
                &site.turn_kept(),
                &millis(PRESENCE_TIMEOUT),
            ],
        )
        .await?;
        if let Some(turn) = site.turn_kept() {
            tx.exec(
                sql::machine_seen,
                &[
                    &db.now(),
                    &site.tenant.0,
                    &site.site.as_str(),
                    &node.as_ref(),
                    &site.session,
                    &site.central_node,
                    &turn,
                    &millis(site.silent_for),
                ],
            )
            .await?;
        }
    }
    tx.commit().await
}

async fn write_conflict(
    db: &Db,
    tenant: TenantId,
    site: &SiteId,
    other: &OtherAgent,
) -> Result<bool, Failed> {
    let (node, peer, version) = (
        without_nul(&other.node),
        without_nul(&other.peer),
        without_nul(&other.version),
    );
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let written = tx
        .opt(
            sql::site_conflict,
            &[
                &db.now(),
                &tenant.0,
                &site.as_str(),
                &node.as_ref(),
                &peer.as_ref(),
                &version.as_ref(),
                &millis(CONFLICT_OVER),
            ],
        )
        .await?;
    let is_new = written.is_some_and(|row| row.get("is_new"));
    if is_new {
        let (own, words) = (Actor::site(site), other.in_words());
        let words = without_nul(&words);
        log(
            db,
            &tx,
            tenant,
            AuditKind::SiteChanged,
            &own,
            site.as_str(),
            &words,
        )
        .await?;
    }
    tx.commit().await?;
    Ok(is_new)
}

fn conflict(row: &Row) -> Option<Conflict> {
    let at = rows::time_opt(row, "conflict_at")?;
    let text = |column| row.get::<_, Option<String>>(column).unwrap_or_default();
    Some(Conflict {
        other: OtherAgent {
            node: text("conflict_node"),
            peer: text("conflict_peer"),
            version: text("conflict_version"),
        },
        since: rows::time_opt(row, "conflict_since").unwrap_or(at),
        at,
    })
}

/// Nil means that the agent did not say.
fn agent_id(row: &Row, column: &str) -> Option<Uuid> {
    row.get::<_, Option<Uuid>>(column).filter(|id| !id.is_nil())
}

fn site_row(row: &Row) -> Site {
    Site {
        tenant: TenantId(row.get("tenant")),
        id: SiteId::new(row.get::<_, &str>("site")),
        created_at: rows::time(row, "created_at"),
        session: row.get("session"),
        central_node: row.get("central_node"),
        connected_at: rows::time_opt(row, "connected_at"),
        last_contact_at: rows::time_opt(row, "last_contact_at"),
        offline_since: rows::time_opt(row, "offline_since"),
        offline_why: row.get("offline_why"),
        agent_node: row.get("agent_node"),
        agent_version: row.get("agent_version"),
        peer: row.get("peer"),
        report: row.get("report"),
        agent_buffer: agent_id(row, "agent_buffer"),
        agent_run: agent_id(row, "agent_run"),
        conflict: conflict(row),
    }
}
