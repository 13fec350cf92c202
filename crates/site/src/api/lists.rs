//! What is parked, what to do about it, and what happened: `GET /parked`, `POST /parked/{id}/…`, `GET /events`.

use super::{
    Api, Problem,
    body::{GUID, path_id},
};
use crate::parked::PAGE;
use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
};
use domain::{
    Actor,
    site::{Category, ParkedFilter},
};
use link::ParkedPage;
use serde_json::{Value, json};
use std::collections::HashMap;
use store::buffer::{Acted, MessageId};

pub(super) type QueryParams = Query<HashMap<String, String>>;

pub async fn parked(State(api): State<Api>, Query(asked): QueryParams) -> Result<Json<Value>, Problem> {
    only(
        &asked,
        &[
            "limit",
            "cursor",
            "category",
            "target",
            "errorCode",
            "instance",
            "from",
            "to",
            "removed",
        ],
    )?;
    let page = ParkedPage {
        filter: filter(&asked)?,
        limit: limit(&asked)?,
        after: asked.get("cursor").cloned(),
    };
    let found = api.agent.site.parked(&page).await?;
    let messages: Vec<_> = found
        .messages
        .into_iter()
        .map(|m| {
            json!({
                "messageId": m.id, "category": m.category.as_str(), "target": m.target, "summary": m.summary,
                "retryCount": m.retry_count, "maxRetries": m.max_retries,
                "createdAt": m.created_at, "lastAttemptAt": m.last_attempt_at, "parkedAt": m.parked_at,
                "lastError": m.last_error, "instance": m.instance, "script": m.script,
            })
        })
        .collect();
    Ok(Json(
        json!({"items": messages, "nextCursor": found.next, "total": found.total}),
    ))
}

fn filter(asked: &HashMap<String, String>) -> Result<ParkedFilter, Problem> {
    fn parsed<T: std::str::FromStr<Err: ToString>>(
        asked: &HashMap<String, String>,
        name: &str,
    ) -> Result<Option<T>, Problem> {
        let found = asked.get(name).map(|text| text.parse());
        found
            .transpose()
            .map_err(|e: T::Err| Problem::field(name, e.to_string()))
    }
    let text = |name: &str| asked.get(name).cloned();
    Ok(ParkedFilter {
        category: parsed(asked, "category")?,
        target: text("target"),
        error_code: text("errorCode"),
        instance: text("instance"),
        from: parsed(asked, "from")?,
        to: parsed(asked, "to")?,
        removed: parsed(asked, "removed")?.unwrap_or(false),
        until: None,
    })
}

pub async fn retry(State(api): State<Api>, Path(id): Path<String>) -> Result<Json<Value>, Problem> {
    let id = path_id(&id)?;
    let acted = api.agent.site.retry(id, &here()).await?;
    answer(id, acted, "Pending")
}

pub async fn discard(State(api): State<Api>, Path(id): Path<String>) -> Result<Json<Value>, Problem> {
    let id = path_id(&id)?;
    let acted = api.agent.site.discard(id, &here()).await?;
    answer(id, acted, "Discarded")
}

/// Whoever stands at this machine.
pub(super) fn here() -> Actor {
    Actor::new("local")
}

fn answer(id: MessageId, acted: Acted, status: &str) -> Result<Json<Value>, Problem> {
    match acted {
        Acted::Done => Ok(Json(json!({"messageId": id.to_string(), "status": status}))),
        Acted::NotFound => Err(Problem::not_found(format!(
            "there is no message {id} in the buffer"
        ))),
        Acted::WrongState(found) => Err(Problem::new(
            StatusCode::CONFLICT,
            "wrong_state",
            format!("{id} is {found}, not parked"),
        )),
        Acted::UnderWay => Err(under_way(id)),
    }
}

fn under_way(id: MessageId) -> Problem {
    Problem::new(
        StatusCode::CONFLICT,
        "wrong_state",
        format!("{id} is being tried right now; look again when that is over"),
    )
}

pub async fn events(State(api): State<Api>, Query(asked): QueryParams) -> Result<Json<Value>, Problem> {
    only(&asked, &["limit", "cursor", "messageId"])?;
    let (limit, cursor) = (limit(&asked)?, cursor(&asked)?);
    let buffer = &api.agent.site.buffer;
    let (found, next) = match asked.get("messageId") {
        Some(_) if cursor.is_some() => {
            let why = "does not go with messageId: what happened to one message is one page";
            return Err(Problem::field("cursor", why));
        }
        Some(text) => {
            let wrong = |_| Problem::field("messageId", GUID);
            let id = text.parse().map_err(wrong)?;
            (buffer.events_of(id, limit).await?, None)
        }
        None => {
            let page = buffer.events_page(cursor, limit).await?;
            (page.events, page.next.map(|place| place.to_string()))
        }
    };
    let events: Vec<_> = found
        .into_iter()
        .map(|e| {
            json!({
                "at": e.at, "what": e.what.as_str(), "messageId": e.message.map(|id| id.to_string()),
                "category": e.category.map(|c| c.as_str()), "target": e.target, "count": e.n,
                "actor": e.actor, "detail": e.detail,
            })
        })
        .collect();
    Ok(Json(json!({"items": events, "nextCursor": next})))
}

pub(super) fn only(asked: &HashMap<String, String>, known: &[&str]) -> Result<(), Problem> {
    match asked.keys().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(Problem::field(
            name,
            format!("is not a parameter; those there are: {}", known.join(", ")),
        )),
        None => Ok(()),
    }
}

pub(super) fn category(asked: &HashMap<String, String>) -> Result<Option<Category>, Problem> {
    let Some(text) = asked.get("category") else {
        return Ok(None);
    };
    let known = text.parse().map(Some);
    known.map_err(|e: String| Problem::field("category", e))
}

pub(super) fn limit(asked: &HashMap<String, String>) -> Result<u32, Problem> {
    let Some(text) = asked.get("limit") else {
        return Ok(100);
    };
    let number = text.parse().ok().filter(|n| (1..=PAGE).contains(n));
    number.ok_or_else(|| Problem::field("limit", format!("must be a number from 1 to {PAGE}")))
}

fn cursor(asked: &HashMap<String, String>) -> Result<Option<i64>, Problem> {
    let Some(text) = asked.get("cursor") else {
        return Ok(None);
    };
    let number = text.parse().ok().filter(|n| *n >= 0).map(Some);
    number.ok_or_else(|| Problem::field("cursor", "is not one this site gave out"))
}
