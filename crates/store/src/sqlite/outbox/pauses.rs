//! What is not to be asked for in a lane for a while, narrower than the lane.

use super::{lanes, sql};
use crate::{
    Result,
    outbox::{MAX_PAUSES, NewPause, Pauses},
    sqlite::writer::WriteSession,
};
use domain::{LaneId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

pub(super) fn add(s: &WriteSession<'_>, lane: LaneId, pauses: &[NewPause]) -> Result<()> {
    s.conn.prepare_cached(sql::pauses_changed)?.execute([lane.0])?;
    s.conn
        .prepare_cached(sql::pauses_over)?
        .execute(params![lane.0, s.now.as_millis()])?;
    let count = || -> Result<u64> {
        let mut statement = s.conn.prepare_cached(sql::pauses_count)?;
        Ok(statement
            .query_row([lane.0], |row| row.get::<_, i64>(0))?
            .unsigned_abs())
    };
    let mut kept = count()?;
    for pause in pauses {
        if kept >= MAX_PAUSES {
            lanes::pause(s, lane, pause.wait)?;
            continue;
        }
        let until = (s.now + pause.wait).as_millis();
        let mut add = s.conn.prepare_cached(sql::pause_add)?;
        kept += add.execute(params![lane.0, pause.key, until, pause.reason])? as u64;
    }
    Ok(())
}

pub(super) fn of(conn: &Connection, lane: LaneId, now: Timestamp) -> Result<Pauses> {
    let version = conn
        .prepare_cached(sql::pauses_version)?
        .query_row([lane.0], |row| row.get(0))
        .optional()?;
    let mut statement = conn.prepare_cached(sql::pauses_of)?;
    let until = statement
        .query_map(params![lane.0, now.as_millis()], |row| {
            Ok((row.get(0)?, Timestamp::from_millis(row.get(1)?)))
        })?
        .collect::<Result<_, _>>()?;
    Ok(Pauses {
        version: version.unwrap_or_default(),
        until,
    })
}
