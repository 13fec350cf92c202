//! What sites tell about their cached calls and writes: one row per operation, one audit row per piece of news.

use super::sql;
use crate::{
    Result,
    paging::Paging,
    postgres::{
        audit::without_nul,
        failed::Failed,
        rows,
        session::{Db, Params, Session},
        types::{At, small},
    },
    query::{Cursor, Page},
    sites::{
        CallFilter, CallPage, LATEST, SiteAction, SiteCall, actor_of, audit_of, code_of, detail_of, latest,
        tidy,
    },
};
use domain::{Actor, AuditKind, SiteId, TenantId, Timestamp, TrackedOperationId, site::Telemetry};
use tokio_postgres::Row;
use uuid::Uuid;

pub(super) async fn record(
    db: &Db,
    tenant: TenantId,
    site: &SiteId,
    news: Vec<Telemetry>,
) -> Result<(), Failed> {
    let mut news: Vec<Telemetry> = news.into_iter().map(tidy).collect();
    let mut session = db.general().await?;
    let tx = session.begin().await?;
    put_calls(db, &tx, tenant, site, &latest(&news)).await?;
    // Two deliveries of the same news meet in the unique index: in one order they only wait, they never deadlock.
    news.sort_by_key(|piece| piece.id);
    log_news(db, &tx, tenant, site, &news).await?;
    tx.commit().await
}

async fn put_calls(
    db: &Db,
    session: &impl Session,
    tenant: TenantId,
    site: &SiteId,
    news: &[&Telemetry],
) -> Result<(), Failed> {
    fn column<'a, T>(news: &[&'a Telemetry], value: impl Fn(&'a Telemetry) -> T) -> Vec<T> {
        news.iter().map(|piece| value(piece)).collect()
    }
    session
        .exec(
            sql::site_call_put,
            &[
                &db.now(),
                &tenant.0,
                &site.as_str(),
                &column(news, |n| n.operation.0),
                &column(news, |n| n.revision),
                &column(news, |n| n.category.as_str()),
                &column(news, |n| n.target.as_str()),
                &column(news, |n| n.summary.as_deref()),
                &column(news, |n| n.status.as_str()),
                &column(news, |n| number(n.retry_count)),
                &column(news, |n| n.error.as_deref()),
                &column(news, |n| n.http_status.map(i32::from)),
                &column(news, |n| At(n.created_at)),
                &column(news, |n| At(n.occurred_at)),
                &column(news, |n| n.instance.as_deref()),
                &column(news, |n| n.script.as_deref()),
                &column(news, |n| n.node.as_deref()),
                &column(news, |n| n.execution.as_deref()),
                &column(news, |n| n.parent_execution.as_deref()),
                &column(news, |n| n.actor.as_ref().map(|_| actor_of(site, n).to_string())),
            ],
        )
        .await?;
    Ok(())
}

async fn log_news(
    db: &Db,
    session: &impl Session,
    tenant: TenantId,
    site: &SiteId,
    news: &[Telemetry],
) -> Result<(), Failed> {
    fn column<'a, T>(news: &'a [Telemetry], value: impl Fn(&'a Telemetry) -> T) -> Vec<T> {
        news.iter().map(value).collect()
    }
    let actors: Vec<Actor> = column(news, |n| actor_of(site, n));
    let actor: Vec<&str> = actors.iter().map(Actor::as_str).collect();
    session
        .exec(
            sql::audit_insert_site,
            &[
                &db.now(),
                &tenant.0,
                &site.as_str(),
                &column(news, |n| At(n.occurred_at)),
                &column(news, |n| audit_of(n).0.as_str()),
                &column(news, |n| audit_of(n).1.as_str()),
                &actor,
                &column(news, |n| n.target.as_str()),
                &column(news, |n| n.duration_ms.map(number)),
                &column(news, code_of),
                &column(news, detail_of),
                &column(news, |n| n.execution.as_deref()),
                &column(news, |n| n.parent_execution.as_deref()),
                &column(news, |n| n.operation.0),
                &column(news, |n| n.id),
            ],
        )
        .await?;
    Ok(())
}

pub(super) async fn log_action(db: &Db, action: &SiteAction) -> Result<(), Failed> {
    let session = db.general().await?;
    let (message, detail) = (without_nul(&action.message), without_nul(&action.detail));
    let operation: Option<Uuid> = action.message.parse::<TrackedOperationId>().ok().map(|id| id.0);
    let (nobody, nothing): (Vec<Option<Uuid>>, Vec<Option<&str>>) = (vec![None], vec![None]);
    session
        .exec(
            sql::audit_insert_site,
            &[
                &db.now(),
                &action.tenant.0,
                &action.site.as_str(),
                // The end of time, of which the statement makes now.
                &vec![At(Timestamp::from_millis(LATEST))],
                &vec![AuditKind::SiteParked.as_str()],
                &vec![action.status.as_str()],
                &vec![action.actor.as_str()],
                &vec![message.as_ref()],
                &vec![None::<i32>],
                &nothing,
                &vec![detail.as_ref()],
                &nothing,
                &nothing,
                &vec![operation],
                &nobody,
            ],
        )
        .await?;
    Ok(())
}

pub(super) async fn page(
    db: &Db,
    tenant: TenantId,
    filter: &CallFilter,
    page: &Page,
) -> Result<CallPage, Failed> {
    let session = db.general().await?;
    let mut paging = Paging::new(page);
    let mut start = Cursor::newest(filter.to, page.after);
    let from = At(filter.from.unwrap_or(Timestamp::EPOCH));
    'full: loop {
        let step = paging.step();
        let params: Params<'_> = &[&tenant.0, &from, &At(start.at), &start.seq, &(step as i64)];
        let found = session.rows(sql::site_calls_page, params).await?;
        for row in &found {
            let (place, call) = call_row(row)?;
            if paging.take(place, Some(call).filter(|call| filter.passes(call))) {
                break 'full;
            }
            start = place;
        }
        if found.len() < step {
            break;
        }
    }
    let (rows, next) = paging.finish();
    Ok(CallPage { rows, next })
}

fn call_row(row: &Row) -> Result<(Cursor, SiteCall)> {
    const TABLE: &str = "site_calls";
    let created_at = rows::time(row, "created_at");
    let place = Cursor {
        at: created_at,
        seq: row.get("call_id"),
    };
    let call = SiteCall {
        site: SiteId::new(row.get::<_, &str>("site")),
        operation: TrackedOperationId(row.get("operation")),
        category: rows::parsed(TABLE, row.get("category"))?,
        target: row.get("target"),
        summary: row.get("summary"),
        status: rows::parsed(TABLE, row.get("status"))?,
        retry_count: small(row.get("retry_count")),
        error: row.get("error"),
        http_status: row
            .get::<_, Option<i32>>("http_status")
            .and_then(|status| u16::try_from(status).ok()),
        created_at,
        updated_at: rows::time(row, "updated_at"),
        instance: row.get("instance"),
        script: row.get("script"),
        node: row.get("node"),
        execution: row.get("execution"),
        parent_execution: row.get("parent_execution"),
        actor: row.get("actor"),
    };
    Ok((place, call))
}

fn number(n: u32) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX)
}
