//! A notification as it stands, put together from its content and the one row that says where it is.

use super::sql;
use crate::{
    Result,
    postgres::{
        failed::Failed,
        outbox::ingest_columns,
        rows,
        session::{Db, Session},
        types::small,
    },
    query::{Notification, Standing, standing},
};
use domain::{LaneId, NotificationId, Status, TenantId};
use tokio_postgres::Row;

pub(super) async fn get(
    db: &Db,
    tenant: TenantId,
    id: NotificationId,
) -> Result<Option<Notification>, Failed> {
    let mut session = db.general().await?;
    let tx = session.snapshot().await?;
    let Some(row) = tx.opt(sql::get, &[&tenant.0, &id.0]).await? else {
        return Ok(None);
    };
    let mut notification = from_row(&row)?;
    let seq: i64 = row.get("seq");
    let recipients = tx.rows(sql::recipients_of, &[&seq]).await?;
    notification.recipients = recipients.iter().map(rows::recipient).collect::<Result<_>>()?;
    Ok(Some(notification))
}

pub(super) async fn standings(
    db: &Db,
    tenant: TenantId,
    ids: &[NotificationId],
) -> Result<Vec<Standing>, Failed> {
    let session = db.general().await?;
    let ids: Vec<_> = ids.iter().map(|id| id.0).collect();
    let mut found = vec![];
    for row in session.rows(sql::standings, &[&tenant.0, &ids]).await? {
        found.push(Standing {
            id: NotificationId(row.get("id")),
            status: status(&row)?,
            last_error: row.get("error"),
            ended_at: rows::time_opt(&row, "at"),
        });
    }
    Ok(found)
}

pub(super) fn from_row(row: &Row) -> Result<Notification> {
    let status = status(row)?;
    let waits: bool = row.get("waits");
    let ended_at = rows::time_opt(row, "at");
    let provider: Option<String> = row.get("lane_provider");
    Ok(Notification {
        submission: ingest_columns::read(row)?,
        status,
        generation: row.get("generation"),
        retry_count: small(row.get("attempts")),
        last_code: row.get("code"),
        last_provider_code: row.get("provider_code"),
        last_error: row.get("error"),
        created_at: rows::time(row, "created_at"),
        waiting_since: rows::time(row, "waiting_since"),
        last_attempt_at: rows::time_opt(row, "last_attempt_at"),
        next_attempt_at: rows::time_opt(row, "due_at"),
        leased_until: rows::time_opt(row, "leased_until"),
        delivered_at: ended_at.filter(|_| status == Status::Delivered),
        ended_at,
        resolved_targets: rows::json_text(row, "outcome", "resolved_targets", "resolved_targets")?
            .unwrap_or_default(),
        provider_message_id: row.get("provider_message_id"),
        receipt: row.get("receipt"),
        receipt_at: rows::time_opt(row, "receipt_at"),
        provider: provider.filter(|name| !name.is_empty()),
        lane: row.get::<_, Option<i64>>("lane_id").map(LaneId),
        lane_not_before: rows::time_opt(row, "lane_not_before"),
        held: if waits { rows::hold(row)? } else { None },
        recipients: vec![],
    })
}

fn status(row: &Row) -> Result<Status> {
    let ended = rows::status(row.get("status"))?;
    standing(ended, row.get("waits"), small(row.get("attempts")))
}
