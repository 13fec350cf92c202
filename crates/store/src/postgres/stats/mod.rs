//! The [`Stats`] trait on PostgreSQL: what charts read, and how it is kept small.

mod sql;

use crate::{
    Result, Stats,
    postgres::{
        self, PgStore,
        failed::Failed,
        rows,
        session::{Db, Session, Tx},
        types::{At, count, millis},
    },
    query::KpiAsk,
    roll_up::{self, MINUTE, RollUp, sampled, uncondensed},
    stats::{FAILURES_LOOKED_AT, FailureGroup, PARKED, RolledUp, SAMPLED, Series, Span, latest_first},
};
use async_trait::async_trait;
use domain::{TenantId, Timestamp};

#[async_trait]
impl Stats for PgStore {
    async fn roll_up(&self, ask: KpiAsk) -> Result<RolledUp> {
        Ok(roll_up(&self.db, ask).await?)
    }

    async fn series(&self, tenant: TenantId, span: Span) -> Result<Series> {
        Ok(series(&self.db, tenant, span).await?)
    }

    async fn failures(&self, tenant: TenantId) -> Result<Vec<FailureGroup>> {
        let session = self.db.general().await?;
        let mut groups = vec![];
        for (statement, parked) in [(sql::failures_parked, true), (sql::failures_waiting, false)] {
            let found = session
                .rows(statement, &[&tenant.0, &i64::from(FAILURES_LOOKED_AT)])
                .await?;
            groups.extend(found.iter().map(|row| FailureGroup {
                code: row.get::<_, Option<String>>("code").unwrap_or_default(),
                provider: row.get::<_, Option<String>>("provider").unwrap_or_default(),
                parked,
                count: count(row.get("count")),
                last_at: rows::time(row, "at"),
                error: row.get("error"),
            }));
        }
        Ok(latest_first(groups))
    }
}

async fn now(db: &Db, session: &impl Session) -> Result<Timestamp, Failed> {
    Ok(rows::time(
        &session.one(postgres::sql::now, &[&db.now()]).await?,
        "now",
    ))
}

async fn roll_up(db: &Db, ask: KpiAsk) -> Result<RolledUp, Failed> {
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    let mark = roll_up::mark(tx.one(sql::rollup_mark, &[]).await?.get(0));
    let now = now(db, &tx).await?;
    let oldest = match mark {
        Some(_) => None,
        None => {
            let oldest = tx.opt(sql::rollup_oldest, &[]).await?;
            oldest.map(|row| rows::time(&row, "oldest"))
        }
    };
    let plan = RollUp::plan(mark, oldest, now);
    // Another node was here in the meantime.
    if mark.is_some_and(|mark| mark > plan.to) {
        return Ok(RolledUp {
            up_to: plan.to,
            behind: false,
        });
    }
    tx.exec(sql::rollup_minutes, &[&At(plan.from), &At(plan.to)])
        .await?;
    if plan.samples {
        sample(db, &tx, ask, now).await?;
    }
    for (from, to, step) in plan.coarse() {
        tx.exec(sql::rollup_coarse, &[&At(from), &At(to), &step]).await?;
    }
    for (step, before) in plan.outdated() {
        tx.exec(sql::rollup_purge, &[&step, &At(before)]).await?;
    }
    tx.exec(sql::rollup_mark_set, &[&plan.to.as_millis()]).await?;
    tx.commit().await?;
    Ok(plan.done())
}

/// Writes the figures of this minute down.
async fn sample(db: &Db, tx: &Tx<'_>, ask: KpiAsk, now: Timestamp) -> Result<(), Failed> {
    let bucket = At(now.bucket(MINUTE));
    for row in tx
        .rows(sql::rollup_waiting, &[&db.now(), &millis(ask.stuck_after)])
        .await?
    {
        let tenant: i32 = row.get("tenant");
        let oldest = rows::time(&row, "oldest");
        for (what, n) in sampled(row.get("depth"), row.get("stuck"), oldest, now) {
            tx.exec(sql::rollup_sample, &[&tenant, &bucket, &what, &n])
                .await?;
        }
    }
    for row in tx.rows(sql::rollup_parked, &[]).await? {
        let (tenant, n): (i32, i64) = (row.get("tenant"), row.get("parked"));
        tx.exec(sql::rollup_sample, &[&tenant, &bucket, &PARKED, &n])
            .await?;
    }
    tx.exec(sql::rollup_sampled, &[&bucket, &SAMPLED]).await?;
    Ok(())
}

async fn series(db: &Db, tenant: TenantId, span: Span) -> Result<Series, Failed> {
    let mut session = db.general().await?;
    let tx = session.snapshot().await?;
    let now = now(db, &tx).await?;
    let mut series = Series::empty(span, now);
    let step = i32::try_from(span.step().as_secs()).unwrap_or(60);
    let mut found = tx
        .rows(sql::series, &[&tenant.0, &step, &At(series.start)])
        .await?;
    let mark = roll_up::mark(tx.one(sql::rollup_mark_read, &[]).await?.get(0));
    let rest = uncondensed(mark, now);
    found.extend(tx.rows(sql::series_rest, &[&tenant.0, &At(rest)]).await?);
    for row in found {
        let what: &str = row.get("what");
        series.add(rows::time(&row, "bucket"), what, count(row.get("n")));
    }
    Ok(series)
}
