//! What waits, and what to do about it: `GET /waiting`, `POST /waiting/{id}/try`, `POST /waiting/{id}/discard`.

use super::{
    Api, Problem,
    body::path_id,
    lists::{QueryParams, category, here, limit, only},
};
use axum::{
    Json,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use link::{WaitingActed, WaitingMessage, WaitingPage};
use serde_json::{Value, json};
use store::buffer::MessageId;

pub async fn list(State(api): State<Api>, Query(asked): QueryParams) -> Result<Json<Value>, Problem> {
    only(&asked, &["limit", "cursor", "category"])?;
    let page = WaitingPage {
        category: category(&asked)?,
        limit: limit(&asked)?,
        after: asked.get("cursor").cloned(),
    };
    let found = api.agent.site.waiting(&page).await?;
    let items: Vec<_> = found.messages.into_iter().map(shown).collect();
    Ok(Json(
        json!({"items": items, "nextCursor": found.next, "total": found.total}),
    ))
}

fn shown(m: WaitingMessage) -> Value {
    json!({
        "messageId": m.id, "category": m.category.as_str(), "target": m.target, "summary": m.summary,
        "retryCount": m.retry_count, "maxRetries": m.max_retries, "createdAt": m.created_at,
        "lastAttemptAt": m.last_attempt_at, "dueAt": m.due_at, "lastError": m.last_error,
        "instance": m.instance, "script": m.script, "held": m.held,
    })
}

/// Answers when the attempt is over.
pub async fn try_now(
    State(api): State<Api>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = path_id(&id)?;
    let tried = api.agent.site.engine.try_waiting(id, &here()).await?;
    answer(&headers, id, tried.into())
}

pub async fn discard(
    State(api): State<Api>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = path_id(&id)?;
    let acted = api.agent.site.discard_waiting(id, &here()).await?;
    answer(&headers, id, acted)
}

/// A program gets the answer; a person with a browser gets the page back, which shows what has become of it.
fn answer(headers: &HeaderMap, id: MessageId, acted: WaitingActed) -> Result<Response, Problem> {
    let (status, error) = match acted {
        WaitingActed::Done { status, error } => (status, error),
        WaitingActed::NotFound => {
            return Err(Problem::not_found(format!(
                "there is no message {id} in the buffer; it may have been delivered, see its tracking"
            )));
        }
        WaitingActed::WrongState(why) => {
            return Err(Problem::new(StatusCode::CONFLICT, "wrong_state", why));
        }
    };
    let accepts = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok());
    Ok(match accepts.is_some_and(|kinds| kinds.contains("text/html")) {
        true => Redirect::to("/").into_response(),
        false => {
            let answer = json!({"messageId": id.to_string(), "status": status.as_str(), "lastError": error});
            Json(answer).into_response()
        }
    })
}
