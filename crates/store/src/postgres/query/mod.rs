//! The [`Queries`] trait on PostgreSQL; each method's work is in the module named after it.

mod kpi;
mod list;
mod notification;
pub(super) mod sql;

use crate::{
    Queries, Result,
    outbox::Lane,
    postgres::{
        self, PgStore, audit, rows,
        session::{Params, Session},
        types::{At, count},
    },
    query::{
        AttemptMade, AuditFilter, AuditPage, AuditRow, Counted, DELIVERIES_LOOKED_AT, Filter, KpiAsk, Listed,
        Notification, Page, SCAN_BOUND, Standing,
    },
};
use async_trait::async_trait;
use domain::{
    LaneId, NotificationId, TenantId, Timestamp, Transcript, kpi::Kpis, lane_report::LAST_ATTEMPTS,
};

#[async_trait]
impl Queries for PgStore {
    async fn get(&self, tenant: TenantId, id: NotificationId) -> Result<Option<Notification>> {
        Ok(notification::get(&self.db, tenant, id).await?)
    }

    async fn standings(&self, tenant: TenantId, ids: &[NotificationId]) -> Result<Vec<Standing>> {
        Ok(notification::standings(&self.db, tenant, ids).await?)
    }

    async fn list(&self, tenant: TenantId, filter: &Filter, page: Page) -> Result<Listed> {
        Ok(list::list(&self.db, tenant, filter, &page).await?)
    }

    async fn count(&self, tenant: TenantId, filter: &Filter) -> Result<Counted> {
        Ok(list::count(&self.db, tenant, filter).await?)
    }

    async fn attempts(&self, tenant: TenantId, id: NotificationId) -> Result<Option<Vec<AuditRow>>> {
        Ok(audit::attempts(&self.db, tenant, id).await?)
    }

    async fn transcript(
        &self,
        tenant: TenantId,
        id: NotificationId,
        number: u32,
    ) -> Result<Option<Transcript>> {
        Ok(audit::transcript(&self.db, tenant, id, number).await?)
    }

    async fn audit(&self, tenant: TenantId, filter: &AuditFilter, page: Page) -> Result<AuditPage> {
        Ok(audit::page(&self.db, tenant, filter, &page).await?)
    }

    async fn kpis(&self, tenant: Option<TenantId>, ask: KpiAsk) -> Result<Kpis> {
        Ok(kpi::kpis(&self.db, tenant, ask).await?)
    }

    async fn kpis_by_site(&self, tenant: TenantId, ask: KpiAsk) -> Result<Vec<(String, Kpis)>> {
        Ok(kpi::by_site(&self.db, tenant, ask).await?)
    }

    async fn lanes(&self, tenant: TenantId) -> Result<Vec<Lane>> {
        let session = self.db.general().await?;
        let found = session
            .rows(sql::lanes_of, &[&tenant.0, &i64::from(SCAN_BOUND)])
            .await?;
        found.iter().map(lane).collect()
    }

    async fn last_attempts(
        &self,
        tenant: TenantId,
        providers: &[String],
        since: Timestamp,
    ) -> Result<Vec<AttemptMade>> {
        let session = self.db.general().await?;
        let (since, each) = (At(since), LAST_ATTEMPTS as i64);
        let logged: Params<'_> = &[&tenant.0, &providers, &since, &each];
        let mut all = vec![];
        for row in session.rows(sql::last_logged_attempts, logged).await? {
            all.push(AttemptMade {
                provider: row.get("provider"),
                at: rows::time(&row, "at"),
                code: row.get("code"),
                provider_code: row.get("provider_code"),
            });
        }
        let delivered: Params<'_> = &[&tenant.0, &since, &i64::from(DELIVERIES_LOOKED_AT)];
        for row in session.rows(sql::last_deliveries, delivered).await? {
            all.push(AttemptMade {
                provider: row.get::<_, Option<String>>("provider").unwrap_or_default(),
                at: rows::time(&row, "at"),
                code: None,
                provider_code: None,
            });
        }
        Ok(AttemptMade::newest(all))
    }

    async fn now(&self) -> Result<Timestamp> {
        let session = self.db.general().await?;
        let row = session.one(postgres::sql::now, &[&self.db.now()]).await?;
        Ok(rows::time(&row, "now"))
    }
}

fn lane(row: &tokio_postgres::Row) -> Result<Lane> {
    Ok(Lane {
        lane: LaneId(row.get("lane_id")),
        tenant: TenantId(row.get("tenant")),
        provider: row.get("provider"),
        config_version: row.get("config_version"),
        hold: rows::hold(row)?,
        not_before: rows::time_opt(row, "not_before"),
        waiting: count(row.get("waiting")),
    })
}
