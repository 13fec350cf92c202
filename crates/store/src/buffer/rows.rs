//! From columns to values. A value that no version of this program writes is `Corrupt`, never a guess.

use super::{
    gauge,
    message::{End, Message, MessageId, MessageStatus, Origin, Tombstone, Waiting},
};
use crate::{
    Error, Result,
    sqlite::rows::{Columns, count, optional_time, parse, time},
};
use domain::site::Category;
use rusqlite::Row;
use std::time::Duration;

const TABLE: &str = "sf_messages";

pub(super) fn category(row: &Row<'_>) -> Result<Category> {
    let number: i64 = row.get("category")?;
    Category::ALL
        .iter()
        .copied()
        .find(|c| category_number(*c) == number)
        .ok_or_else(|| Error::corrupt(TABLE, format!("unknown category {number}")))
}

pub(super) fn category_number(category: Category) -> i64 {
    gauge::index(category) as i64
}

pub(super) fn status_number(status: MessageStatus) -> i64 {
    match status {
        MessageStatus::Pending => 0,
        MessageStatus::Parked => 2,
    }
}

pub(super) fn status(row: &Row<'_>) -> Result<MessageStatus> {
    let number: i64 = row.get("status")?;
    [MessageStatus::Pending, MessageStatus::Parked]
        .into_iter()
        .find(|s| status_number(*s) == number)
        .ok_or_else(|| Error::corrupt(TABLE, format!("unknown status {number}")))
}

pub(super) fn message(row: &Row<'_>) -> Result<Message> {
    Ok(Message {
        seq: row.get("seq")?,
        id: parse(TABLE, row.get_ref("id")?.as_str().map_err(rusqlite::Error::from)?)?,
        category: category(row)?,
        target: row.get("target")?,
        payload: row.get("payload_json")?,
        summary: row.get("summary")?,
        retry_count: row.get("retry_count")?,
        max_retries: row.get("max_retries")?,
        retry_interval: Duration::from_millis(count(row, "retry_interval_ms")?),
        created_at: time(row, "created_at")?,
        last_attempt_at: optional_time(row, "last_attempt_at")?,
        status: status(row)?,
        last_error: row.get("last_error")?,
        origin: Origin {
            instance: row.get("origin_instance")?,
            script: row.get("source_script")?,
            execution: row.get("execution_id")?,
            parent_execution: row.get("parent_execution_id")?,
        },
        due_at: time(row, "due_at")?,
        queued_at: optional_time(row, "queued_at")?,
        attempt: row.get("attempt")?,
        interruptions: row.get("interruptions")?,
        parked_at: optional_time(row, "parked_at")?,
    })
}

pub(super) fn waiting(row: &Row<'_>) -> Result<Waiting> {
    let mut columns = Columns::of(row);
    Ok(Waiting {
        seq: columns.next()?,
        id: parse(TABLE, columns.text()?.unwrap_or_default())?,
        payload: columns.next()?,
        created_at: columns.time()?,
        origin: Origin {
            instance: columns.next()?,
            script: columns.next()?,
            execution: columns.next()?,
            parent_execution: columns.next()?,
        },
    })
}

pub(super) fn tombstone(row: &Row<'_>) -> Result<Tombstone> {
    let id: String = row.get("id")?;
    let ended_as: String = row.get("ended_as")?;
    Ok(Tombstone {
        id: parse::<MessageId>("tombstones", &id)?,
        end: match ended_as.as_str() {
            "Delivered" => End::Delivered,
            "Discarded" => End::Discarded,
            other => return Err(Error::corrupt("tombstones", format!("unknown end {other:?}"))),
        },
        at: time(row, "ended_at")?,
        by: row.get("ended_by")?,
    })
}

pub(super) fn interval_ms(interval: Duration) -> i64 {
    i64::try_from(interval.as_millis()).unwrap_or(i64::MAX)
}
