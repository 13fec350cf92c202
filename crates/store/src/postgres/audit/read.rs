//! Reading the audit log. What was accepted is not in it, nor the attempt that delivered: those rows are read from the
//! notifications and their outcomes, and merged by time. A row of an attempt that ended its notification is read as two.
//!
//! Always true: all rows have one total order, `(at, number)`, whatever they were read from, so that a page can end
//! between any two of them.

use super::sql;
use crate::{
    Result,
    postgres::{
        failed::Failed,
        rows,
        session::{Db, Params, Session, Tx},
        types::{At, small},
    },
    query::{AuditFilter, AuditPage, AuditRow, Cursor, Page, SCAN_BOUND},
};
use domain::{AuditKind, AuditStatus, NotificationId, TenantId, Timestamp, TrackedOperationId};
use std::cmp::Reverse;
use tokio_postgres::Row;

/// Accepted notifications are numbered below everything else: at the same moment they came first.
const SENDS: i64 = -(1 << 62);
/// Deliveries come next: to the number of a notification this is added, twice.
const DELIVERIES: i64 = -(1 << 60);
/// Rows read from each source after the first step was not enough.
const STEP: usize = 1_000;

type Numbered = (Cursor, AuditRow);

pub(in crate::postgres) async fn attempts(
    db: &Db,
    tenant: TenantId,
    id: NotificationId,
) -> Result<Option<Vec<AuditRow>>, Failed> {
    let mut session = db.general().await?;
    let tx = session.snapshot().await?;
    let Some(newest_first) = of_notification(&tx, tenant, id).await? else {
        return Ok(None);
    };
    Ok(Some(newest_first.into_iter().rev().map(|(_, row)| row).collect()))
}

pub(in crate::postgres) async fn page(
    db: &Db,
    tenant: TenantId,
    filter: &AuditFilter,
    page: &Page,
) -> Result<AuditPage, Failed> {
    let mut session = db.general().await?;
    let tx = session.snapshot().await?;
    let mut taking = Taking::new(filter, page.limit);
    let mut start = newest(filter.to, page.after);
    if let Some(id) = filter.correlation {
        let rows = match of_notification(&tx, tenant, id).await? {
            Some(rows) => rows,
            None => of_operation(&tx, tenant, id).await?,
        };
        let wanted =
            |(place, _): &Numbered| *place < start && filter.from.is_none_or(|from| place.at >= from);
        let full = taking.take(rows.into_iter().filter(wanted));
        return Ok(taking.page(full));
    }
    // One more than asked for: only then is there a next page to offer.
    let mut step = page.limit.max(1) as usize + 1;
    loop {
        let (mut rows, known_until) = read(&tx, tenant, filter, start, step).await?;
        // What a source has below its last row is not read yet, so nothing below that is in order yet.
        if let Some(until) = known_until {
            rows.retain(|(place, _)| *place >= until);
        }
        if taking.take(rows) {
            return Ok(taking.page(true));
        }
        let Some(until) = known_until else {
            return Ok(taking.page(false));
        };
        start = until;
        step = STEP;
    }
}

/// What was chosen so far, and how much was looked at.
struct Taking<'a> {
    filter: &'a AuditFilter,
    limit: usize,
    seen: usize,
    rows: Vec<Numbered>,
    last_seen: Option<Cursor>,
    /// Where to go on, once the page is full or the bound is reached.
    next: Option<Cursor>,
}

impl<'a> Taking<'a> {
    fn new(filter: &'a AuditFilter, limit: u32) -> Self {
        Self {
            filter,
            limit: limit.max(1) as usize,
            seen: 0,
            rows: vec![],
            last_seen: None,
            next: None,
        }
    }

    /// Whether the page ends here although there is more.
    fn take(&mut self, rows: impl IntoIterator<Item = Numbered>) -> bool {
        for (place, row) in rows {
            if self.seen == SCAN_BOUND as usize {
                self.next = self.last_seen;
                return true;
            }
            self.seen += 1;
            self.last_seen = Some(place);
            if !passes(&row, self.filter) {
                continue;
            }
            if self.rows.len() == self.limit {
                self.next = self.rows.last().map(|(place, _)| *place);
                return true;
            }
            self.rows.push((place, row));
        }
        false
    }

    fn page(self, goes_on: bool) -> AuditPage {
        AuditPage {
            rows: self.rows.into_iter().map(|(_, row)| row).collect(),
            next: self.next.filter(|_| goes_on),
        }
    }
}

fn passes(row: &AuditRow, filter: &AuditFilter) -> bool {
    filter.kind.is_none_or(|kind| row.kind == kind)
        && filter.status.is_none_or(|status| row.status == status)
        && filter.actor.as_ref().is_none_or(|actor| row.actor == *actor)
}

fn newest(to: Option<Timestamp>, after: Option<Cursor>) -> Cursor {
    let end = Cursor {
        at: Timestamp::from_millis(i64::MAX),
        seq: i64::MAX,
    };
    let before = to.map_or(end, |at| Cursor { at, seq: i64::MIN });
    after.map_or(before, |cursor| before.min(cursor))
}

