//! Reading the audit log out of its three tables; how they are put together is said in [`crate::audit::order`].

use super::sql;
use crate::{
    Result,
    audit::order::{self, Accepted, DELIVERIES, Numbered, Starts},
    paging::Paging,
    postgres::{
        failed::Failed,
        rows,
        session::{Db, Params, Session, Tx},
        types::{At, small},
    },
    query::{AuditFilter, AuditPage, AuditRow, Cursor, Page, SCAN_BOUND},
    transcripts::{self, Made},
};
use domain::{NotificationId, TenantId, Timestamp, TrackedOperationId, Transcript};
use std::cmp::Reverse;
use tokio_postgres::Row;

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
    let mut rows: Vec<_> = newest_first.into_iter().rev().map(|(_, row)| row).collect();
    if let Some(seq) = seq_of(&tx, tenant, id).await? {
        transcripts::number(&mut rows, &made(&tx, seq).await?);
    }
    Ok(Some(rows))
}

pub(in crate::postgres) async fn transcript(
    db: &Db,
    tenant: TenantId,
    id: NotificationId,
    number: u32,
) -> Result<Option<Transcript>, Failed> {
    let mut session = db.general().await?;
    let tx = session.snapshot().await?;
    let Some(seq) = seq_of(&tx, tenant, id).await? else {
        return Ok(None);
    };
    let wanted = transcripts::numbered(&made(&tx, seq).await?, number);
    let Some(token) = wanted.and_then(|made| made.token) else {
        return Ok(None);
    };
    let Some(row) = tx.opt(sql::transcript, &[&seq, &token]).await? else {
        return Ok(None);
    };
    Ok(Some(transcripts::read(row.get(0))?))
}

async fn seq_of(tx: &Tx<'_>, tenant: TenantId, id: NotificationId) -> Result<Option<i64>, Failed> {
    let found = tx.opt(sql::audit_send_of, &[&tenant.0, &id.0]).await?;
    Ok(found.map(|row| row.get("seq")))
}

async fn made(tx: &Tx<'_>, seq: i64) -> Result<Vec<Made>, Failed> {
    let rows = tx.rows(sql::attempts_made, &[&seq]).await?;
    let made = rows.iter().map(|row| Made {
        token: row.get("token"),
        kept: row.get("kept"),
    });
    Ok(made.collect())
}

pub(in crate::postgres) async fn page(
    db: &Db,
    tenant: TenantId,
    filter: &AuditFilter,
    page: &Page,
) -> Result<AuditPage, Failed> {
    let mut session = db.general().await?;
    let tx = session.snapshot().await?;
    let mut paging = Paging::new(page);
    let mut start = Cursor::newest(filter.to, page.after);
    let take = |paging: &mut Paging<AuditRow>, rows: Vec<Numbered>| {
        rows.into_iter()
            .any(|(place, row)| paging.take(place, Some(row).filter(|row| filter.passes(row))))
    };
    if let Some(id) = filter.correlation {
        let mut rows = match of_notification(&tx, tenant, id).await? {
            Some(rows) => rows,
            None => of_operation(&tx, tenant, id).await?,
        };
        rows.retain(|(place, _)| *place < start && filter.from.is_none_or(|from| place.at >= from));
        take(&mut paging, rows);
    } else {
        loop {
            let (mut rows, known_until) = read(&tx, tenant, filter, start, paging.step()).await?;
            // What a source has below its last row is not read yet, so nothing below that is in order yet.
            if let Some(until) = known_until {
                rows.retain(|(place, _)| *place >= until);
            }
            if take(&mut paging, rows) {
                break;
            }
            let Some(until) = known_until else { break };
            start = until;
        }
    }
    let (rows, next) = paging.finish();
    Ok(AuditPage { rows, next })
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
    let (sources, starts) = (filter.sources(), Starts::of(start));
    let (tenant, at) = (tenant.0, At(starts.at));
    let mut rows = vec![];
    let mut known_until: Option<Cursor> = None;
    let mut full = |last: Option<Cursor>| known_until = known_until.max(last);
    // One more than asked for, because the first may be the half that the last page has shown.
    let n = step as i64 + 1;
    let log: Params<'_> = &[&tenant, &from, &at, &starts.log, &n];
    let deliveries: Params<'_> = &[&tenant, &from, &at, &starts.deliveries, &n, &DELIVERIES];
    let attempts = [
        (sources.log, sql::audit_page, log),
        (sources.deliveries, sql::audit_deliveries, deliveries),
    ];
    for (_, source, params) in attempts.into_iter().filter(|(asked, ..)| *asked) {
        let found = tx.rows(source, params).await?;
        for row in &found {
            rows.extend(from_log(row)?.filter(|(place, _)| *place < start));
        }
        if found.len() as i64 == n {
            full(rows.last().map(|(place, _)| *place));
        }
    }
    if sources.sends {
        let params: Params<'_> = &[&tenant, &from, &at, &starts.sends, &(step as i64)];
        let found = tx.rows(sql::audit_sends, params).await?;
        let sent: Vec<Numbered> = found.iter().map(from_send).collect();
        if found.len() == step {
            full(sent.last().map(|(place, _)| *place));
        }
        rows.extend(sent);
    }
    rows.sort_by_key(|(place, _)| Reverse(*place));
    Ok((rows, known_until))
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
    let params: Params<'_> = &[&tenant.0, &id.0, &i64::from(SCAN_BOUND)];
    for row in tx.rows(sql::audit_by_operation, params).await? {
        rows.extend(from_log(&row)?);
    }
    Ok(rows)
}

fn from_log(row: &Row) -> Result<impl Iterator<Item = Numbered> + use<>> {
    const TABLE: &str = "audit_log";
    let logged = AuditRow {
        at: rows::time(row, "at"),
        kind: rows::parsed(TABLE, row.get("kind"))?,
        status: rows::parsed(TABLE, row.get("status"))?,
        notification: row.get::<_, Option<_>>("id").map(NotificationId),
        subject: row.get("subject"),
        operation: row.get::<_, Option<_>>("operation").map(TrackedOperationId),
        execution: row.get("execution"),
        parent_execution: row.get("parent_execution"),
        actor: row.get("actor"),
        site: row.get("site"),
        target: row.get("target"),
        duration_ms: row.get::<_, Option<i32>>("duration_ms").map(small),
        code: row.get("code"),
        provider_code: row.get("provider_code"),
        detail: row.get("detail"),
        attempt: None,
        was_last: false,
        has_transcript: false,
    };
    let ended_as: Option<&str> = row.get("ended_as");
    let ended_as = ended_as.map(|text| rows::parsed(TABLE, text)).transpose()?;
    Ok(order::of_log(row.get("audit_id"), ended_as, logged))
}

fn from_send(row: &Row) -> Numbered {
    let sent = Accepted {
        seq: row.get("seq"),
        at: rows::time(row, "at"),
        id: NotificationId(row.get("id")),
        subject: row.get("subject"),
        execution: row.get("execution"),
        parent_execution: row.get("parent_execution"),
        actor: row.get("actor"),
        site: row.get("site"),
        target: row.get("target"),
    };
    sent.into()
}
