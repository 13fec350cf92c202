//! Rows in the terms of the domain. A value that no version of this program writes is `Corrupt`, named by its table.

use super::types::{At, small};
use crate::{Error, Result, extra::Extra};
use domain::{Channel, Hold, RecipientResult, Status, Target, Timestamp};
use serde::de::DeserializeOwned;
use std::str::FromStr;
use tokio_postgres::{
    Row,
    row::RowIndex,
    types::{FromSql, Json},
};

pub(super) fn parsed<T: FromStr>(table: &'static str, text: &str) -> Result<T>
where
    T::Err: std::fmt::Display,
{
    text.parse()
        .map_err(|e: T::Err| Error::corrupt(table, e.to_string()))
}

pub(super) fn status(text: Option<&str>) -> Result<Option<Status>> {
    text.map(|text| parsed("outcome", text)).transpose()
}

pub(super) fn time(row: &Row, column: &str) -> Timestamp {
    row.get::<_, At>(column).0
}

pub(super) fn time_opt(row: &Row, column: &str) -> Option<Timestamp> {
    row.get::<_, Option<At>>(column).map(|at| at.0)
}

pub(super) fn channel(row: &Row) -> Result<Channel> {
    parsed("notifications", row.get("channel"))
}

/// Of the columns `list_name` and `recipients`.
pub(super) fn target(row: &Row) -> Result<Target> {
    Ok(Target::of(
        row.get("list_name"),
        json_text(row, "notifications", "recipients", "recipients")?,
    ))
}

/// Reads a row's columns one after the other.
pub(super) struct Columns<'r> {
    row: &'r Row,
    next: usize,
}

impl<'r> Columns<'r> {
    /// From the one behind this.
    pub fn after(row: &'r Row, column: usize) -> Self {
        Self {
            row,
            next: column + 1,
        }
    }

    pub fn next<T: FromSql<'r>>(&mut self) -> T {
        let value = self.row.get(self.next);
        self.next += 1;
        value
    }

    pub fn time(&mut self) -> Timestamp {
        self.next::<At>().0
    }

    /// JSON in a text column.
    pub fn json<T: DeserializeOwned>(&mut self, table: &'static str, column: &str) -> Result<Option<T>> {
        let value = json_text(self.row, table, column, self.next);
        self.next += 1;
        value
    }
}

pub(super) fn extra(row: &Row) -> Result<Extra<'static>> {
    Ok(json_text(row, "notifications", "extra", "extra")?.unwrap_or_default())
}

/// A `jsonb` column. What is in it may have been written by another version.
pub(super) fn json<T: DeserializeOwned>(row: &Row, table: &'static str, column: &str) -> Result<Option<T>> {
    match row.try_get::<_, Option<Json<T>>>(column) {
        Ok(value) => Ok(value.map(|json| json.0)),
        Err(e) => Err(Error::corrupt(table, format!("{column}: {}", root(&e)))),
    }
}

/// JSON in a text column. What is in it may have been written by another version.
pub(super) fn json_text<T: DeserializeOwned>(
    row: &Row,
    table: &'static str,
    column: &str,
    at: impl RowIndex + std::fmt::Display,
) -> Result<Option<T>> {
    let Some(text) = row.get::<_, Option<&str>>(at) else {
        return Ok(None);
    };
    let value = serde_json::from_str(text)
        .map_err(|e| Error::corrupt(table, format!("{column} {}", crate::json_fault(&e))))?;
    Ok(Some(value))
}

fn root(error: &dyn std::error::Error) -> String {
    error
        .source()
        .map_or_else(|| error.to_string(), ToString::to_string)
}

/// Of the columns `hold_reason`, `hold_detail`, `hold_by`, `hold_code`, `hold_since`, `next_probe`, `probes`.
pub(super) fn hold(row: &Row) -> Result<Option<Hold>> {
    let Some(reason) = row.get::<_, Option<&str>>("hold_reason") else {
        return Ok(None);
    };
    Ok(Some(Hold {
        reason: parsed("lanes", reason)?,
        detail: row.get("hold_detail"),
        since: time(row, "hold_since"),
        next_probe: time_opt(row, "next_probe"),
        probes: small(row.get("probes")),
        by: row.get("hold_by"),
        code: row.get("hold_code"),
    }))
}

pub(super) fn recipient(row: &Row) -> Result<RecipientResult> {
    Ok(RecipientResult {
        address: row.get("address"),
        state: parsed("recipient_results", row.get("state"))?,
        generation: row.get("generation"),
        provider_message_id: row.get("provider_message_id"),
        code: row.get("code"),
        provider_code: row.get("provider_code"),
        error: row.get("error"),
        at: time(row, "at"),
        receipt: row
            .get::<_, Option<&str>>("receipt")
            .map(|text| parsed("recipient_results", text))
            .transpose()?,
        provider: row.get("provider"),
        tries: small(row.get("tries")),
        not_before: time_opt(row, "not_before"),
    })
}

/// As text; the column's type checks it.
pub(super) fn to_json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|e| Error::Refused(e.to_string()))
}
