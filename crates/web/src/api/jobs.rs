//! Bulk actions over a filter, as jobs that can be listed, asked about and stopped.

use super::PathText;
use crate::{
    access::Access,
    auth::Caller,
    body::JsonObject,
    dto::{
        filter::Bulk,
        job::{DryRunAnswer, JobView},
        page::Paged,
    },
    fields::Fields,
    problem::{Problem, Result},
    reason,
    state::Shared,
};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use central::jobs::{Action, BulkAsk, REPLAY};
use store::jobs::Job;
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

pub async fn cancel(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(fields): JsonObject,
) -> Result<Response> {
    start(&state, &caller, Action::Cancel, fields).await
}

pub async fn resend(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(fields): JsonObject,
) -> Result<Response> {
    start(&state, &caller, Action::Resend, fields).await
}

async fn start(state: &Shared, caller: &Caller, action: Action, fields: Fields) -> Result<Response> {
    let asked = Bulk::read(fields, action).map_err(Problem::fields)?;
    let Bulk {
        filter,
        dry_run,
        counted,
        reason,
    } = asked;
    let jobs = &state.central.jobs;
    if dry_run {
        let counted = jobs.count(caller.tenant, action, &filter).await?;
        return Ok(Json(DryRunAnswer::from(counted)).into_response());
    }
    let reason = match action {
        Action::Discard | Action::Cancel => reason::checked(state, reason.as_deref()),
        Action::Retry | Action::Resend => reason::optional(reason.as_deref()),
    };
    let ask = BulkAsk {
        id: None,
        action,
        filter,
        counted,
        reason: reason.map_err(|bad| Problem::fields(vec![bad]))?,
    };
    let job = jobs.start(caller.tenant, ask, &caller.actor).await?;
    let location = [(header::LOCATION, format!("/api/jobs/{}", job.id))];
    Ok((StatusCode::ACCEPTED, location, Json(JobView::from(job))).into_response())
}

pub async fn list(State(state): State<Shared>, caller: Caller) -> Result<Json<Paged<JobView>>> {
    let jobs = state.central.jobs.newest(caller.tenant).await?;
    Ok(Json(Paged::whole(jobs.into_iter().map(JobView::from).collect())))
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

/// One that has ended is answered as it is: there is nothing left to stop.
pub async fn stop(
    State(state): State<Shared>,
    caller: Caller,
    PathText(id): PathText,
) -> Result<Json<JobView>> {
    let (job, _) = end(&state, &caller, &id).await?;
    Ok(Json(job.into()))
}

/// Whoever may act on notifications stops any; who may only replay, what is about events, and what they asked for themselves.
pub fn may_stop(caller: &Caller, job: &Job) -> bool {
    let theirs = job.action == REPLAY || job.actor == caller.actor;
    Access::Operate.allows(caller.role) || (theirs && Access::Replay.allows(caller.role))
}

/// Ends a job where it is. Answers with the job, and whether there was anything left to stop.
pub async fn end(state: &Shared, caller: &Caller, id: &str) -> Result<(Job, bool)> {
    let missing = || Problem::not_found("job");
    let id = Uuid::try_parse(id).map_err(|_| missing())?;
    let jobs = &state.central.jobs;
    let job = jobs.get(caller.tenant, id).await?.ok_or_else(missing)?;
    if !may_stop(caller, &job) {
        return Err(Problem::forbidden(format!(
            "stopping this needs the role {}, or to have asked for it",
            Access::Operate.in_words()
        )));
    }
    let stopped = jobs.stop(caller.tenant, id, &caller.actor).await?;
    stopped.ok_or_else(missing)
}