/// The next rows of all sources, newest first. With a place: one of them has more below it.
async fn read(
    tx: &Tx<'_>,
    tenant: TenantId,
    filter: &AuditFilter,
    start: Cursor,
    step: usize,
) -> Result<(Vec<Numbered>, Option<Cursor>), Failed> {
    let from = At(filter.from.unwrap_or(Timestamp::from_millis(i64::MIN)));
    let (wants_log, wants_sends) = sources(filter);
    let mut rows = vec![];
    let mut known_until: Option<Cursor> = None;
    let mut full = |last: Option<Cursor>| known_until = known_until.max(last);
    if wants_log {
        // A cursor among the accepted is below every number of the log, and the other way round.
        let number = start.seq.div_euclid(2);
        // One more than asked for, because the first may be the half that the last page has shown.
        let n = step as i64 + 1;
        let delivered = number.saturating_sub(DELIVERIES);
        let (tenant, start_at) = (tenant.0, At(start.at));
        let log: Params<'_> = &[&tenant, &from, &start_at, &number, &n];
        let deliveries: Params<'_> = &[&tenant, &from, &start_at, &delivered, &n, &DELIVERIES];
        for (source, params) in [(sql::audit_page, log), (sql::audit_deliveries, deliveries)] {
            let found = tx.rows(source, params).await?;
            for row in &found {
                rows.extend(from_log(row)?.into_iter().filter(|(place, _)| *place < start));
            }
            if found.len() as i64 == n {
                full(rows.last().map(|(place, _)| *place));
            }
        }
    }
    if wants_sends {
        let seq = if start.seq < 0 {
            start.seq.saturating_sub(SENDS)
        } else {
            i64::MAX
        };
        let found = tx
            .rows(
                sql::audit_sends,
                &[&tenant.0, &from, &At(start.at), &seq, &(step as i64)],
            )
            .await?;
        let sent: Vec<Numbered> = found.iter().map(from_send).collect();
        if found.len() == step {
            full(sent.last().map(|(place, _)| *place));
        }
        rows.extend(sent);
    }
    rows.sort_by_key(|(place, _)| Reverse(*place));
    Ok((rows, known_until))
}

/// Which of the log (with the deliveries) and the notifications can have a row the filter asks for.
fn sources(filter: &AuditFilter) -> (bool, bool) {
    let is_send = filter.kind.map(|kind| kind == AuditKind::NotifySend);
    let is_submitted = filter.status.map(|status| status == AuditStatus::Submitted);
    let may_be = |send: bool| is_send.is_none_or(|is| is == send) && is_submitted.is_none_or(|is| is == send);
    (may_be(false), may_be(true))
}

/// Everything about one notification, newest first; none if there is no such notification.
async fn of_notification(
    tx: &Tx<'_>,
    tenant: TenantId,
    id: NotificationId,
) -> Result<Option<Vec<Numbered>>, Failed> {
    let Some(row) = tx.opt(sql::audit_send_of, &[&tenant.0, &id.0]).await? else {
        return Ok(None);
    };
    let seq: i64 = row.get("seq");
    let mut rows = vec![from_send(&row)];
    let of_row: Params<'_> = &[&seq];
    let delivery: Params<'_> = &[&seq, &DELIVERIES];
    for (source, params) in [(sql::audit_by_seq, of_row), (sql::audit_delivery_of, delivery)] {
        for row in tx.rows(source, params).await? {
            rows.extend(from_log(&row)?);
        }
    }
    rows.sort_by_key(|(place, _)| Reverse(*place));
    Ok(Some(rows))
}

/// Everything about one cached call or write, newest first.
async fn of_operation(tx: &Tx<'_>, tenant: TenantId, id: NotificationId) -> Result<Vec<Numbered>, Failed> {
    let mut rows = vec![];
    let bound = i64::from(SCAN_BOUND);
    for row in tx
        .rows(sql::audit_by_operation, &[&tenant.0, &id.0, &bound])
        .await?
    {
        rows.extend(from_log(&row)?);
    }
    Ok(rows)
}

/// The end, if the attempt ended its notification, then the attempt: newest first.
fn from_log(row: &Row) -> Result<Vec<Numbered>> {
    const TABLE: &str = "audit_log";
    let at = rows::time(row, "at");
    let number = 2 * row.get::<_, i64>("audit_id");
    let logged = AuditRow {
        at,
        kind: rows::parsed(TABLE, row.get("kind"))?,
        status: rows::parsed(TABLE, row.get("status"))?,
        notification: row.get::<_, Option<_>>("id").map(NotificationId),
        operation: row.get::<_, Option<_>>("operation").map(TrackedOperationId),
        execution: row.get("execution"),
        parent_execution: row.get("parent_execution"),
        actor: row.get("actor"),
        site: row.get("site"),
        target: row.get("target"),
        duration_ms: row.get::<_, Option<i32>>("duration_ms").map(small),
        code: row.get("code"),
        detail: row.get("detail"),
    };
    let mut numbered = vec![];
    if let Some(status) = row.get::<_, Option<&str>>("ended_as") {
        let ended = AuditRow {
            status: rows::parsed(TABLE, status)?,
            duration_ms: None,
            ..logged.clone()
        };
        numbered.push((Cursor { at, seq: number + 1 }, ended));
    }
    numbered.push((Cursor { at, seq: number }, logged));
    Ok(numbered)
}

fn from_send(row: &Row) -> Numbered {
    let at = rows::time(row, "at");
    let place = Cursor {
        at,
        seq: SENDS + row.get::<_, i64>("seq"),
    };
    let sent = AuditRow {
        at,
        kind: AuditKind::NotifySend,
        status: AuditStatus::Submitted,
        notification: Some(NotificationId(row.get("id"))),
        operation: None,
        execution: row.get("execution"),
        parent_execution: row.get("parent_execution"),
        actor: row.get("actor"),
        site: row.get("site"),
        target: row.get("target"),
        duration_ms: None,
        code: None,
        detail: None,
    };
    (place, sent)
}
