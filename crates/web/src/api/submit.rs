//! Handing one notification in.
//!
//! Always true: a 202 means it is on disk; any other answer means that nothing was stored, or (503) that sending
//! the same again is harmless.

use crate::{
    auth::Caller,
    body::SubmitBody,
    dto::submit::{SubmitAnswer, SubmitRequest},
    problem::{Problem, Result},
    state::Shared,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use central::ingest::Submitted;
use domain::{FieldError, NotificationId, Status, TraceContext};

/// The header that counts as `idempotencyKey`.
pub const KEY_HEADER: &str = "idempotency-key";

pub async fn one(
    State(state): State<Shared>,
    caller: Caller,
    headers: HeaderMap,
    SubmitBody(fields): SubmitBody,
) -> Result<(StatusCode, Json<SubmitAnswer>)> {
    let key = header_key(&headers)?;
    let mut read = SubmitRequest::read(fields, key, &caller);
    read.submission.trace = caller_trace(&state, &headers);
    let submitted = state.central.ingest.submit(vec![read]).await?;
    let Some(submitted) = submitted.into_iter().next() else {
        return Err(Problem::internal());
    };
    let answer = answer(submitted).map_err(Problem::fields)?;
    Ok((StatusCode::ACCEPTED, Json(answer)))
}

/// Where the request stands in its caller's trace.
pub fn caller_trace(state: &Shared, headers: &HeaderMap) -> Option<TraceContext> {
    let given = headers.get("traceparent").and_then(|value| value.to_str().ok());
    state.central.settings.tracer.read(given)
}

pub fn header_key(headers: &HeaderMap) -> Result<Option<String>> {
    let Some(value) = headers.get(KEY_HEADER) else {
        return Ok(None);
    };
    match value.to_str() {
        Ok(text) => Ok(Some(text.to_owned())),
        Err(_) => Err(Problem::field(
            "Idempotency-Key",
            "must be visible ASCII; use idempotencyKey for other text",
        )),
    }
}

/// What central said, as it is answered.
pub fn answer(submitted: Submitted) -> Result<SubmitAnswer, Vec<FieldError>> {
    let shown = |notification_id: NotificationId, status: Option<Status>, duplicate: bool| SubmitAnswer {
        notification_id,
        status,
        duplicate,
    };
    match submitted {
        Submitted::Accepted { id } => Ok(shown(id, Some(Status::Pending), false)),
        Submitted::Duplicate { id, status } => Ok(shown(id, status, true)),
        Submitted::Refused(problems) => Err(problems),
    }
}
