//! Replaying all that match, as a job.

use super::schedules::tenant_of;
use crate::{
    auth::Caller,
    body::JsonObject,
    dto::{
        job::{DryRunAnswer, JobView},
        replay::BulkReplay,
    },
    fields::Fields,
    problem::{Problem, Result},
    query::Params,
    reason,
    state::Shared,
};
use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use central::{
    events::bulk::{Across, Replays},
    jobs::ReplayAsk,
};

pub async fn events(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(fields): JsonObject,
) -> Result<Response> {
    start(&state, &caller, Replays::Events, None, fields).await
}

pub async fn schedules(
    State(state): State<Shared>,
    caller: Caller,
    JsonObject(fields): JsonObject,
) -> Result<Response> {
    start(&state, &caller, Replays::Schedules, None, fields).await
}

/// For ops: of all tenants, also of those there are not. The job is listed where the key belongs.
pub async fn outbox(
    State(state): State<Shared>,
    caller: Caller,
    mut params: Params,
    JsonObject(fields): JsonObject,
) -> Result<Response> {
    let tenant = tenant_of(&state, &mut params).await?;
    params.finish()?;
    let across = tenant.map_or(Across::All, |tenant| Across::Tenant(tenant.0));
    start(&state, &caller, Replays::Events, Some(across), fields).await
}

async fn start(
    state: &Shared,
    caller: &Caller,
    replays: Replays,
    across: Option<Across>,
    fields: Fields,
) -> Result<Response> {
    let mut asked = BulkReplay::read(fields, replays).map_err(Problem::fields)?;
    asked.bulk.across = across;
    let jobs = &state.central.jobs;
    if asked.dry_run {
        let counted = jobs.count_replay(caller.tenant, &asked.bulk).await?;
        return Ok(Json(DryRunAnswer::from(counted)).into_response());
    }
    let ask = ReplayAsk {
        bulk: asked.bulk,
        counted: asked.counted,
        reason: reason::optional(asked.reason.as_deref()).map_err(|bad| Problem::fields(vec![bad]))?,
    };
    let job = jobs.start_replay(caller.tenant, ask, &caller.actor).await?;
    let location = [(header::LOCATION, format!("/api/jobs/{}", job.id))];
    Ok((StatusCode::ACCEPTED, location, Json(JobView::from(job))).into_response())
}
