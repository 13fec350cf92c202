//! Pages of events and schedules: a bounded walk, newest first.

use super::{rows, sql};
use crate::{
    Result,
    events::{EventFilter, EventPage, ScheduleFilter, SchedulePage, StuckEvents, next_place},
    postgres::{
        failed::Failed,
        session::{Db, Params, Session},
        types::At,
    },
    query::{Page, SCAN_BOUND},
};
use domain::{TenantId, Timestamp};
use tokio_postgres::types::ToSql;

/// The bound as the statements take it.
const WALK: i64 = SCAN_BOUND as i64;

pub(super) async fn events(
    db: &Db,
    tenant: Option<TenantId>,
    filter: &EventFilter,
    page: &Page,
) -> Result<EventPage, Failed> {
    let (start, limit) = (
        page.after.map_or(i64::MAX, |place| place.seq),
        i64::from(page.limit.max(1)),
    );
    let of = tenant.map(|t| t.0);
    let own = of.is_some() && !filter.across;
    let statement = if own {
        sql::events_of_tenant
    } else {
        sql::events_of_all
    };
    let session = db.general().await?;
    let (from, to) = (filter.from.map(At), filter.to.map(At));
    let params: Params<'_> = &[
        &of,
        &start,
        &filter.status.map(|s| s.as_str()),
        &filter.event_type,
        &filter.entity_id,
        &from,
        &to,
        &WALK,
        &(limit + 1),
    ];
    let found = session.rows(statement, params).await?;
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut events = vec![];
    for row in found.iter().take(shown) {
        events.push(rows::event(row)?);
    }
    let next = if found.len() > shown {
        events.last().map(|event| event.seq)
    } else {
        let walked = match of.filter(|_| own) {
            Some(of) => {
                session
                    .opt(sql::events_walked, &[&of, &start, &(WALK - 1)])
                    .await?
            }
            None => {
                session
                    .opt(sql::events_walked_of_all, &[&start, &(WALK - 1)])
                    .await?
            }
        };
        walked.map(|row| row.get(0))
    };
    Ok(EventPage {
        rows: events,
        next: next_place(next),
    })
}

pub(super) async fn stuck(
    db: &Db,
    tenant: Option<TenantId>,
    filter: &EventFilter,
    by: Timestamp,
    page: &Page,
) -> Result<StuckEvents, Failed> {
    let session = db.general().await?;
    let of = tenant.map(|t| t.0);
    let (start, limit) = (
        page.after.map_or(i64::MAX, |place| place.seq),
        i64::from(page.limit) + 1,
    );
    let (status, from, to) = (
        filter.status.map(|s| s.as_str()),
        filter.from.map(At),
        filter.to.map(At),
    );
    let all: Params<'_> = &[
        &of,
        &start,
        &status,
        &filter.event_type,
        &filter.entity_id,
        &from,
        &to,
        &At(by),
        &limit,
    ];
    let found = match of {
        Some(_) => session.rows(sql::stuck_events, all).await?,
        None => session.rows(sql::stuck_events_of_all, &all[1..]).await?,
    };
    let shown = page.limit as usize;
    let seqs: Vec<i64> = found.iter().take(shown).map(|row| row.get(0)).collect();
    let next = seqs.last().copied().filter(|_| found.len() > shown);
    Ok(StuckEvents {
        seqs,
        next: next_place(next),
    })
}

pub(super) async fn schedules(
    db: &Db,
    tenant: TenantId,
    filter: &ScheduleFilter,
    page: &Page,
) -> Result<SchedulePage, Failed> {
    let (start, limit) = (
        page.after.map_or(i64::MAX, |place| place.seq),
        i64::from(page.limit.max(1)),
    );
    let (status, more) = (filter.status.map(|s| s.as_str()), limit + 1);
    let mut params: Vec<&(dyn ToSql + Sync)> = vec![&tenant.0, &start, &status, &WALK, &more];
    let bound = WALK - 1;
    let mut walk: Vec<&(dyn ToSql + Sync)> = vec![&tenant.0, &start, &bound];
    let (statement, walked) = match &filter.entity {
        Some((kind, entity)) => {
            params.extend([kind as &(dyn ToSql + Sync), entity]);
            walk.extend([kind as &(dyn ToSql + Sync), entity]);
            (sql::schedules_of_entity, sql::schedules_walked_of_entity)
        }
        None => (sql::schedules_of_tenant, sql::schedules_walked),
    };
    params.push(&filter.event_type);
    let session = db.general().await?;
    let found = session.rows(statement, &params).await?;
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let next = if found.len() > shown {
        let last = shown.checked_sub(1).and_then(|last| found.get(last));
        last.map(|row| row.get("place"))
    } else {
        session.opt(walked, &walk).await?.map(|row| row.get(0))
    };
    let rows = found.iter().take(shown).map(rows::schedule);
    Ok(SchedulePage {
        rows: rows.collect::<Result<_>>()?,
        next: next_place(next),
    })
}
