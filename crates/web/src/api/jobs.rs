//! Bulk retry and discard over a filter, as jobs whose progress can be asked for.

use super::PathText;
use crate::{
    auth::Caller,
    body::JsonObject,
    dto::{
        filter::Bulk,
        job::{DryRunAnswer, JobView},
    },
    fields::Fields,
    problem::{Problem, Result},
    state::Shared,
};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use central::jobs::Action;
use uuid::Uuid;

pub async fn retry(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(fields): JsonObject,
) -> Result<Response> {
    start(&state, &caller, Action::Retry, fields).await
}

pub async fn discard(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(fields): JsonObject,
) -> Result<Response> {
    start(&state, &caller, Action::Discard, fields).await
}

async fn start(state: &Shared, caller: &Caller, action: Action, fields: Fields) -> Result<Response> {
    let asked = Bulk::read(fields, state.central.clock.now()).map_err(Problem::fields)?;
    let Bulk {
        filter,
        dry_run,
        counted,
    } = asked;
    let jobs = &state.central.jobs;
    if dry_run {
        let counted = jobs.count(caller.tenant, &filter).await?;
        return Ok(Json(DryRunAnswer::from(counted)).into_response());
    }
    let job = jobs
        .start(caller.tenant, action, filter, counted, &caller.actor)
        .await?;
    let location = [(header::LOCATION, format!("/api/jobs/{}", job.id))];
    Ok((StatusCode::ACCEPTED, location, Json(JobView::from(job))).into_response())
}

pub async fn get(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<Json<JobView>> {
    let job = match Uuid::try_parse(&id) {
        Ok(id) => state.central.jobs.get(caller.tenant, id).await?,
        Err(_) => None,
    };
    job.map(|job| Json(job.into()))
        .ok_or_else(|| Problem::not_found("job"))
}
