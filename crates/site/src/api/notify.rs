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
    Actor, Channel, FieldError, NotificationId, ProviderId, Submission, Target, TenantId, address,
    site::{Category, OperationStatus},
    submission::{Extra, Provenance},
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
        (true, _) => "Forwarding",
        (false, Some(OperationStatus::Discarded)) => "Discarded",
        (false, _) => "Unknown",
    };
    let body = json!({"notificationId": sent.id.to_string(), "status": status, "duplicate": sent.duplicate});
    Ok((StatusCode::ACCEPTED, Json(body)).into_response())
}

fn read(fields: &mut Fields) -> Outgoing {
    let mut payload = NotificationPayload {
        channel: fields.name("type"),
        provider: fields.name("providerId"),
        subject: fields.text("subject").unwrap_or_default(),
        body: String::new(),
        type_data: fields.any("typeData"),
        ..Default::default()
    };
    let to = fields.any("to");
    let missing = to.is_none();
    match to {
        Some(Value::String(list)) => payload.list = Some(list),
        Some(Value::Array(entries)) if entries.iter().all(Value::is_string) => {
            let texts = entries.iter().filter_map(Value::as_str).map(str::to_owned);
            payload.recipients = Some(texts.collect());
        }
        Some(_) => fields.bad("to", "must be the name of a list, or a list of addresses"),
        None => {}
    }
    payload.body = fields.needed("body");
    let origin = fields.origin();
    let mut options = fields.options();
    let pinned = fields.id("notificationId");
    match (pinned, options.message_id) {
        (Some(a), Some(b)) if a != b => fields.bad("messageId", "is not the same as notificationId"),
        (id, other) => options.message_id = id.or(other),
    }
    let problems = problems(&payload, missing);
    fields.all_bad(problems);
    let target = match (&payload.list, &payload.recipients, &payload.provider) {
        (Some(list), _, _) => list.clone(),
        (None, Some(_), _) => "(recipients)".to_owned(),
        (None, None, provider) => provider.clone().unwrap_or_else(|| "(provider)".to_owned()),
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

/// What central would refuse anyway, said while the script is still there to hear it.
fn problems(payload: &NotificationPayload, to_missing: bool) -> Vec<FieldError> {
    let channel = match payload.channel.as_deref().map(str::parse::<Channel>) {
        Some(Ok(channel)) => channel,
        Some(Err(unknown)) => return vec![FieldError::new("type", unknown.to_string())],
        None => Channel::Email,
    };
    if to_missing && channel.needs_recipients() {
        return vec![FieldError::new("to", "is missing")];
    }
    let target = match (&payload.list, &payload.recipients) {
        (Some(list), _) => Target::List(list.clone()),
        (None, Some(to)) => Target::Recipients(to.clone()),
        (None, None) => Target::Provider,
    };
    let draft = Submission {
        tenant: TenantId::DEFAULT,
        id: NotificationId(uuid::Uuid::nil()),
        idempotency_key: None,
        channel,
        provider: payload.provider.as_deref().map(ProviderId::new),
        target,
        subject: payload.subject.clone(),
        body: payload.body.clone(),
        type_data: payload.type_data.as_ref().map(Value::to_string),
        provenance: Provenance::default(),
        entity_type: None,
        entity_id: None,
        submitted_by: Actor::system(),
        site_enqueued_at: None,
        send_at: None,
        expires_at: None,
        supersedes_key: None,
        extra: Extra::default(),
    };
    let mut bad = draft.problems();
    // A provider that is named without a type decides itself what an address looks like.
    let decided = bad.is_empty() && (payload.channel.is_some() || payload.provider.is_none());
    if decided
        && channel.takes_recipients()
        && let Some(to) = &payload.recipients
    {
        for (i, one) in to.iter().enumerate() {
            let problem = address::problem(channel, one);
            bad.extend(problem.map(|problem| FieldError::new(format!("to[{i}]"), problem)));
        }
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
