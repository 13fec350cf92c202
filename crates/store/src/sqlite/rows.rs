//! From columns to values. A value that no version of this program writes is `Corrupt`, never a guess.

use crate::{Error, Result, extra::Extra};
use domain::{Hold, NotificationId, Target, Timestamp};
use rusqlite::{Connection, Params, Row, RowIndex, types::FromSql};
use serde::{Serialize, de::DeserializeOwned};
use std::{fmt::Display, str::FromStr};
use uuid::Uuid;

/// JSON text of something that always has one.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

pub(crate) fn from_json<T: DeserializeOwned>(table: &'static str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|e| Error::corrupt(table, crate::json_fault(&e)))
}

pub(crate) fn parse<T: FromStr>(table: &'static str, text: &str) -> Result<T>
where
    T::Err: Display,
{
    text.parse()
        .map_err(|e: T::Err| Error::corrupt(table, e.to_string()))
}

pub(crate) fn time(row: &Row<'_>, column: &str) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp::from_millis)
}

pub(crate) fn optional_time(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_millis))
}

/// A count; SQLite's numbers are signed, counts are not.
pub(crate) fn count(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<u64> {
    Ok(row.get::<_, i64>(column)?.max(0).unsigned_abs())
}

pub(super) fn id(row: &Row<'_>, column: &str) -> rusqlite::Result<NotificationId> {
    Ok(NotificationId(Uuid::from_bytes(row.get(column)?)))
}

/// The columns of a row in the order the statement selects them: where it matters how long a look takes.
pub(crate) struct Columns<'a>(&'a Row<'a>, usize);

impl<'a> Columns<'a> {
    pub(crate) fn of(row: &'a Row<'a>) -> Self {
        Self(row, 0)
    }

    pub(crate) fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        self.1 += 1;
        self.0.get(self.1 - 1)
    }

    pub(crate) fn text(&mut self) -> rusqlite::Result<Option<&'a str>> {
        self.1 += 1;
        Ok(self.0.get_ref(self.1 - 1)?.as_str_or_null()?)
    }

    pub(crate) fn time(&mut self) -> rusqlite::Result<Timestamp> {
        self.next().map(Timestamp::from_millis)
    }
}

/// Where a notification goes, from its two columns.
pub(super) fn target(list: Option<&str>, recipients: Option<&str>) -> Result<Target> {
    Ok(match (list, recipients) {
        (Some(list), _) => Target::List(list.into()),
        (None, Some(json)) => Target::Recipients(from_json("notifications", json)?),
        (None, None) => Target::Provider,
    })
}

pub(super) fn extra(json: Option<&str>) -> Result<Extra<'static>> {
    json.map_or(Ok(Extra::default()), |json| from_json("notifications", json))
}

/// The hold in a row that has the lane's columns.
pub(super) fn hold(row: &Row<'_>) -> Result<Option<Hold>> {
    let Some(reason) = row.get::<_, Option<String>>("hold_reason")? else {
        return Ok(None);
    };
    Ok(Some(Hold {
        reason: parse("lanes", &reason)?,
        detail: row.get("hold_detail")?,
        since: time(row, "hold_since")?,
        next_probe: optional_time(row, "next_probe")?,
        probes: row.get("probes")?,
        by: row.get("hold_by")?,
        code: row.get("hold_code")?,
    }))
}

/// All rows of a statement.
pub(super) fn all<T>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    from_row: impl Fn(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut found = statement.query(params)?;
    let mut values = vec![];
    while let Some(row) = found.next()? {
        values.push(from_row(row)?);
    }
    Ok(values)
}
