//! The answer to a call or write that was taken, or refused for good.

use super::Problem;
use crate::Sent;
use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// 200 with the result when it was delivered, 202 when it waits, 422 with the target's words when it never will be.
pub fn answer(sent: Sent) -> Response {
    let id = sent.id.to_string();
    if !sent.accepted {
        let (code, detail, http_status) = match sent.error {
            Some(refusal) => (refusal.code, refusal.detail, refusal.http_status),
            None => (
                "FAILED".into(),
                "it was refused for good when it was sent first".into(),
                None,
            ),
        };
        let error = json!({"code": code, "detail": detail, "httpStatus": http_status});
        return Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "permanent_failure", detail)
            .with("accepted", false)
            .with("trackedOperationId", id)
            .with("wasBuffered", false)
            .with("duplicate", sent.duplicate)
            .with("error", error)
            .into_response();
    }
    let mut body = json!({
        "accepted": true,
        "trackedOperationId": id,
        "wasBuffered": sent.was_buffered,
        "duplicate": sent.duplicate,
        "status": sent.status.map(|s| s.as_str()),
    });
    if let Some(replicated) = sent.replicated {
        body["replicated"] = replicated.into();
    }
    if let Some(result) = sent.result {
        body["result"] = result;
    }
    if let Some(error) = sent.error {
        body["lastError"] = Value::String(error.detail);
    }
    let status = match sent.was_buffered {
        true => StatusCode::ACCEPTED,
        false => StatusCode::OK,
    };
    (status, Json(body)).into_response()
}
