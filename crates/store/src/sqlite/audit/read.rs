//! Reading the audit log out of its three tables; how they are put together is said in [`crate::audit::order`].

use super::sql;
use crate::{
    Result,
    audit::order::{self, Accepted, DELIVERIES, Numbered, Starts},
    paging::Paging,
    query::{AuditFilter, AuditPage, AuditRow, Cursor, Page, SCAN_BOUND},
    sqlite::rows::{self, all},
    transcripts::{self, Made},
};
use domain::{NotificationId, TenantId, Timestamp, TrackedOperationId, Transcript};
use rusqlite::{Connection, OptionalExtension, Row, params};
use std::{cmp::Reverse, iter::Peekable};
use uuid::Uuid;

pub(in crate::sqlite) fn attempts(
    conn: &Connection,
    tenant: TenantId,
    id: NotificationId,
) -> Result<Option<Vec<AuditRow>>> {
    let Some(newest_first) = of_notification(conn, tenant, id)? else {
        return Ok(None);
    };
    let mut rows: Vec<_> = newest_first.into_iter().rev().map(|(_, row)| row).collect();
    if let Some(seq) = seq_of(conn, tenant, id)? {
        transcripts::number(&mut rows, &made(conn, seq)?);
    }
    Ok(Some(rows))
}

pub(in crate::sqlite) fn transcript(
    conn: &Connection,
    tenant: TenantId,
    id: NotificationId,
    number: u32,
) -> Result<Option<Transcript>> {
    let Some(seq) = seq_of(conn, tenant, id)? else {
        return Ok(None);
    };
    let wanted = transcripts::numbered(&made(conn, seq)?, number);
    let Some(token) = wanted.and_then(|made| made.token) else {
        return Ok(None);
    };
    let said: Option<String> = conn
        .prepare_cached(sql::transcript)?
        .query_row([seq, token], |row| row.get(0))
        .optional()?;
    said.map(|text| transcripts::read(&text)).transpose()
}

fn seq_of(conn: &Connection, tenant: TenantId, id: NotificationId) -> Result<Option<i64>> {
    let found = conn
        .prepare_cached(sql::audit_send_of)?
        .query_row(params![tenant.0, id.0.as_bytes()], |row| row.get("seq"))
        .optional()?;
    Ok(found)
}

fn made(conn: &Connection, seq: i64) -> Result<Vec<Made>> {
    all(conn, sql::attempts_made, [seq], |row| {
        Ok(Made {
            token: row.get("token")?,
            kept: row.get("kept")?,
        })
    })
}

pub(in crate::sqlite) fn page(
    conn: &Connection,
    tenant: TenantId,
    filter: &AuditFilter,
    page: &Page,
) -> Result<AuditPage> {
    let from = filter.from.map_or(i64::MIN, Timestamp::as_millis);
    let start = Cursor::newest(filter.to, page.after);
    if let Some(id) = filter.correlation {
        let rows = match of_notification(conn, tenant, id)? {
            Some(rows) => rows,
            None => of_operation(conn, tenant, id)?,
        };
        let wanted = |(place, _): &Numbered| *place < start && place.at.as_millis() >= from;
        return take(rows.into_iter().filter(wanted).map(Ok), filter, page);
    }
    let mut log = conn.prepare_cached(sql::audit_page)?;
    let mut deliveries = conn.prepare_cached(sql::audit_deliveries)?;
    let mut sends = conn.prepare_cached(sql::audit_sends)?;
    let (sources, starts) = (filter.sources(), Starts::of(start));
    let bound = |wanted: bool| if wanted { SCAN_BOUND + 1 } else { 0 };
    let at = starts.at.as_millis();
    let logged = log.query_and_then(
        params![tenant.0, from, at, starts.log, bound(sources.log)],
        from_log,
    )?;
    let delivered = deliveries.query_and_then(
        params![
            tenant.0,
            from,
            at,
            starts.deliveries,
            bound(sources.deliveries),
            DELIVERIES
        ],
        from_log,
    )?;
    let sent = sends.query_and_then(
        params![tenant.0, from, at, starts.sends, bound(sources.sends)],
        from_send,
    )?;
    let attempts = merge(each(logged, start), each(delivered, start));
    take(merge(attempts.peekable(), sent.peekable()), filter, page)
}

