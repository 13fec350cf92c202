//! The [`Queries`] trait on SQLite; each method's work is in the module named after it.

mod kpi;
mod list;
pub(super) mod notification;
mod sql;

use crate::{
    Queries, Result,
    outbox::Lane,
    query::{
        AttemptMade, AuditFilter, AuditPage, AuditRow, Counted, DELIVERIES_LOOKED_AT, Filter, KpiAsk, Listed,
        Notification, Page, SCAN_BOUND, Standing,
    },
    sqlite::{
        SqliteStore, audit,
        rows::{self, all},
    },
};
use async_trait::async_trait;
use domain::{
    LaneId, NotificationId, TenantId, Timestamp, Transcript, kpi::Kpis, lane_report::LAST_ATTEMPTS,
};
use rusqlite::params;

#[async_trait]
impl Queries for SqliteStore {
    async fn get(&self, tenant: TenantId, id: NotificationId) -> Result<Option<Notification>> {
        self.read(move |conn| notification::get(conn, tenant, id)).await
    }

    async fn standings(&self, tenant: TenantId, ids: &[NotificationId]) -> Result<Vec<Standing>> {
        let ids = ids.to_vec();
        self.read(move |conn| notification::standings(conn, tenant, &ids))
            .await
    }

    async fn list(&self, tenant: TenantId, filter: &Filter, page: Page) -> Result<Listed> {
        let (filter, now) = (filter.clone(), self.clock.now());
        self.read(move |conn| list::list(conn, tenant, &filter, &page, now))
            .await
    }

    async fn count(&self, tenant: TenantId, filter: &Filter) -> Result<Counted> {
        let (filter, now) = (filter.clone(), self.clock.now());
        self.read(move |conn| list::count(conn, tenant, &filter, now))
            .await
    }

    async fn attempts(&self, tenant: TenantId, id: NotificationId) -> Result<Option<Vec<AuditRow>>> {
        self.read(move |conn| audit::attempts(conn, tenant, id)).await
    }

    async fn transcript(
        &self,
        tenant: TenantId,
        id: NotificationId,
        number: u32,
    ) -> Result<Option<Transcript>> {
        self.read(move |conn| audit::transcript(conn, tenant, id, number))
            .await
    }

    async fn audit(&self, tenant: TenantId, filter: &AuditFilter, page: Page) -> Result<AuditPage> {
        let filter = filter.clone();
        self.read(move |conn| audit::page(conn, tenant, &filter, &page))
            .await
    }

    async fn kpis(&self, tenant: Option<TenantId>, ask: KpiAsk) -> Result<Kpis> {
        let now = self.clock.now();
        self.read(move |conn| kpi::kpis(conn, tenant, ask, now)).await
    }

    async fn kpis_by_site(&self, tenant: TenantId, ask: KpiAsk) -> Result<Vec<(String, Kpis)>> {
        let now = self.clock.now();
        self.read(move |conn| kpi::by_site(conn, tenant, ask, now)).await
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

    async fn last_attempts(
        &self,
        tenant: TenantId,
        providers: &[String],
        since: Timestamp,
    ) -> Result<Vec<AttemptMade>> {
        let providers = providers.to_vec();
        let (tenant, since, each) = (tenant.0, since.as_millis(), LAST_ATTEMPTS as i64);
        self.read(move |conn| {
            let delivered = params![tenant, since, DELIVERIES_LOOKED_AT];
            let mut all = all(conn, sql::last_deliveries, delivered, |row| {
                Ok(AttemptMade {
                    provider: row.get::<_, Option<String>>("provider")?.unwrap_or_default(),
                    at: rows::time(row, "at")?,
                    code: None,
                    provider_code: None,
                })
            })?;
            for provider in providers {
                let logged = params![tenant, provider, since, each];
                all.extend(rows::all(conn, sql::last_logged_attempts, logged, |row| {
                    Ok(AttemptMade {
                        provider: provider.clone(),
                        at: rows::time(row, "at")?,
                        code: row.get("code")?,
                        provider_code: row.get("provider_code")?,
                    })
                })?);
            }
            Ok(AttemptMade::newest(all))
        })
        .await
    }

    async fn now(&self) -> Result<Timestamp> {
        Ok(self.clock.now())
    }
}
