//! Handing many notifications in at once. One bad item is refused alone.

use super::submit::{KEY_HEADER, answer, caller_trace};
use crate::{
    auth::Caller,
    body::BatchBody,
    dto::submit::{BatchAnswer, BatchResult, SubmitRequest},
    fields::{Fields, kind},
    problem::{Problem, Result},
    state::Shared,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
};
use domain::FieldError;
use serde_json::Value;

/// The most notifications in one batch.
pub const MAX_BATCH_ITEMS: usize = 1000;

pub async fn many(
    State(state): State<Shared>,
    caller: Caller,
    headers: HeaderMap,
    BatchBody(body): BatchBody,
) -> Result<(StatusCode, Json<BatchAnswer>)> {
    if headers.contains_key(KEY_HEADER) {
        return Err(Problem::field(
            "Idempotency-Key",
            "names one notification; give each item its idempotencyKey",
        ));
    }
    let trace = caller_trace(&state, &headers);
    let (mut objects, mut unreadable) = (vec![], vec![]);
    for item in items(body)? {
        unreadable.push(match item {
            Value::Object(map) => {
                let mut read = SubmitRequest::read(Fields::new(map), None, &caller);
                read.submission.trace = trace;
                objects.push(read);
                None
            }
            other => Some(format!("must be an object, not {}", kind(&other))),
        });
    }
    let mut submitted = state.central.ingest.submit(objects).await?.into_iter();
    let mut results = Vec::with_capacity(unreadable.len());
    for why in unreadable {
        results.push(match why {
            Some(why) => refused(vec![FieldError::new("", why)]),
            None => match submitted.next().map(answer) {
                Some(Ok(answer)) => BatchResult {
                    accepted: true,
                    notification_id: Some(answer.notification_id),
                    status: answer.status,
                    duplicate: answer.duplicate,
                    errors: vec![],
                },
                Some(Err(problems)) => refused(problems),
                None => return Err(Problem::internal()),
            },
        });
    }
    Ok((StatusCode::ACCEPTED, Json(BatchAnswer { results })))
}

/// The items, from the array itself or from the object around it.
fn items(body: Value) -> Result<Vec<Value>> {
    let items = match body {
        Value::Array(items) => items,
        Value::Object(map) => {
            let mut fields = Fields::new(map);
            let items = fields.array("notifications");
            let items = fields.require("notifications", items);
            let problems = fields.finish();
            if !problems.is_empty() {
                return Err(Problem::fields(problems));
            }
            items.unwrap_or_default()
        }
        other => {
            return Err(Problem::field(
                "notifications",
                format!("must be an array, not {}", kind(&other)),
            ));
        }
    };
    if items.is_empty() || items.len() > MAX_BATCH_ITEMS {
        return Err(Problem::field(
            "notifications",
            format!("must have 1 to {MAX_BATCH_ITEMS} items, not {}", items.len()),
        ));
    }
    Ok(items)
}

fn refused(errors: Vec<FieldError>) -> BatchResult {
    BatchResult {
        accepted: false,
        notification_id: None,
        status: None,
        duplicate: false,
        errors,
    }
}
