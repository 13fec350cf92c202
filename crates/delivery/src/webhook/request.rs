//! A request: the same id and body over all attempts, so that receivers can tell a repeat, signed anew each time.

use super::Webhook;
use crate::{adapter::Message, kit::Sending};
use bytes::Bytes;
use domain::{Failure, Scope, Timestamp, code};
use hyper::{
    Method, Request,
    header::{HeaderName, HeaderValue},
};
use serde::Serialize;
use serde_json::Value;

const WEBHOOK_ID: HeaderName = HeaderName::from_static("webhook-id");
const WEBHOOK_TIMESTAMP: HeaderName = HeaderName::from_static("webhook-timestamp");
const WEBHOOK_SIGNATURE: HeaderName = HeaderName::from_static("webhook-signature");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

#[derive(Serialize)]
struct Event<'a> {
    r#type: &'static str,
    timestamp: Timestamp,
    data: Data<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    notification_id: String,
    subject: &'a str,
    body: &'a str,
    type_data: Option<Value>,
    site: Option<&'a str>,
    created_at: Timestamp,
}

pub(super) fn compose(webhook: &Webhook, sending: &Sending<'_>) -> Result<Request<Bytes>, Failure> {
    let unfit = |why: String| Failure::permanent(Scope::Message, code::VALIDATION, why);
    let message = sending.message;
    let body = event(message, message.type_data()?).map_err(|e| unfit(e.to_string()))?;
    let id = message.id.to_string();
    let now = sending.now.as_millis().div_euclid(1000);
    let mut headers = webhook.headers.clone();
    let signed = match &webhook.signer {
        Some(signer) => Some(signer.sign(&id, now, &body).map_err(unfit)?),
        None => None,
    };
    for (name, value) in [
        (WEBHOOK_ID, Some(id)),
        (WEBHOOK_TIMESTAMP, Some(now.to_string())),
        (WEBHOOK_SIGNATURE, signed),
        (TRACEPARENT, message.trace.map(|trace| trace.to_string())),
    ] {
        if let Some(value) = value {
            let value = HeaderValue::try_from(value).map_err(|e| unfit(e.to_string()))?;
            headers.insert(name, value);
        }
    }
    let mut request = Request::new(Bytes::from(body));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = webhook.uri.clone();
    *request.headers_mut() = headers;
    Ok(request)
}

fn event(message: &Message, type_data: Option<Value>) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Event {
        r#type: "notification",
        timestamp: message.created_at,
        data: Data {
            notification_id: message.id.to_string(),
            subject: &message.content.subject,
            body: &message.content.body,
            type_data,
            site: message.site.as_deref(),
            created_at: message.created_at,
        },
    })
}
