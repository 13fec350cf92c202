//! Reading the audit log. What was accepted is not in it, nor the attempt that delivered: those rows are read from the
//! notifications and their outcomes, and merged by time. A row of an attempt that ended its notification is read as two.
//!
//! Always true: all rows have one total order, `(at, number)`, whatever they were read from, so that a page can end
//! between any two of them.

use super::sql;
use crate::{
    Result,
    query::{AuditFilter, AuditPage, AuditRow, Cursor, Page, SCAN_BOUND},
    sqlite::rows::{self, all},
};
use domain::{AuditKind, AuditStatus, NotificationId, TenantId, Timestamp, TrackedOperationId};
use rusqlite::{Connection, Row, params};
use std::iter::Peekable;
use uuid::Uuid;

/// Accepted notifications are numbered below everything else: at the same moment they came first.
const SENDS: i64 = -(1 << 62);
/// Deliveries come next: to the number of a notification this is added, twice.
const DELIVERIES: i64 = -(1 << 60);

type Numbered = Result<(Cursor, AuditRow)>;

pub(in crate::sqlite) fn attempts(
    conn: &Connection,
    tenant: TenantId,
    id: NotificationId,
) -> Result<Option<Vec<AuditRow>>> {
    let Some(newest_first) = of_notification(conn, tenant, id)? else {
        return Ok(None);
    };
    Ok(Some(newest_first.into_iter().rev().map(|(_, row)| row).collect()))
}

pub(in crate::sqlite) fn page(
    conn: &Connection,
    tenant: TenantId,
    filter: &AuditFilter,
    page: &Page,
) -> Result<AuditPage> {
    let from = filter.from.map_or(i64::MIN, Timestamp::as_millis);
    let start = newest(filter.to, page.after);
    if let Some(id) = filter.correlation {
        let rows = match of_notification(conn, tenant, id)? {
            Some(rows) => rows,
            None => of_operation(conn, tenant, id)?,
        };
        let wanted = |(place, _): &(Cursor, AuditRow)| *place < start && place.at.as_millis() >= from;
        return take(rows.into_iter().filter(wanted).map(Ok), filter, page.limit);
    }
    let mut log = conn.prepare_cached(sql::audit_page)?;
    let mut deliveries = conn.prepare_cached(sql::audit_deliveries)?;
    let mut sends = conn.prepare_cached(sql::audit_sends)?;
    let (wants_log, wants_sends) = sources(filter);
    let bound = |wanted: bool| if wanted { SCAN_BOUND + 1 } else { 0 };
    let at = start.at.as_millis();
    // A cursor among the accepted is below every number of the log, and the other way round.
    let log_from = start.seq.div_euclid(2);
    let sends_from = if start.seq < 0 {
        start.seq.saturating_sub(SENDS)
    } else {
        i64::MAX
    };
    let logged = log.query_and_then(params![tenant.0, from, at, log_from, bound(wants_log)], from_log)?;
    let delivered_from = log_from.saturating_sub(DELIVERIES);
    let delivered = deliveries.query_and_then(
        params![tenant.0, from, at, delivered_from, bound(wants_log), DELIVERIES],
        from_log,
    )?;
    let sent = sends.query_and_then(
        params![tenant.0, from, at, sends_from, bound(wants_sends)],
        from_send,
    )?;
    let attempts = merge(each(logged, start), each(delivered, start));
    take(merge(attempts.peekable(), sent.peekable()), filter, page.limit)
}

/// Row by row what was read as two, from a place on.
fn each(
    rows: impl Iterator<Item = Result<[Option<(Cursor, AuditRow)>; 2]>>,
    start: Cursor,
) -> Peekable<impl Iterator<Item = Numbered>> {
    rows.flat_map(|rows| match rows {
        Ok(rows) => rows.into_iter().flatten().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    })
    .filter(move |row| row.as_ref().map_or(true, |(place, _)| *place < start))
    .peekable()
}

fn newest(to: Option<Timestamp>, after: Option<Cursor>) -> Cursor {
    let end = Timestamp::from_millis(i64::MAX);
    let before = to.map_or(
        Cursor {
            at: end,
            seq: i64::MAX,
        },
        |at| Cursor { at, seq: i64::MIN },
    );
    after.map_or(before, |cursor| before.min(cursor))
}

/// Which of the log (with the deliveries) and the notifications can have a row the filter asks for.
fn sources(filter: &AuditFilter) -> (bool, bool) {
    let asks_send = |yes: bool| {
        filter
            .kind
            .is_none_or(|kind| (kind == AuditKind::NotifySend) == yes)
    };
    let asks_submitted = |yes: bool| {
        filter
            .status
            .is_none_or(|status| (status == AuditStatus::Submitted) == yes)
    };
    (
        asks_send(false) && asks_submitted(false),
        asks_send(true) && asks_submitted(true),
    )
}

