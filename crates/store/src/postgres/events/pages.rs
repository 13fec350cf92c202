//! Pages of events and schedules: a bounded walk, newest first.

use super::{rows, sql};
use crate::{
    Result,
    events::{EventFilter, EventPage, ScheduleFilter, SchedulePage, next_place},
    postgres::{
        failed::Failed,
        session::{Db, Params, Session},
        types::At,
    },
    query::{Page, SCAN_BOUND},
};
use domain::TenantId;

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
        &filter.id.map(|id| id.0),
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
        let of = of.filter(|_| own);
        let walked = session
            .opt(sql::events_walked, &[&of, &start, &(WALK - 1)])
            .await?;
        walked.map(|row| row.get(0))
    };
    Ok(EventPage {
        rows: events,
        next: next_place(next),
    })
}

pub(super) async fn schedules(
    db: &Db,
    tenant: Option<TenantId>,
    filter: &ScheduleFilter,
    page: &Page,
) -> Result<SchedulePage, Failed> {
    let (start, limit) = (
        page.after.map_or(i64::MAX, |place| place.seq),
        i64::from(page.limit.max(1)),
    );
    let of = tenant.map(|t| t.0);
    let (status, id, more) = (
        filter.status.map(|s| s.as_str()),
        filter.id.map(|id| id.0),
        limit + 1,
    );
    let mut params: Vec<&(dyn tokio_postgres::types::ToSql + Sync)> =
        vec![&of, &start, &status, &id, &WALK, &more];
    let statement = match (&filter.entity, of) {
        (Some((kind, entity)), Some(_)) => {
            params.extend([kind as &(dyn tokio_postgres::types::ToSql + Sync), entity]);
            sql::schedules_of_entity
        }
        (_, Some(_)) => sql::schedules_of_tenant,
        (_, None) => sql::schedules_of_all,
    };
    let session = db.general().await?;
    let found = session.rows(statement, &params).await?;
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let schedules: Vec<_> = found
        .iter()
        .take(shown)
        .map(rows::schedule)
        .collect::<Result<_>>()?;
    let next = schedules.last().filter(|_| found.len() > shown).map(|s| s.seq);
    Ok(SchedulePage {
        rows: schedules,
        next: next_place(next),
    })
}
