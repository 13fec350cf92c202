//! `POST /notify` and `GET /notify/{id}`.

use super::{
    Api, Problem,
    body::{Fields, path_id},
};
use crate::{
    intake::Outgoing,
    payload::{self, NotificationPayload},
    status::Whereabouts,
};
use axum::{
    Json,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use domain::{
    Channel, Content, FieldError, NotificationId, Target, address,
    site::{Category, OperationStatus},
};
use link::RemoteStatus;
use serde_json::{Value, json};

pub async fn send(
    State(api): State<Api>,
    headers: HeaderMap,
    mut fields: Fields,
) -> Result<Response, Problem> {
    let mut outgoing = read(&mut fields);
    let given = headers.get("traceparent").and_then(|value| value.to_str().ok());
    outgoing.options.trace = api.agent.site.settings.tracer.read(given);
    fields.finish()?;
    let sent = api.agent.site.send(outgoing).await?;
    // What has left before is central's to tell of: GET /notify/{id}.
    let status = match (sent.was_buffered, sent.status) {
        (true, Some(OperationStatus::Parked)) => "Parked",
        (true, _) => "Forwarding",
        (false, Some(OperationStatus::Discarded)) => "Discarded",
        (false, _) => "Unknown",
    };
    let mut body =
        json!({"notificationId": sent.id.to_string(), "status": status, "duplicate": sent.duplicate});
    if let Some(replicated) = sent.replicated {
        body["replicated"] = replicated.into();
    }
    Ok((StatusCode::ACCEPTED, Json(body)).into_response())
}

fn read(fields: &mut Fields) -> Outgoing {
    let type_as_written = fields.name("type");
    let channel = type_as_written.as_deref().map(str::parse::<Channel>).transpose();
    let to = target(fields);
    let given = channel.as_ref().ok().copied().flatten();
    let content = Content::read(fields, given, to.clone().unwrap_or_default());
    let origin = fields.origin();
    let mut options = fields.options();
    let pinned = fields.id("notificationId");
    match (pinned, options.message_id) {
        (Some(a), Some(b)) if a != b => fields.bad("messageId", "is not the same as notificationId"),
        (id, other) => options.message_id = id.or(other),
    }
    match channel {
        Err(unknown) => fields.bad("type", unknown.to_string()),
        Ok(_) if to.is_none() && content.channel().needs_recipients() => fields.bad("to", "is missing"),
        Ok(_) => fields.all_bad(problems(&content)),
    }
    let target = match (&content.target, &content.provider) {
        (Target::List(list), _) => list.clone(),
        (Target::Recipients(_), _) => "(recipients)".to_owned(),
        (Target::Provider, Some(provider)) => provider.to_string(),
        (Target::Provider, None) => "(provider)".to_owned(),
    };
    let payload = NotificationPayload {
        content,
        type_as_written,
        trace: None,
    };
    Outgoing {
        category: Category::Notification,
        target,
        payload: payload::text(&payload),
        summary: None,
        origin,
        options,
    }
}

/// A list by its name, or addresses; none if nothing was said.
fn target(fields: &mut Fields) -> Option<Target> {
    match fields.any("to")? {
        Value::String(list) => Some(Target::List(list)),
        Value::Array(entries) if entries.iter().all(Value::is_string) => {
            let texts = entries.iter().filter_map(Value::as_str).map(str::to_owned);
            Some(Target::Recipients(texts.collect()))
        }
        _ => {
            fields.bad("to", "must be the name of a list, or a list of addresses");
            Some(Target::Provider)
        }
    }
}

/// What central would refuse anyway, said while the script is still there to hear it.
fn problems(content: &Content) -> Vec<FieldError> {
    let mut bad = content.problems();
    // A provider that is named without a type decides itself what an address looks like.
    let decided = bad.is_empty() && (content.channel.is_some() || content.provider.is_none());
    let channel = content.channel();
    match &content.target {
        Target::List(_) | Target::Recipients(_) if decided && !channel.takes_recipients() => {
            bad.push(FieldError::new("to", address::no_recipients(channel)));
        }
        Target::Recipients(to) if decided => {
            for (i, one) in to.iter().enumerate() {
                let problem = address::problem(channel, one);
                bad.extend(problem.map(|problem| FieldError::new(format!("to[{i}]"), problem)));
            }
        }
        Target::Recipients(_) | Target::List(_) | Target::Provider => {}
    }
    for problem in &mut bad {
        if problem.field == "listName" {
            problem.field = "to".into();
        }
    }
    bad
}

pub async fn status(State(api): State<Api>, Path(id): Path<String>) -> Result<Response, Problem> {
    let id = NotificationId(path_id(&id)?.0);
    let mut body = json!({"notificationId": id.to_string()});
    let found = api.agent.site.whereabouts(id).await?;
    body["status"] = match found.status() {
        Some(status) => status.as_str().into(),
        None => "Unknown".into(),
    };
    match found {
        Whereabouts::Forwarding(message) | Whereabouts::ParkedHere(message) => {
            body["where"] = "site".into();
            body["retryCount"] = message.retry_count.into();
            body["lastError"] = json!(message.last_error);
            body["enqueuedAt"] = json!(message.created_at);
        }
        Whereabouts::DiscardedHere(was) => {
            body["where"] = "site".into();
            body["discardedAt"] = json!(was.at);
            body["discardedBy"] = json!(was.by);
            body["to"] = json!(was.target);
            body["subject"] = json!(was.summary);
            body["lastError"] = json!(was.last_error);
        }
        Whereabouts::Central(remote) => {
            body["where"] = "central".into();
            merge(&mut body, &remote);
        }
        Whereabouts::Unknown {
            why,
            handed_over_at,
            last,
        } => {
            body["where"] = "central".into();
            body["centralReachable"] = false.into();
            body["detail"] = why.into();
            body["handedOverAt"] = json!(handed_over_at);
            body["lastKnown"] = match last {
                Some((remote, heard_at)) => {
                    let mut last = json!({"status": remote.status.as_str(), "heardAt": heard_at});
                    merge(&mut last, &remote);
                    last
                }
                None => Value::Null,
            };
        }
        Whereabouts::NeverSeen => {
            return Err(Problem::not_found(format!(
                "neither this site nor central has seen {id}"
            )));
        }
        Whereabouts::AskTheActive { why } => {
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "standby", why));
        }
        Whereabouts::CannotSay { why } => {
            let detail =
                format!("{id} is not in the buffer of this site, and central cannot be asked: {why}");
            return Err(Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "central_unreachable",
                detail,
            ));
        }
    }
    Ok(Json(body).into_response())
}

fn merge(body: &mut Value, remote: &RemoteStatus) {
    body["retryCount"] = remote.retry_count.into();
    body["lastError"] = json!(remote.last_error);
    body["enqueuedAt"] = json!(remote.enqueued_at);
    body["deliveredAt"] = json!(remote.delivered_at);
    body["receipt"] = json!(remote.receipt);
}