/// Everything about one notification, newest first; none if there is no such notification.
fn of_notification(
    conn: &Connection,
    tenant: TenantId,
    id: NotificationId,
) -> Result<Option<Vec<(Cursor, AuditRow)>>> {
    let params = params![tenant.0, id.0.as_bytes()];
    let Some(sent) = all(conn, sql::audit_send_of, params, from_send)?.pop() else {
        return Ok(None);
    };
    let seq = sent.0.seq - SENDS;
    let mut logged = all(conn, sql::audit_by_seq, [seq], from_log)?;
    logged.extend(all(conn, sql::audit_delivery_of, [seq, DELIVERIES], from_log)?);
    let mut rows: Vec<_> = logged.into_iter().flatten().flatten().collect();
    rows.push(sent);
    rows.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    Ok(Some(rows))
}

/// Everything about one cached call or write, newest first.
fn of_operation(conn: &Connection, tenant: TenantId, id: NotificationId) -> Result<Vec<(Cursor, AuditRow)>> {
    let params = params![tenant.0, id.0.as_bytes(), SCAN_BOUND];
    let logged = all(conn, sql::audit_by_operation, params, from_log)?;
    Ok(logged.into_iter().flatten().flatten().collect())
}

fn merge(
    mut one: Peekable<impl Iterator<Item = Numbered>>,
    mut other: Peekable<impl Iterator<Item = Numbered>>,
) -> impl Iterator<Item = Numbered> {
    std::iter::from_fn(move || match (one.peek(), other.peek()) {
        (Some(Ok((a, _))), Some(Ok((b, _)))) if a < b => other.next(),
        (Some(_), _) => one.next(),
        (None, _) => other.next(),
    })
}

fn take(rows: impl Iterator<Item = Numbered>, filter: &AuditFilter, limit: u32) -> Result<AuditPage> {
    let limit = limit.max(1) as usize;
    let mut page = AuditPage::default();
    let mut last_row = None;
    let mut last_seen = None;
    for (seen, row) in rows.enumerate() {
        if seen == SCAN_BOUND as usize {
            page.next = last_seen;
            return Ok(page);
        }
        let (place, row) = row?;
        last_seen = Some(place);
        if !passes(&row, filter) {
            continue;
        }
        if page.rows.len() == limit {
            page.next = last_row;
            return Ok(page);
        }
        page.rows.push(row);
        last_row = Some(place);
    }
    Ok(page)
}

fn passes(row: &AuditRow, filter: &AuditFilter) -> bool {
    filter.kind.is_none_or(|kind| row.kind == kind)
        && filter.status.is_none_or(|status| row.status == status)
        && filter.actor.as_ref().is_none_or(|actor| row.actor == *actor)
}

/// The end, if the attempt ended its notification, then the attempt: newest first.
fn from_log(row: &Row<'_>) -> Result<[Option<(Cursor, AuditRow)>; 2]> {
    const TABLE: &str = "audit_log";
    let at = rows::time(row, "at")?;
    let number = 2 * row.get::<_, i64>("audit_id")?;
    let logged = AuditRow {
        at,
        kind: rows::parse(TABLE, &row.get::<_, String>("kind")?)?,
        status: rows::parse(TABLE, &row.get::<_, String>("status")?)?,
        notification: optional_id(row, "id")?.map(NotificationId),
        operation: optional_id(row, "operation")?.map(TrackedOperationId),
        execution: row.get("execution")?,
        parent_execution: row.get("parent_execution")?,
        actor: row.get("actor")?,
        site: row.get("site")?,
        target: row.get("target")?,
        duration_ms: row.get("duration_ms")?,
        code: row.get("code")?,
        detail: row.get("detail")?,
    };
    let ended_as: Option<String> = row.get("ended_as")?;
    let ended = match ended_as {
        None => None,
        Some(status) => Some(AuditRow {
            status: rows::parse(TABLE, &status)?,
            duration_ms: None,
            ..logged.clone()
        }),
    };
    Ok([
        ended.map(|row| (Cursor { at, seq: number + 1 }, row)),
        Some((Cursor { at, seq: number }, logged)),
    ])
}

fn optional_id(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Uuid>> {
    let bytes: Option<[u8; 16]> = row.get(column)?;
    Ok(bytes.map(Uuid::from_bytes))
}

fn from_send(row: &Row<'_>) -> Numbered {
    let at = rows::time(row, "at")?;
    let place = Cursor {
        at,
        seq: SENDS + row.get::<_, i64>("seq")?,
    };
    let sent = AuditRow {
        at,
        kind: AuditKind::NotifySend,
        status: AuditStatus::Submitted,
        notification: Some(rows::id(row, "id")?),
        operation: None,
        execution: row.get("execution")?,
        parent_execution: row.get("parent_execution")?,
        actor: row.get("actor")?,
        site: row.get("site")?,
        target: row.get("target")?,
        duration_ms: None,
        code: None,
        detail: None,
    };
    Ok((place, sent))
}
