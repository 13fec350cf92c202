//! From columns to values. A value that no version of this program writes is `Corrupt`, never a guess.

use super::message::{End, Message, MessageId, MessageStatus, Origin, Tombstone, Waiting};
use crate::{
    Error, Result,
    sqlite::rows::{count, optional_time, parse, time},
};
use domain::{Timestamp, site::Category};
use rusqlite::{Row, RowIndex, types::ValueRef};
use std::time::Duration;

const TABLE: &str = "sf_messages";

/// Texts of a row in which a bit may have turned over. What is not text is shown as well as it can be, and noted.
#[derive(Default)]
struct Texts {
    damaged: Option<String>,
}

impl Texts {
    fn text(&mut self, row: &Row<'_>, column: impl RowIndex + Copy) -> rusqlite::Result<String> {
        Ok(self.optional(row, column)?.unwrap_or_default())
    }

    fn optional(&mut self, row: &Row<'_>, column: impl RowIndex + Copy) -> rusqlite::Result<Option<String>> {
        let (bytes, is_text) = match row.get_ref(column)? {
            ValueRef::Null => return Ok(None),
            ValueRef::Text(bytes) => (bytes, true),
            ValueRef::Blob(bytes) => (bytes, false),
            ValueRef::Integer(_) | ValueRef::Real(_) => (&[][..], false),
        };
        match std::str::from_utf8(bytes) {
            Ok(text) if is_text => Ok(Some(text.to_owned())),
            not_text => {
                let place = not_text.err().map_or(0, |e| e.valid_up_to());
                let name = row.as_ref().column_name(column.idx(row.as_ref())?)?;
                self.damaged = Some(format!(
                    "{name} is not text from byte {place} on; something other than Waypost changed the file"
                ));
                Ok(Some(String::from_utf8_lossy(bytes).into_owned()))
            }
        }
    }
}

/// A text that is only for people.
pub(super) fn shown(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<String>> {
    Texts::default().optional(row, column)
}

pub(super) fn optional_category(row: &Row<'_>) -> Result<Option<Category>> {
    match row.get_ref("category")? {
        ValueRef::Null => Ok(None),
        _ => category(row).map(Some),
    }
}

pub(super) fn category(row: &Row<'_>) -> Result<Category> {
    let number: i64 = row.get("category")?;
    Category::ALL
        .iter()
        .copied()
        .find(|c| category_number(*c) == number)
        .ok_or_else(|| Error::corrupt(TABLE, format!("unknown category {number}")))
}

pub(super) fn category_number(category: Category) -> i64 {
    category.number() as i64
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

/// A message, also one whose texts are damaged; an error only where it cannot be told which message it is.
pub(super) fn message(row: &Row<'_>) -> Result<Message> {
    let mut texts = Texts::default();
    Ok(Message {
        seq: row.get("seq")?,
        id: parse(TABLE, row.get_ref("id")?.as_str().map_err(rusqlite::Error::from)?)?,
        category: category(row)?,
        target: texts.text(row, "target")?,
        payload: texts.text(row, "payload_json")?,
        summary: shown(row, "summary")?,
        retry_count: row.get("retry_count")?,
        max_retries: row.get("max_retries")?,
        retry_interval: Duration::from_millis(count(row, "retry_interval_ms")?),
        created_at: time(row, "created_at")?,
        last_attempt_at: optional_time(row, "last_attempt_at")?,
        status: status(row)?,
        last_error: shown(row, "last_error")?,
        origin: Origin {
            instance: texts.optional(row, "origin_instance")?,
            script: texts.optional(row, "source_script")?,
            execution: texts.optional(row, "execution_id")?,
            parent_execution: texts.optional(row, "parent_execution_id")?,
        },
        due_at: time(row, "due_at")?,
        queued_at: optional_time(row, "queued_at")?,
        attempt: row.get("attempt")?,
        interruptions: row.get("interruptions")?,
        parked_at: optional_time(row, "parked_at")?,
        damaged: texts.damaged,
        payload_bytes: match row.get_ref("payload_json")? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 0,
        },
    })
}

/// The columns in the order of `forwardable`: how long this takes decides how fast a site forwards.
pub(super) fn waiting(row: &Row<'_>) -> Result<Waiting> {
    let mut texts = Texts::default();
    Ok(Waiting {
        seq: row.get(0)?,
        id: parse(TABLE, row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?)?,
        payload: texts.text(row, 2)?,
        created_at: row.get(3).map(Timestamp::from_millis)?,
        origin: Origin {
            instance: texts.optional(row, 4)?,
            script: texts.optional(row, 5)?,
            execution: texts.optional(row, 6)?,
            parent_execution: texts.optional(row, 7)?,
        },
        damaged: texts.damaged,
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
        by: shown(row, "ended_by")?,
        target: shown(row, "target")?.unwrap_or_default(),
        summary: shown(row, "summary")?,
        last_error: shown(row, "last_error")?,
    })
}

pub(super) fn interval_ms(interval: Duration) -> i64 {
    i64::try_from(interval.as_millis()).unwrap_or(i64::MAX)
}