/// Row by row what was read as two, from a place on.
fn each<R: IntoIterator<Item = Numbered>>(
    rows: impl Iterator<Item = Result<R>>,
    start: Cursor,
) -> Peekable<impl Iterator<Item = Result<Numbered>>> {
    rows.flat_map(|rows| match rows {
        Ok(rows) => rows.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    })
    .filter(move |row| row.as_ref().map_or(true, |(place, _)| *place < start))
    .peekable()
}

/// Everything about one notification, newest first; none if there is no such notification.
fn of_notification(conn: &Connection, tenant: TenantId, id: NotificationId) -> Result<Option<Vec<Numbered>>> {
    let params = params![tenant.0, id.0.as_bytes()];
    let sent = all(conn, sql::audit_send_of, params, |row| {
        Ok((row.get::<_, i64>("seq")?, from_send(row)?))
    })?;
    let Some((seq, sent)) = sent.into_iter().next() else {
        return Ok(None);
    };
    let mut logged = all(conn, sql::audit_by_seq, [seq], from_log)?;
    logged.extend(all(conn, sql::audit_delivery_of, [seq, DELIVERIES], from_log)?);
    let mut rows: Vec<_> = logged.into_iter().flatten().collect();
    rows.push(sent);
    rows.sort_by_key(|(place, _)| Reverse(*place));
    Ok(Some(rows))
}

/// Everything about one cached call or write, newest first.
fn of_operation(conn: &Connection, tenant: TenantId, id: NotificationId) -> Result<Vec<Numbered>> {
    let params = params![tenant.0, id.0.as_bytes(), SCAN_BOUND];
    let logged = all(conn, sql::audit_by_operation, params, from_log)?;
    Ok(logged.into_iter().flatten().collect())
}

fn merge(
    mut one: Peekable<impl Iterator<Item = Result<Numbered>>>,
    mut other: Peekable<impl Iterator<Item = Result<Numbered>>>,
) -> impl Iterator<Item = Result<Numbered>> {
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some(Ok((a, _))), Some(Ok((b, _)))) if a < b => other.next(),
        (Some(_), _) => one.next(),
        (None, _) => other.next(),
    })
}

fn take(
    rows: impl Iterator<Item = Result<Numbered>>,
    filter: &AuditFilter,
    page: &Page,
) -> Result<AuditPage> {
    let mut paging = Paging::new(page);
    for row in rows {
        let (place, row) = row?;
        if paging.take(place, Some(row).filter(|row| filter.passes(row))) {
            break;
        }
    }
    let (rows, next) = paging.finish();
    Ok(AuditPage { rows, next })
}

fn from_log(row: &Row<'_>) -> Result<impl IntoIterator<Item = Numbered> + use<>> {
    const TABLE: &str = "audit_log";
    let logged = AuditRow {
        at: rows::time(row, "at")?,
        kind: rows::parse(TABLE, &row.get::<_, String>("kind")?)?,
        status: rows::parse(TABLE, &row.get::<_, String>("status")?)?,
        notification: optional_id(row, "id")?.map(NotificationId),
        subject: row.get("subject")?,
        operation: optional_id(row, "operation")?.map(TrackedOperationId),
        execution: row.get("execution")?,
        parent_execution: row.get("parent_execution")?,
        actor: row.get("actor")?,
        site: row.get("site")?,
        target: row.get("target")?,
        duration_ms: row.get("duration_ms")?,
        code: row.get("code")?,
        provider_code: row.get("provider_code")?,
        detail: row.get("detail")?,
        attempt: None,
        was_last: false,
        has_transcript: false,
    };
    let ended_as: Option<String> = row.get("ended_as")?;
    let ended_as = ended_as.map(|text| rows::parse(TABLE, &text)).transpose()?;
    Ok(order::of_log(row.get("audit_id")?, ended_as, logged))
}

fn optional_id(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Uuid>> {
    let bytes: Option<[u8; 16]> = row.get(column)?;
    Ok(bytes.map(Uuid::from_bytes))
}

fn from_send(row: &Row<'_>) -> Result<Numbered> {
    let sent = Accepted {
        seq: row.get("seq")?,
        at: rows::time(row, "at")?,
        id: rows::id(row, "id")?,
        subject: row.get("subject")?,
        execution: row.get("execution")?,
        parent_execution: row.get("parent_execution")?,
        actor: row.get("actor")?,
        site: row.get("site")?,
        target: row.get("target")?,
    };
    Ok(sent.into())
}
