//! The [`Stats`] trait on SQLite: what charts read, and how it is kept small.

pub(super) mod counts;
mod sql;

use crate::{
    Result, Stats,
    query::KpiAsk,
    roll_up::{self, MINUTE, RollUp, sampled, uncondensed},
    sqlite::{
        SqliteStore,
        rows::{self, all},
        writer::WriteSession,
    },
    stats::{FAILURES_LOOKED_AT, FailureGroup, PARKED, RolledUp, SAMPLED, Series, Span, latest_first},
};
use async_trait::async_trait;
use domain::{TenantId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

#[async_trait]
impl Stats for SqliteStore {
    async fn roll_up(&self, ask: KpiAsk) -> Result<RolledUp> {
        self.write(1, move |s| roll_up(s, ask)).await
    }

    async fn series(&self, tenant: TenantId, span: Span) -> Result<Series> {
        let now = self.clock.now();
        self.read(move |conn| series(conn, tenant, span, now)).await
    }

    async fn failures(&self, tenant: TenantId) -> Result<Vec<FailureGroup>> {
        self.read(move |conn| {
            let mut groups = vec![];
            for (statement, parked) in [(sql::failures_parked, true), (sql::failures_waiting, false)] {
                let params = params![tenant.0, FAILURES_LOOKED_AT];
                groups.extend(all(conn, statement, params, |row| group(row, parked))?);
            }
            Ok(latest_first(groups))
        })
        .await
    }
}

fn group(row: &rusqlite::Row<'_>, parked: bool) -> Result<FailureGroup> {
    Ok(FailureGroup {
        code: row.get::<_, Option<String>>(0)?.unwrap_or_default(),
        provider: row.get::<_, Option<String>>(1)?.unwrap_or_default(),
        parked,
        count: rows::count(row, 2)?,
        last_at: Timestamp::from_millis(row.get(3)?),
        error: row.get(4)?,
    })
}

fn mark(conn: &Connection) -> Result<Option<Timestamp>> {
    let mut statement = conn.prepare_cached(sql::rollup_mark)?;
    Ok(roll_up::mark(statement.query_row([], |row| row.get(0))?))
}

fn roll_up(s: &WriteSession<'_>, ask: KpiAsk) -> Result<RolledUp> {
    let mark = mark(s.conn)?;
    let oldest: Option<i64> = match mark {
        Some(_) => None,
        None => s
            .conn
            .prepare_cached(sql::rollup_oldest)?
            .query_row([], |row| row.get(0))
            .optional()?,
    };
    let plan = RollUp::plan(mark, oldest.map(Timestamp::from_millis), s.now);
    s.conn
        .prepare_cached(sql::rollup_minutes)?
        .execute(params![plan.from.as_millis(), plan.to.as_millis()])?;
    if plan.samples {
        sample(s, ask)?;
    }
    for (from, to, step) in plan.coarse() {
        s.conn.prepare_cached(sql::rollup_coarse)?.execute(params![
            from.as_millis(),
            to.as_millis(),
            step
        ])?;
    }
    for (step, before) in plan.outdated() {
        s.conn
            .prepare_cached(sql::rollup_purge)?
            .execute(params![step, before.as_millis()])?;
    }
    s.conn
        .prepare_cached(sql::rollup_mark_set)?
        .execute([plan.to.as_millis()])?;
    Ok(plan.done())
}

/// Writes the figures of this minute down.
fn sample(s: &WriteSession<'_>, ask: KpiAsk) -> Result<()> {
    let bucket = s.now.bucket(MINUTE).as_millis();
    let mut keep = s.conn.prepare_cached(sql::rollup_sample)?;
    let stuck = (s.now - ask.stuck_after).as_millis();
    let waiting = all(s.conn, sql::rollup_waiting, [stuck], |row| {
        let oldest = Timestamp::from_millis(row.get(3)?);
        let figures = sampled(row.get(1)?, row.get(2)?, oldest, s.now);
        Ok((row.get::<_, i32>(0)?, figures))
    })?;
    for (tenant, figures) in waiting {
        for (what, n) in figures {
            keep.execute(params![tenant, bucket, what, n])?;
        }
    }
    let parked = all(s.conn, sql::rollup_parked, [], |row| {
        Ok((row.get::<_, i32>(0)?, row.get::<_, i64>(1)?))
    })?;
    for (tenant, n) in parked {
        keep.execute(params![tenant, bucket, PARKED, n])?;
    }
    s.conn
        .prepare_cached(sql::rollup_sampled)?
        .execute(params![bucket, SAMPLED])?;
    Ok(())
}

fn series(conn: &Connection, tenant: TenantId, span: Span, now: Timestamp) -> Result<Series> {
    let mut series = Series::empty(span, now);
    let counted = |row: &rusqlite::Row<'_>| -> Result<(Timestamp, String, u64)> {
        Ok((
            Timestamp::from_millis(row.get(0)?),
            row.get(1)?,
            rows::count(row, 2)?,
        ))
    };
    let step = i64::try_from(span.step().as_secs()).unwrap_or(60);
    let params = params![tenant.0, step, series.start.as_millis()];
    let mut found = all(conn, sql::series, params, counted)?;
    let rest = uncondensed(mark(conn)?, now);
    found.extend(all(
        conn,
        sql::series_rest,
        params![tenant.0, rest.as_millis()],
        counted,
    )?);
    for (bucket, what, n) in found {
        series.add(bucket, &what, n);
    }
    Ok(series)
}
