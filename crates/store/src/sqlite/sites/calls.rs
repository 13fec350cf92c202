//! What sites tell about their cached calls and writes: one row per operation, one audit row per piece of news.

use super::sql;
use crate::{
    Result,
    paging::Paging,
    query::{Cursor, Page},
    sites::{CallFilter, CallPage, SiteAction, SiteCall, actor_of, audit_of, code_of, detail_of, latest},
    sqlite::{rows, writer::WriteSession},
};
use domain::{AuditKind, SiteId, TenantId, Timestamp, TrackedOperationId, site::Telemetry};
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

pub(super) fn record(
    s: &WriteSession<'_>,
    tenant: TenantId,
    site: &SiteId,
    news: &[Telemetry],
) -> Result<()> {
    for piece in latest(news) {
        put_call(s, tenant, site, piece)?;
    }
    for piece in news {
        log_news(s, tenant, site, piece)?;
    }
    Ok(())
}

fn put_call(s: &WriteSession<'_>, tenant: TenantId, site: &SiteId, news: &Telemetry) -> Result<()> {
    s.conn.prepare_cached(sql::site_call_put)?.execute(params![
        tenant.0,
        site.as_str(),
        news.operation.0.as_bytes(),
        news.revision,
        news.category.as_str(),
        news.target,
        news.summary,
        news.status.as_str(),
        news.retry_count,
        news.error,
        news.http_status,
        news.created_at.as_millis(),
        news.occurred_at.as_millis(),
        s.now.as_millis(),
        news.instance,
        news.script,
        news.node,
        news.execution,
        news.parent_execution,
        news.actor.as_ref().map(|_| actor_of(site, news).to_string()),
    ])?;
    Ok(())
}

fn log_news(s: &WriteSession<'_>, tenant: TenantId, site: &SiteId, news: &Telemetry) -> Result<()> {
    let (kind, status) = audit_of(news);
    let actor = actor_of(site, news);
    s.conn.prepare_cached(sql::audit_insert_site)?.execute(params![
        s.now.as_millis(),
        news.occurred_at.as_millis(),
        tenant.0,
        kind.as_str(),
        status.as_str(),
        actor.as_str(),
        news.target,
        news.duration_ms,
        code_of(news),
        detail_of(news),
        site.as_str(),
        news.execution,
        news.parent_execution,
        news.operation.0.as_bytes(),
        news.id.as_bytes(),
    ])?;
    Ok(())
}

pub(super) fn log_action(s: &WriteSession<'_>, action: &SiteAction) -> Result<()> {
    let now = s.now.as_millis();
    let operation = action.message.parse::<TrackedOperationId>().ok();
    s.conn.prepare_cached(sql::audit_insert_site)?.execute(params![
        now,
        now,
        action.tenant.0,
        AuditKind::SiteParked.as_str(),
        action.status.as_str(),
        action.actor.as_str(),
        action.message,
        None::<u32>,
        None::<&str>,
        action.detail,
        action.site.as_str(),
        None::<&str>,
        None::<&str>,
        operation.map(|id| *id.0.as_bytes()),
        None::<[u8; 16]>,
    ])?;
    Ok(())
}

pub(super) fn page(
    conn: &Connection,
    tenant: TenantId,
    filter: &CallFilter,
    page: &Page,
) -> Result<CallPage> {
    let mut statement = conn.prepare_cached(sql::site_calls_page)?;
    let mut paging = Paging::new(page);
    let mut start = Cursor::newest(filter.to, page.after);
    let from = filter.from.map_or(i64::MIN, Timestamp::as_millis);
    'full: loop {
        let step = paging.step();
        let mut found = statement.query(params![
            tenant.0,
            from,
            start.at.as_millis(),
            start.seq,
            step as i64
        ])?;
        let mut n = 0;
        while let Some(row) = found.next()? {
            let (place, call) = call_row(row)?;
            if paging.take(place, Some(call).filter(|call| filter.passes(call))) {
                break 'full;
            }
            (n, start) = (n + 1, place);
        }
        if n < step {
            break;
        }
    }
    let (rows, next) = paging.finish();
    Ok(CallPage { rows, next })
}

fn call_row(row: &Row<'_>) -> Result<(Cursor, SiteCall)> {
    const TABLE: &str = "site_calls";
    let created_at = rows::time(row, "created_at")?;
    let place = Cursor {
        at: created_at,
        seq: row.get("call_id")?,
    };
    let call = SiteCall {
        site: SiteId::new(row.get::<_, String>("site")?),
        operation: TrackedOperationId(Uuid::from_bytes(row.get("operation")?)),
        category: rows::parse(TABLE, &row.get::<_, String>("category")?)?,
        target: row.get("target")?,
        summary: row.get("summary")?,
        status: rows::parse(TABLE, &row.get::<_, String>("status")?)?,
        retry_count: row.get("retry_count")?,
        error: row.get("error")?,
        http_status: row.get("http_status")?,
        created_at,
        updated_at: rows::time(row, "updated_at")?,
        instance: row.get("instance")?,
        script: row.get("script")?,
        node: row.get("node")?,
        execution: row.get("execution")?,
        parent_execution: row.get("parent_execution")?,
        actor: row.get("actor")?,
    };
    Ok((place, call))
}
