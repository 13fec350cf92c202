//! Who must not be written to.

use super::PathText;
use crate::{
    auth::Caller,
    body::JsonObject,
    dto::{
        page::Paged,
        suppression::{SuppressionView, read_suppression},
    },
    paging,
    problem::{Problem, Result},
    query::Params,
    state::Shared,
};
use axum::{Json, extract::State, http::StatusCode};
use central::suppressions::SuppressionError;
use store::suppressions::SuppressionFilter;

pub async fn list(
    State(state): State<Shared>,
    caller: Caller,
    mut params: Params,
) -> Result<Json<Paged<SuppressionView>>> {
    let filter = SuppressionFilter {
        address: params.text("address"),
        channel: params.parsed("channel"),
    };
    let page = paging::page(&mut params);
    params.finish()?;
    let found = state
        .central
        .store
        .suppressions(caller.tenant, &filter, page)
        .await?;
    Ok(Json(Paged {
        items: found.rows.into_iter().map(SuppressionView::from).collect(),
        next_cursor: found.next.map(paging::print_cursor),
    }))
}

/// 201 for a new entry, 200 for one that was there.
pub async fn add(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(fields): JsonObject,
) -> Result<(StatusCode, Json<SuppressionView>)> {
    let entry = read_suppression(fields).map_err(Problem::fields)?;
    let suppressions = &state.central.suppressions;
    let (found, new) = suppressions.add(caller.tenant, &entry, &caller.actor).await?;
    let status = match new {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    Ok((status, Json(found.into())))
}

pub async fn remove(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<StatusCode> {
    let none = || Problem::not_found("entry");
    let id = id.parse().map_err(|_| none())?;
    match state
        .central
        .suppressions
        .remove(caller.tenant, id, &caller.actor)
        .await?
    {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(none()),
    }
}

impl From<SuppressionError> for Problem {
    fn from(error: SuppressionError) -> Self {
        match error {
            SuppressionError::Fields(problems) => Problem::fields(problems),
            SuppressionError::Store(error) => error.into(),
        }
    }
}
