//! The figures of the overview: what waits from `due`, what is parked from its partial index, what was delivered from
//! the counts in `stats`. Nothing here looks at history.

use super::sql;
use crate::{
    postgres::{
        failed::Failed,
        rows,
        session::{Db, Session},
        types::{count, millis},
    },
    query::KpiAsk,
};
use domain::{TenantId, kpi::Kpis};
use std::collections::BTreeMap;

pub(super) async fn kpis(db: &Db, tenant: Option<TenantId>, ask: KpiAsk) -> Result<Kpis, Failed> {
    let of = match tenant {
        Some(tenant) => {
            figures(
                db,
                tenant,
                ask,
                [sql::kpi_waiting, sql::kpi_parked, sql::kpi_delivered],
            )
            .await?
        }
        None => figures_of_all(db, ask).await?,
    };
    Ok(of.into_values().next().unwrap_or_default())
}

pub(super) async fn by_site(db: &Db, tenant: TenantId, ask: KpiAsk) -> Result<Vec<(String, Kpis)>, Failed> {
    let statements = [
        sql::kpi_waiting_by_site,
        sql::kpi_parked_by_site,
        sql::kpi_delivered_by_site,
    ];
    Ok(figures(db, tenant, ask, statements).await?.into_iter().collect())
}

type BySite = BTreeMap<String, Kpis>;

async fn figures(
    db: &Db,
    tenant: TenantId,
    ask: KpiAsk,
    [waiting, parked, delivered]: [&'static str; 3],
) -> Result<BySite, Failed> {
    let mut session = db.general().await?;
    let tx = session.snapshot().await?;
    let (now, stuck, window) = (db.now(), millis(ask.stuck_after), millis(ask.delivered_window));
    let mut sites = BySite::new();
    add_waiting(&mut sites, &tx.rows(waiting, &[&now, &stuck, &tenant.0]).await?);
    add_parked(&mut sites, &tx.rows(parked, &[&tenant.0]).await?);
    add_delivered(
        &mut sites,
        &tx.rows(delivered, &[&now, &window, &tenant.0]).await?,
    );
    Ok(sites)
}

async fn figures_of_all(db: &Db, ask: KpiAsk) -> Result<BySite, Failed> {
    let mut session = db.general().await?;
    let tx = session.snapshot().await?;
    let (now, stuck, window) = (db.now(), millis(ask.stuck_after), millis(ask.delivered_window));
    let mut sites = BySite::new();
    add_waiting(&mut sites, &tx.rows(sql::kpi_waiting_all, &[&now, &stuck]).await?);
    add_parked(&mut sites, &tx.rows(sql::kpi_parked_all, &[]).await?);
    add_delivered(
        &mut sites,
        &tx.rows(sql::kpi_delivered_all, &[&now, &window]).await?,
    );
    Ok(sites)
}

fn add_waiting(sites: &mut BySite, found: &[tokio_postgres::Row]) {
    for row in found {
        let now = rows::time(row, "now");
        let kpis = sites.entry(row.get("site")).or_default();
        kpis.queue_depth = count(row.get("count"));
        kpis.stuck_count = count(row.get("stuck"));
        kpis.oldest_pending_age_seconds = rows::time_opt(row, "oldest").map(|at| now.since(at).as_secs());
    }
}

fn add_parked(sites: &mut BySite, found: &[tokio_postgres::Row]) {
    for row in found {
        sites.entry(row.get("site")).or_default().parked_count = count(row.get("count"));
    }
}

fn add_delivered(sites: &mut BySite, found: &[tokio_postgres::Row]) {
    for row in found {
        sites.entry(row.get("site")).or_default().delivered_last_interval = count(row.get("count"));
    }
}
