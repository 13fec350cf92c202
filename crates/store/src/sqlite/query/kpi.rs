//! The figures of the overview: what waits from `due`, what is parked from its partial index, what was delivered from
//! the counts in `stats`. Nothing here looks at history.

use super::sql;
use crate::{Result, query::KpiAsk, sqlite::rows};
use domain::{
    TenantId, Timestamp,
    kpi::{BUCKET, Kpis},
};
use rusqlite::{Connection, Row, params};
use std::collections::BTreeMap;

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

pub(super) fn kpis(conn: &Connection, tenant: Option<TenantId>, ask: KpiAsk, now: Timestamp) -> Result<Kpis> {
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

pub(super) fn by_site(
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
