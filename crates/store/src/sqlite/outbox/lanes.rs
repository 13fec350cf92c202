//! Leases given back and lanes stopped, paused and owned: what nodes tell each other through the store.

use super::sql;
use crate::{
    Result,
    holds::{FoundLane, Holding},
    outbox::{Chores, HoldLane, LaneWaiting, LanesWaiting, Lease, MAX_TRIED_ROWS, Owned},
    sqlite::{audit, directory, rows, writer::WriteSession},
};
use domain::{Actor, HoldReason, LaneId, TenantId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};
use std::time::Duration;

pub(super) fn waiting(conn: &Connection, now: Timestamp) -> Result<LanesWaiting> {
    let mut statement = conn.prepare_cached(sql::lanes_waiting)?;
    let lanes = statement
        .query_map([now.as_millis()], |row| {
            let time = |at: Option<i64>| at.map(Timestamp::from_millis);
            Ok(LaneWaiting {
                lane: LaneId(row.get(0)?),
                next_due: Timestamp::from_millis(row.get(1)?),
                next_probe: time(row.get(2)?),
                held: row.get(3)?,
                not_before: time(row.get(4)?),
            })
        })?
        .collect::<Result<_, _>>()?;
    let directory_version = conn
        .prepare_cached(directory::sql::directory_version)?
        .query_row([], |row| row.get(0))?;
    let bucket = now.bucket(domain::kpi::BUCKET);
    let chores =
        conn.prepare_cached(sql::chores)?
            .query_row([now.as_millis(), bucket.as_millis()], |row| {
                Ok(Chores {
                    jobs: row.get(0)?,
                    counts: row.get(1)?,
                    expired: row.get(2)?,
                    failover: row.get(3)?,
                    compact: false,
                })
            })?;
    Ok(LanesWaiting {
        now,
        directory_version,
        lanes,
        chores,
    })
}

pub(super) fn release(s: &WriteSession<'_>, leases: &[Lease]) -> Result<()> {
    let mut release = s.conn.prepare_cached(sql::release)?;
    for lease in leases {
        release.execute(params![lease.seq.0, lease.token.0])?;
    }
    Ok(())
}

pub(super) fn renew(s: &WriteSession<'_>, leases: &[Lease], by: Duration) -> Result<Vec<Lease>> {
    let mut renew = s.conn.prepare_cached(sql::renew)?;
    let until = (s.now + by).as_millis();
    let mut held = Vec::with_capacity(leases.len());
    for lease in leases {
        if renew.execute(params![lease.seq.0, lease.token.0, until])? > 0 {
            held.push(*lease);
        }
    }
    Ok(held)
}

fn find(s: &WriteSession<'_>, lane: LaneId) -> Result<Option<FoundLane>> {
    let mut statement = s.conn.prepare_cached(sql::lane)?;
    let mut found = statement.query([lane.0])?;
    let Some(row) = found.next()? else { return Ok(None) };
    let reason: Option<String> = row.get(3)?;
    Ok(Some(FoundLane {
        tenant: TenantId(row.get(0)?),
        provider: row.get(1)?,
        config_version: row.get(2)?,
        held: reason.map(|text| rows::parse("lanes", &text)).transpose()?,
        probing: row.get(4)?,
    }))
}

pub(in crate::sqlite) fn hold(s: &WriteSession<'_>, ask: &HoldLane) -> Result<bool> {
    let Some(lane) = find(s, ask.lane)? else {
        return Ok(false);
    };
    let (id, reason, detail) = (ask.lane.0, ask.reason.as_str(), &ask.detail);
    let next_probe = ask.probe_after.map(|after| (s.now + after).as_millis());
    match lane.hold(ask)? {
        Holding::Stays(as_asked) => return Ok(as_asked),
        Holding::Set => {
            let mut set = s.conn.prepare_cached(sql::hold_set)?;
            let (now, by) = (s.now.as_millis(), ask.held_by());
            set.execute(params![id, reason, detail, now, next_probe, ask.code, by])?;
            audit::insert(s, &lane.held_entry(ask))?;
        }
        Holding::ProbeFailed => {
            let mut failed = s.conn.prepare_cached(sql::hold_probe_failed)?;
            failed.execute(params![
                id,
                reason,
                detail,
                next_probe,
                ask.code,
                ask.probe_asked()
            ])?;
        }
    }
    Ok(true)
}

pub(super) fn resume(
    s: &WriteSession<'_>,
    of: LaneId,
    only: Option<HoldReason>,
    actor: &Actor,
) -> Result<bool> {
    let Some(lane) = find(s, of)? else {
        return Ok(false);
    };
    let Some(held) = lane.resume(only)? else {
        return Ok(false);
    };
    s.conn.prepare_cached(sql::hold_end)?.execute([of.0])?;
    audit::insert(s, &lane.resumed_entry(held, actor))?;
    Ok(true)
}

pub(super) fn try_now(s: &WriteSession<'_>, of: LaneId, actor: &Actor) -> Result<Option<u64>> {
    let Some(lane) = find(s, of)? else { return Ok(None) };
    lane.check_tried()?;
    let now = s.now.as_millis();
    s.conn
        .prepare_cached(sql::lane_try)?
        .execute(params![of.0, now])?;
    let moved = s
        .conn
        .prepare_cached(sql::lane_try_rows)?
        .execute(params![of.0, now, MAX_TRIED_ROWS])?;
    audit::insert(s, &lane.tried_entry(actor))?;
    Ok(Some(moved as u64))
}

pub(super) fn pause(s: &WriteSession<'_>, lane: LaneId, wait: Duration) -> Result<()> {
    s.conn
        .prepare_cached(sql::pause_lane)?
        .execute(params![lane.0, (s.now + wait).as_millis()])?;
    Ok(())
}

pub(super) fn own(s: &WriteSession<'_>, lane: LaneId, node: &str, ttl: Duration) -> Result<Owned> {
    let before: Option<String> = s
        .conn
        .prepare_cached(sql::lane_owner)?
        .query_row([lane.0], |row| row.get(0))
        .optional()?
        .flatten();
    let taken = s.conn.prepare_cached(sql::own_lane)?.execute(params![
        lane.0,
        node,
        s.now.as_millis(),
        (s.now + ttl).as_millis()
    ])?;
    Ok(match taken {
        0 => Owned::ByAnother,
        _ => Owned::after(before.as_deref(), node),
    })
}

/// `all`: nothing was claimed since the file was opened, so whatever is claimed is from before.
pub(super) fn void_stale(s: &WriteSession<'_>, all: bool, opened_at: Timestamp) -> Result<u64> {
    let voided = s
        .conn
        .prepare_cached(sql::void_stale_leases)?
        .execute(params![all, opened_at.as_millis()])?;
    Ok(voided as u64)
}
