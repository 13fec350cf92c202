//! What is put right when the file is opened and SQLite's quick check found nothing: an index that tells something else than
//! its table, and rows of a category that nobody knows.
//!
//! Always true: a bit that turned over costs the row it is in, at most. A write that comes across an index which has not got
//! what it should have ends the process, and would end every process after it.

use super::{
    aside,
    damage::{self, Found},
    event::{self, About, What},
    open, replication, rescued, sql,
};
use crate::{
    Error, Result,
    sqlite::{connection, error},
};
use domain::{Clock, Timestamp, chain, site::Category};
use rusqlite::Connection;
use std::path::Path;

/// The file, sound and of this program's version; a fresh one where what was there could not be used.
pub(super) fn ready(path: &Path, clock: &dyn Clock) -> Result<Connection> {
    // A process that ended well leaves none. Where one is left, a write may be what ended it: every row is looked at then,
    // which takes about as long again as reading the file.
    let thorough = aside::has_log(path);
    let thorough = rescued::put_back(path, clock.now())? || thorough;
    aside::inspect(path, clock)?;
    let conn = open::migrate(path)?;
    let damage = match mend(&conn, thorough, clock.now()) {
        Ok(()) => return Ok(conn),
        Err(damage) if matches!(damage, Error::Refused(_)) || error::is_damage(&damage) => damage,
        Err(other) => {
            // No room, perhaps. What goes out needs none of this.
            tracing::warn!(error = chain(&other), "the buffer cannot be put right now");
            return Ok(conn);
        }
    };
    drop(conn);
    aside::set_file_aside(path, &chain(&damage), clock)?;
    open::migrate(path)
}

fn mend(conn: &Connection, thorough: bool, now: Timestamp) -> Result<()> {
    if let Some(why) = indexes_differ(conn, thorough)? {
        connection::reindex_all(conn)?;
        tracing::error!(
            error = why,
            "an index of the buffer was damaged; all were made anew from their tables"
        );
        let found = Found {
            what: format!("an index of the buffer was damaged ({why}); all were made anew from their tables"),
            ..Found::default()
        };
        damage::insert(conn, now, &found)?;
        event::of_file(conn, now, What::Damaged, About::many(0).because(&found.what))?;
    }
    let strangers = unknown_categories(conn)?;
    if !strangers.is_empty() {
        connection::begin(conn)?;
        let moved = damage::move_aside(conn, now, &strangers)
            .and_then(|_| replication::copy_lacks_rows(conn))
            .and_then(|()| Ok(connection::commit(conn)?));
        if moved.is_err() && !conn.is_autocommit() {
            let _ = connection::rollback(conn);
        }
        moved?;
    }
    Ok(())
}

/// What an index tells of a row that its table does not, if any does.
fn indexes_differ(conn: &Connection, thorough: bool) -> Result<Option<String>> {
    if thorough {
        let said = connection::integrity_check(conn)?;
        return Ok((said != "ok").then_some(said));
    }
    // What everything else is found by, in one walk.
    let differ: bool = conn.query_row(sql::categories_differ, [], |row| row.get(0))?;
    Ok(differ.then(|| "rows are not of the category it tells".to_owned()))
}

fn unknown_categories(conn: &Connection) -> Result<damage::NoMessages> {
    let highest = Category::ALL.len() as i64 - 1;
    let mut statement = conn.prepare(sql::unknown_categories)?;
    let found = statement.query_map([highest], |row| {
        Ok((
            row.get(0)?,
            format!("unknown category {}", row.get::<_, String>(1)?),
        ))
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
