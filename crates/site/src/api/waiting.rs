//! What waits, and what to do about it: `GET /waiting`, `POST /waiting/{id}/try`, `POST /waiting/{id}/discard`.

use super::{
    Api, Problem,
    body::path_id,
    lists::{QueryParams, category, cursor, here, limit, only, under_way},
};
use crate::engine::TriedNow;
use axum::{
    Json,
    extract::{Path, Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
};
use serde_json::{Value, json};
use store::buffer::{Acted, Message, MessageId, Step};

pub async fn list(State(api): State<Api>, Query(asked): QueryParams) -> Result<Json<Value>, Problem> {
    only(&asked, &["limit", "cursor", "category"])?;
    let (category, limit) = (category(&asked)?, limit(&asked)?);
    let buffer = &api.agent.site.buffer;
    // One more than asked for: only then is there a next page to offer.
    let mut found = buffer
        .waiting(category, cursor(&asked)?.unwrap_or(0), limit + 1)
        .await?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = found.last().filter(|_| more).map(|last| last.seq.to_string());
    let waiting = buffer.depth().pending;
    let total: u64 = match category {
        Some(category) => waiting.get(&category).copied().unwrap_or(0),
        None => waiting.values().sum(),
    };
    let engine = &api.agent.site.engine;
    let items: Vec<_> = found.into_iter().map(|m| shown(engine.holds(&m), m)).collect();
    Ok(Json(json!({"items": items, "nextCursor": next, "total": total})))
}

fn shown(held: Option<String>, m: Message) -> Value {
    json!({
        "messageId": m.id.to_string(), "category": m.category.as_str(), "target": m.target, "summary": m.summary,
        "retryCount": m.retry_count, "maxRetries": m.max_retries, "createdAt": m.created_at,
        "lastAttemptAt": m.last_attempt_at, "dueAt": m.due_at, "lastError": m.last_error,
        "instance": m.origin.instance, "script": m.origin.script, "held": held,
    })
}

/// Answers when the attempt is over.
pub async fn try_now(
    State(api): State<Api>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = path_id(&id)?;
    let site = &api.agent.site;
    let (status, error) = match site.engine.try_waiting(id, &here()).await? {
        TriedNow::Forwarding => ("Forwarding", None),
        TriedNow::Tried(tried) => match tried.step {
            Step::Delivered => ("Delivered", None),
            Step::Park { error, .. } | Step::Failed { error } => ("Parked", Some(error)),
            Step::Retry { error, .. } => ("Retrying", Some(error)),
            // The agent stops, or the lease has ended in the middle.
            Step::Released => {
                let why = tried.answer.err().map(|failed| failed.failure.detail);
                ("Retrying", why)
            }
        },
        TriedNow::NotFound => return Err(gone(id)),
        TriedNow::Parked => return Err(parked(id)),
        TriedNow::UnderWay => return Err(under_way(id)),
        TriedNow::Held(why) => {
            let detail = format!("the message is held: {why}");
            return Err(Problem::new(StatusCode::CONFLICT, "wrong_state", detail));
        }
        TriedNow::NobodyDelivers(message) => {
            let detail = format!(
                "{} is not in the configuration of this site; the message stays until it is, or until it is discarded",
                message.target
            );
            return Err(Problem::new(StatusCode::CONFLICT, "wrong_state", detail));
        }
    };
    let said = json!({"messageId": id.to_string(), "status": status, "lastError": error});
    Ok(answer(&headers, said))
}

pub async fn discard(
    State(api): State<Api>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = path_id(&id)?;
    match api.agent.site.discard_waiting(id, &here()).await? {
        Acted::Done => Ok(answer(
            &headers,
            json!({"messageId": id.to_string(), "status": "Discarded"}),
        )),
        Acted::NotFound => Err(gone(id)),
        Acted::WrongState(_) => Err(parked(id)),
        Acted::UnderWay => Err(under_way(id)),
    }
}

/// A program gets the answer; a person with a browser gets the page back, which shows what has become of it.
fn answer(headers: &HeaderMap, said: Value) -> Response {
    let accepts = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok());
    match accepts.is_some_and(|kinds| kinds.contains("text/html")) {
        true => Redirect::to("/").into_response(),
        false => Json(said).into_response(),
    }
}

fn gone(id: MessageId) -> Problem {
    Problem::not_found(format!(
        "there is no message {id} in the buffer; it may have been delivered, see its tracking"
    ))
}

fn parked(id: MessageId) -> Problem {
    let detail = format!("{id} is Parked; it is sent round again by POST /parked/{id}/retry");
    Problem::new(StatusCode::CONFLICT, "wrong_state", detail)
}
