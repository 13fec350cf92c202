//! The lease of a pair on SQLite.

use super::sql;
use crate::{
    Error, Result,
    sites::{LeaseQuestion, lease_answer, whole_millis},
    sqlite::{rows::all, writer::WriteSession},
};
use domain::pair::{LeaseAnswer, WitnessRow};
use rusqlite::{Row, params};
use std::time::Duration;
use uuid::Uuid;

/// One command of the one writer: nobody else reads in between.
pub(super) fn ask(s: &mut WriteSession<'_>, asked: &LeaseQuestion) -> Result<LeaseAnswer> {
    let place = params![asked.tenant.0, asked.site.as_str(), s.now.as_millis()];
    let known = all(s.conn, sql::lease_get, place, lease_row)?.pop();
    let known = known.ok_or_else(|| Error::Refused(format!("site {} is not known", asked.site)))?;
    let (id, epoch): (String, String) = s
        .conn
        .prepare_cached(sql::database)?
        .query_row([], |row| Ok((row.get("id")?, row.get("epoch")?)))?;
    let (written, answer) = lease_answer(asked, known.as_ref(), &format!("{id}.{epoch}"));
    let Some(row) = written else {
        return Ok(answer);
    };
    let changed = s.conn.prepare_cached(sql::lease_put)?.execute(params![
        asked.tenant.0,
        asked.site.as_str(),
        s.now.as_millis(),
        i64::try_from(row.rank.0).unwrap_or(i64::MAX),
        row.rank.1.as_bytes(),
        row.holder.map(Uuid::into_bytes),
        whole_millis(row.left),
        row.database,
        row.doubt,
        known
            .as_ref()
            .map(|row| i64::try_from(row.rank.0).unwrap_or(i64::MAX)),
        known.as_ref().map(|row| row.rank.1.into_bytes()),
    ])?;
    match changed {
        0 => Err(Error::corrupt("sites", "a lease that was just read is gone")),
        _ => Ok(answer),
    }
}

/// None where nobody has asked yet.
fn lease_row(row: &Row<'_>) -> Result<Option<WitnessRow>> {
    let Some(counter) = row.get::<_, Option<i64>>("lease_counter")? else {
        return Ok(None);
    };
    let id = |column| Ok::<_, Error>(row.get::<_, Option<[u8; 16]>>(column)?.map(Uuid::from_bytes));
    Ok(Some(WitnessRow {
        rank: (
            counter.max(0).unsigned_abs(),
            id("lease_turn")?.unwrap_or_default(),
        ),
        holder: id("lease_holder")?,
        left: Duration::from_millis(row.get::<_, i64>("lease_left")?.max(0).unsigned_abs()),
        database: row
            .get::<_, Option<String>>("lease_database")?
            .unwrap_or_default(),
        doubt: row.get::<_, Option<bool>>("lease_doubt")?.unwrap_or(true),
    }))
}
