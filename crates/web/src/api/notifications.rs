//! Reading notifications: pages, one whole, its status, its attempts.

use super::{PathId, export};
use crate::{
    auth::Caller,
    dto::{
        audit::AuditView,
        filter,
        notification::{Measure, Notification, StatusAnswer, Summary},
        page::{NotificationPage, Paged},
    },
    paging,
    problem::{Problem, Result},
    query::Params,
    state::Shared,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use central::{search, waiting};
use store::directory::Role;

/// Newest first; as CSV when that is what the client asks for.
pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    headers: HeaderMap,
    mut params: Params,
) -> Result<Response> {
    let measure = measure(&state);
    let filter = filter::from_query(&mut params, measure.stuck_after);
    if wants_csv(&headers) {
        let most = export::most(&mut params);
        let after = paging::cursor(&mut params);
        params.finish()?;
        return export::csv(state, caller.tenant, filter, after, most).await;
    }
    let page = paging::page(&mut params);
    params.finish()?;
    let store = &*state.central.store;
    let filter = search::resolve(store, caller.tenant, filter, measure.now).await?;
    let found = store.list(caller.tenant, &filter, page).await?;
    let mut items = Vec::with_capacity(found.rows.len());
    for row in found.rows {
        let waiting = waiting::of(&state.central.directory, &row, measure.now).await?;
        items.push(Summary::of(row, waiting, measure));
    }
    let answer = NotificationPage {
        items,
        next_cursor: found.next.map(paging::print_cursor),
        from: filter.from,
    };
    Ok(Json(answer).into_response())
}

pub async fn get(
    State(state): State<Shared>,
    caller: Caller,
    PathId(id): PathId,
) -> Result<Json<Notification>> {
    let found = state.central.store.get(caller.tenant, id).await?;
    let found = found.ok_or_else(|| Problem::not_found("notification"))?;
    let measure = measure(&state);
    let waiting = waiting::of(&state.central.directory, &found, measure.now).await?;
    Ok(Json(Notification::of(found, waiting, measure)))
}

/// A producer is answered only about what it sent itself; the rest looks as if it were not there.
pub async fn status(
    State(state): State<Shared>,
    caller: Caller,
    PathId(id): PathId,
) -> Result<Json<StatusAnswer>> {
    let found = state.central.store.get(caller.tenant, id).await?;
    let found =
        found.filter(|row| caller.role != Role::Producer || row.submission.submitted_by == caller.actor);
    let found = found.ok_or_else(|| Problem::not_found("notification"))?;
    let waiting = waiting::of(&state.central.directory, &found, state.central.clock.now()).await?;
    Ok(Json(StatusAnswer::of(found, waiting)))
}

pub async fn attempts(
    State(state): State<Shared>,
    caller: Caller,
    PathId(id): PathId,
) -> Result<Json<Paged<AuditView>>> {
    let found = state.central.store.attempts(caller.tenant, id).await?;
    let found = found.ok_or_else(|| Problem::not_found("notification"))?;
    Ok(Json(Paged::whole(
        found.into_iter().map(AuditView::from).collect(),
    )))
}

fn measure(state: &Shared) -> Measure {
    Measure {
        now: state.central.clock.now(),
        stuck_after: state.central.settings.kpi.stuck_after,
    }
}

fn wants_csv(headers: &HeaderMap) -> bool {
    headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| {
            accept
                .split(',')
                .any(|part| part.split(';').next().map(str::trim) == Some("text/csv"))
        })
}
