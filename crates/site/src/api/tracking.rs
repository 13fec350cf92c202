//! `GET /tracking/{id}`: answered here, whether or not central is there.

use super::{Api, Problem, body::path_id};
use axum::{
    Json,
    extract::{Path, State},
};
use domain::TrackedOperationId;
use serde_json::{Value, json};

pub async fn get(State(api): State<Api>, Path(id): Path<String>) -> Result<Json<Value>, Problem> {
    let id = TrackedOperationId(path_id(&id)?.0);
    let Some(found) = api.agent.site.tracking(id).await? else {
        return Err(Problem::not_found(format!(
            "this site tracks no operation {id}, or no longer"
        )));
    };
    Ok(Json(json!({
        "trackedOperationId": id.to_string(),
        "kind": found.kind.as_str(),
        "target": found.target,
        "targetSummary": found.summary,
        "status": found.status.as_str(),
        "retryCount": found.retry_count,
        "attempts": found.attempts,
        "lastError": found.last_error,
        "httpStatus": found.http_status,
        "createdAt": found.created_at,
        "updatedAt": found.updated_at,
        "terminalAt": found.terminal_at,
        "instance": found.instance,
        "sourceScript": found.script,
        "sourceNode": found.node,
        "actor": found.actor,
    })))
}
