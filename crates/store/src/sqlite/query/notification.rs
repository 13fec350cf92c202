//! A notification as it stands, put together from its content and the one row that says where it is.

use super::sql;
use crate::{
    Result,
    query::{Notification, Standing, standing},
    sqlite::{
        columns,
        rows::{self, all},
    },
};
use domain::{LaneId, NotificationId, RecipientResult, Seq, Status, TenantId};
use rusqlite::{Connection, Row, params};

pub(super) fn get(conn: &Connection, tenant: TenantId, id: NotificationId) -> Result<Option<Notification>> {
    let found = all(conn, sql::get, params![tenant.0, id.0.as_bytes()], |row| {
        Ok((Seq(row.get("seq")?), from_row(row)?))
    })?;
    let Some((seq, mut notification)) = found.into_iter().next() else {
        return Ok(None);
    };
    notification.recipients = recipients(conn, seq)?;
    Ok(Some(notification))
}

pub(super) fn standings(
    conn: &Connection,
    tenant: TenantId,
    ids: &[NotificationId],
) -> Result<Vec<Standing>> {
    let mut found = vec![];
    for id in ids {
        let params = params![tenant.0, id.0.as_bytes()];
        found.extend(all(conn, sql::standings, params, |row| {
            Ok(Standing {
                id: *id,
                status: status(row)?,
                last_error: row.get("error")?,
                ended_at: rows::optional_time(row, "at")?,
            })
        })?);
    }
    Ok(found)
}

pub(super) fn from_row(row: &Row<'_>) -> Result<Notification> {
    let status = status(row)?;
    let waits: bool = row.get("waits")?;
    let ended_at = rows::optional_time(row, "at")?;
    let provider: Option<String> = row.get("lane_provider")?;
    Ok(Notification {
        submission: columns::read(row)?,
        status,
        generation: row.get("generation")?,
        retry_count: row.get("attempts")?,
        last_code: row.get("code")?,
        last_provider_code: row.get("provider_code")?,
        last_error: row.get("error")?,
        created_at: rows::time(row, "created_at")?,
        waiting_since: rows::time(row, "waiting_since")?,
        last_attempt_at: rows::optional_time(row, "last_attempt_at")?,
        next_attempt_at: rows::optional_time(row, "due_at")?,
        leased_until: rows::optional_time(row, "leased_until")?,
        delivered_at: ended_at.filter(|_| status == Status::Delivered),
        ended_at,
        resolved_targets: match row.get::<_, Option<String>>("resolved_targets")? {
            Some(text) => rows::from_json("outcome", &text)?,
            None => vec![],
        },
        provider_message_id: row.get("provider_message_id")?,
        receipt: row.get("receipt")?,
        receipt_at: rows::optional_time(row, "receipt_at")?,
        provider: provider.filter(|name| !name.is_empty()),
        lane: row.get::<_, Option<i64>>("lane_id")?.map(LaneId),
        lane_not_before: rows::optional_time(row, "lane_not_before")?,
        held: if waits { rows::hold(row)? } else { None },
        recipients: vec![],
    })
}

fn status(row: &Row<'_>) -> Result<Status> {
    let ended: Option<String> = row.get("status")?;
    let ended = ended.map(|text| rows::parse("outcome", &text)).transpose()?;
    standing(ended, row.get("waits")?, row.get("attempts")?)
}

pub(in crate::sqlite) fn recipients(conn: &Connection, seq: Seq) -> Result<Vec<RecipientResult>> {
    let mut statement = conn.prepare_cached(sql::recipients_of)?;
    let mut found = statement.query(params![seq.0])?;
    let mut results = vec![];
    while let Some(row) = found.next()? {
        results.push(RecipientResult {
            address: row.get("address")?,
            state: rows::parse("recipient_results", &row.get::<_, String>("state")?)?,
            generation: row.get("generation")?,
            provider_message_id: row.get("provider_message_id")?,
            code: row.get("code")?,
            provider_code: row.get("provider_code")?,
            error: row.get("error")?,
            at: rows::time(row, "at")?,
            receipt: row
                .get::<_, Option<String>>("receipt")?
                .map(|text| rows::parse("recipient_results", &text))
                .transpose()?,
            provider: row.get("provider")?,
            tries: row.get("tries")?,
            not_before: rows::optional_time(row, "not_before")?,
        });
    }
    Ok(results)
}
