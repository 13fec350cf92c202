//! The [`Queries`] trait on SQLite: single notifications and figures here, pages in [`list`] and
//! [`super::audit`].

mod list;
pub(super) mod notification;
mod sql;

use crate::{
    Queries, Result,
    outbox::Lane,
    query::{AuditFilter, AuditPage, AuditRow, Filter, KpiAsk, Listed, Notification, Page, SCAN_BOUND},
    sqlite::{
        SqliteStore, audit,
        rows::{self, all},
    },
};
use async_trait::async_trait;
use domain::{
    LaneId, NotificationId, TenantId, Timestamp,
    kpi::{BUCKET, Kpis},
};
use rusqlite::{Connection, Row, params};
use std::collections::BTreeMap;

#[async_trait]
impl Queries for SqliteStore {
    async fn get(&self, tenant: TenantId, id: NotificationId) -> Result<Option<Notification>> {
        self.read(move |conn| notification::get(conn, tenant, id)).await
    }

    async fn list(&self, tenant: TenantId, filter: &Filter, page: Page) -> Result<Listed> {
        let (filter, now) = (filter.clone(), self.clock.now());
        self.read(move |conn| list::list(conn, tenant, &filter, &page, now))
            .await
    }

    async fn attempts(&self, tenant: TenantId, id: NotificationId) -> Result<Option<Vec<AuditRow>>> {
        self.read(move |conn| audit::attempts(conn, tenant, id)).await
    }

    async fn audit(&self, tenant: TenantId, filter: &AuditFilter, page: Page) -> Result<AuditPage> {
        let filter = filter.clone();
        self.read(move |conn| audit::page(conn, tenant, &filter, &page))
            .await
    }

    async fn kpis(&self, tenant: Option<TenantId>, ask: KpiAsk) -> Result<Kpis> {
        let now = self.clock.now();
        self.read(move |conn| kpis(conn, tenant, ask, now)).await
    }

    async fn kpis_by_site(&self, tenant: TenantId, ask: KpiAsk) -> Result<Vec<(String, Kpis)>> {
        let now = self.clock.now();
        self.read(move |conn| kpis_by_site(conn, tenant, ask, now)).await
    }

    async fn lanes(&self, tenant: TenantId) -> Result<Vec<Lane>> {
        self.read(move |conn| {
            all(conn, sql::lanes_of, params![tenant.0, SCAN_BOUND], |row| {
                Ok(Lane {
                    lane: LaneId(row.get("lane_id")?),
                    tenant: TenantId(row.get("tenant")?),
                    provider: row.get("provider")?,
                    config_version: row.get("config_version")?,
                    hold: rows::hold(row)?,
                    not_before: rows::optional_time(row, "not_before")?,
                    waiting: rows::count(row, "waiting")?,
                })
            })
        })
        .await
    }

    async fn now(&self) -> Result<Timestamp> {
        Ok(self.clock.now())
    }
}

/// The moments the figures are counted from.
struct Since {
    now: Timestamp,
    stuck: i64,
    delivered: i64,
}

impl Since {
    fn new(ask: KpiAsk, now: Timestamp) -> Self {
        Self {
            now,
            stuck: (now - ask.stuck_after).as_millis(),
            delivered: (now - ask.delivered_window).bucket(BUCKET).as_millis(),
        }
    }

    /// Depth, stuck and oldest, from three columns.
    fn waiting(&self, kpis: &mut Kpis, row: &Row<'_>, first: usize) -> rusqlite::Result<()> {
        kpis.queue_depth = rows::count(row, first)?;
        kpis.stuck_count = rows::count(row, first + 1)?;
        let oldest: Option<i64> = row.get(first + 2)?;
        kpis.oldest_pending_age_seconds =
            oldest.map(|at| self.now.since(Timestamp::from_millis(at)).as_secs());
        Ok(())
    }
}

fn kpis(conn: &Connection, tenant: Option<TenantId>, ask: KpiAsk, now: Timestamp) -> Result<Kpis> {
    let since = Since::new(ask, now);
    let mut kpis = Kpis::default();
    let Some(TenantId(tenant)) = tenant else {
        conn.prepare_cached(sql::kpi_waiting_all)?
            .query_row([since.stuck], |row| since.waiting(&mut kpis, row, 0))?;
        kpis.parked_count = conn
            .prepare_cached(sql::kpi_parked_all)?
            .query_row([], |row| rows::count(row, 0))?;
        kpis.delivered_last_interval = conn
            .prepare_cached(sql::kpi_delivered_all)?
            .query_row([since.delivered], |row| rows::count(row, 0))?;
        return Ok(kpis);
    };
    conn.prepare_cached(sql::kpi_waiting)?
        .query_row(params![tenant, since.stuck], |row| {
            since.waiting(&mut kpis, row, 0)
        })?;
    kpis.parked_count = conn
        .prepare_cached(sql::kpi_parked)?
        .query_row([tenant], |row| rows::count(row, 0))?;
    kpis.delivered_last_interval = conn
        .prepare_cached(sql::kpi_delivered)?
        .query_row(params![tenant, since.delivered], |row| rows::count(row, 0))?;
    Ok(kpis)
}

fn kpis_by_site(
    conn: &Connection,
    TenantId(tenant): TenantId,
    ask: KpiAsk,
    now: Timestamp,
) -> Result<Vec<(String, Kpis)>> {
    let since = Since::new(ask, now);
    let mut sites: BTreeMap<String, Kpis> = BTreeMap::new();
    let mut statement = conn.prepare_cached(sql::kpi_waiting_by_site)?;
    let mut found = statement.query(params![tenant, since.stuck])?;
    while let Some(row) = found.next()? {
        since.waiting(sites.entry(row.get(0)?).or_default(), row, 1)?;
    }
    let mut statement = conn.prepare_cached(sql::kpi_parked_by_site)?;
    let mut found = statement.query([tenant])?;
    while let Some(row) = found.next()? {
        sites.entry(row.get(0)?).or_default().parked_count = rows::count(row, 1)?;
    }
    let mut statement = conn.prepare_cached(sql::kpi_delivered_by_site)?;
    let mut found = statement.query(params![tenant, since.delivered])?;
    while let Some(row) = found.next()? {
        sites.entry(row.get(0)?).or_default().delivered_last_interval = rows::count(row, 1)?;
    }
    Ok(sites.into_iter().collect())
}
