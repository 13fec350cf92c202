//! Pages of events and schedules: a bounded walk, newest first.

use super::{rows, sql};
use crate::{
    Result,
    events::{EventFilter, EventPage, ScheduleFilter, SchedulePage, StuckEvents, next_place},
    query::{Page, SCAN_BOUND},
    sqlite::rows::all,
};
use domain::{TenantId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

pub(super) fn events(
    conn: &Connection,
    tenant: Option<TenantId>,
    filter: &EventFilter,
    page: &Page,
) -> Result<EventPage> {
    let start = page.after.map_or(i64::MAX, |place| place.seq);
    let limit = page.limit.max(1);
    let walk = match (tenant, filter.across) {
        (Some(_), false) => sql::events_of_tenant,
        _ => sql::events_of_all,
    };
    let params = params![
        tenant.map(|t| t.0),
        start,
        filter.status.map(|s| s.as_str()),
        filter.event_type,
        filter.entity_id,
        filter.from.map(Timestamp::as_millis),
        filter.to.map(Timestamp::as_millis),
        SCAN_BOUND,
        limit + 1,
    ];
    let mut found = all(conn, walk, params, rows::event)?;
    let full = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = match full {
        true => found.last().map(|event| event.seq),
        false => {
            let place = |row: &rusqlite::Row<'_>| row.get(0);
            let walked = match tenant.filter(|_| !filter.across) {
                Some(of) => {
                    let mut of_tenant = conn.prepare_cached(sql::events_walked)?;
                    of_tenant.query_row(params![of.0, start, SCAN_BOUND - 1], place)
                }
                None => {
                    let mut of_all = conn.prepare_cached(sql::events_walked_of_all)?;
                    of_all.query_row(params![start, SCAN_BOUND - 1], place)
                }
            };
            walked.optional()?
        }
    };
    Ok(EventPage {
        rows: found,
        next: next_place(next),
    })
}

pub(super) fn stuck(
    conn: &Connection,
    tenant: Option<TenantId>,
    filter: &EventFilter,
    by: Timestamp,
    page: &Page,
) -> Result<StuckEvents> {
    let start = page.after.map_or(i64::MAX, |place| place.seq);
    let status = filter.status.map(|s| s.as_str());
    let (kind, entity) = (&filter.event_type, &filter.entity_id);
    let (from, to) = (
        filter.from.map(Timestamp::as_millis),
        filter.to.map(Timestamp::as_millis),
    );
    let (by, limit) = (by.as_millis(), i64::from(page.limit) + 1);
    let seq = |row: &rusqlite::Row<'_>| Ok(row.get(0)?);
    let mut seqs: Vec<i64> = match tenant {
        Some(of) => {
            let params = params![of.0, start, status, kind, entity, from, to, by, limit];
            all(conn, sql::stuck_events, params, seq)?
        }
        None => {
            let params = params![start, status, kind, entity, from, to, by, limit];
            all(conn, sql::stuck_events_of_all, params, seq)?
        }
    };
    let full = seqs.len() > page.limit as usize;
    seqs.truncate(page.limit as usize);
    Ok(StuckEvents {
        next: next_place(seqs.last().copied().filter(|_| full)),
        seqs,
    })
}

pub(super) fn schedules(
    conn: &Connection,
    tenant: TenantId,
    filter: &ScheduleFilter,
    page: &Page,
) -> Result<SchedulePage> {
    let start = page.after.map_or(i64::MAX, |place| place.seq);
    let limit = page.limit.max(1);
    let status = filter.status.map(|s| s.as_str());
    let placed = |row: &rusqlite::Row<'_>| Ok((row.get("place")?, rows::schedule(row)?));
    let bound = SCAN_BOUND;
    let mut found: Vec<(i64, _)> = match &filter.entity {
        Some((kind, entity)) => {
            let of_type = &filter.event_type;
            let params = params![tenant.0, start, status, bound, limit + 1, kind, entity, of_type];
            all(conn, sql::schedules_of_entity, params, placed)?
        }
        None => {
            let params = params![tenant.0, start, status, bound, limit + 1, filter.event_type];
            all(conn, sql::schedules_of_tenant, params, placed)?
        }
    };
    let full = found.len() > limit as usize;
    found.truncate(limit as usize);
    let place = |row: &rusqlite::Row<'_>| row.get(0);
    let next = match (full, &filter.entity) {
        (true, _) => found.last().map(|(place, _)| *place),
        (false, Some((kind, entity))) => {
            let mut walked = conn.prepare_cached(sql::schedules_walked_of_entity)?;
            let params = params![tenant.0, start, bound - 1, kind, entity];
            walked.query_row(params, place).optional()?
        }
        (false, None) => {
            let mut walked = conn.prepare_cached(sql::schedules_walked)?;
            let params = params![tenant.0, start, bound - 1];
            walked.query_row(params, place).optional()?
        }
    };
    Ok(SchedulePage {
        rows: found.into_iter().map(|(_, schedule)| schedule).collect(),
        next: next_place(next),
    })
}
