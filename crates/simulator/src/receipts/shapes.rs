//! What each service's callback looks like, and how it is signed.

use super::CallbackPlace;
use crate::{http::Received, services::form_field};
use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;
use serde_json::{Value, json};
use std::fmt::Write;

/// A callback, ready to go out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

/// A message that a service has taken, and what it will say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    service: String,
    /// The service's own id of it.
    id: String,
    to: String,
    /// What it was given to repeat.
    reference: String,
    /// Where it was told to send receipts, with the message.
    callback: Option<String>,
}

/// Services that tell something later.
pub(crate) const TELLING: [&str; 5] = ["interakt", "meta", "msg91", "pushover", "twilio"];

impl Sent {
    pub fn service(&self) -> &str {
        &self.service
    }

    /// Whether anybody knows where to send its receipts.
    pub fn is_addressed(&self, place: &CallbackPlace) -> bool {
        self.callback.is_some() || place.url.is_some()
    }

    /// None for services that tell nothing later.
    pub fn read(service: &str, request: &Received, answer: &str) -> Option<Self> {
        if !TELLING.contains(&service) {
            return None;
        }
        let (asked, answer) = (
            request.json(),
            serde_json::from_str(answer).unwrap_or(Value::Null),
        );
        let form = |field: &str| form_field(&request.body, field);
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let sent = |id: &Value, to: String, reference: &Value, callback| Self {
            service: service.to_owned(),
            id: text(id),
            to,
            reference: text(reference),
            callback,
        };
        let sent = match service {
            "meta" => sent(
                &answer["messages"][0]["id"],
                text(&asked["to"]),
                &asked["biz_opaque_callback_data"],
                None,
            ),
            "interakt" => sent(
                &answer["id"],
                text(&asked["phoneNumber"]),
                &asked["callbackData"],
                None,
            ),
            "msg91" => sent(
                &answer["message"],
                text(&asked["recipients"][0]["mobiles"]),
                &Value::Null,
                None,
            ),
            "twilio" => sent(
                &answer["sid"],
                form("To").unwrap_or_default(),
                &Value::Null,
                form("StatusCallback"),
            ),
            "pushover" => sent(
                &answer["receipt"],
                form("user").unwrap_or_default(),
                &Value::Null,
                form("callback"),
            ),
            _ => return None,
        };
        Some(sent).filter(|sent| !sent.id.is_empty())
    }

    /// None where the service has no word for that state, or nobody to tell.
    pub fn call(&self, place: &CallbackPlace, state: &str, code: Option<&str>) -> Option<Call> {
        let url = self.callback.clone().or_else(|| place.url.clone())?;
        let (headers, body) = match self.service.as_str() {
            "meta" => self.meta(place, state, code)?,
            "interakt" => self.interakt(place, state, code)?,
            "msg91" => self.msg91(state)?,
            "twilio" => self.twilio(&url, place, state, code)?,
            _ => {
                let body = format!("receipt={}&acknowledged=1&acknowledged_by={}", self.id, self.to);
                (vec![], (state == "read").then_some(body)?)
            }
        };
        Some(Call { url, headers, body })
    }

    fn meta(&self, place: &CallbackPlace, state: &str, code: Option<&str>) -> Option<Parts> {
        let word = match state {
            "accepted" => "sent",
            "delivered" | "read" | "failed" => state,
            _ => return None,
        };
        let mut status = json!({
            "id": self.id, "status": word, "timestamp": "1767225600", "recipient_id": self.to,
            "biz_opaque_callback_data": self.reference,
        });
        if state == "failed" {
            let code: u32 = code.and_then(|code| code.parse().ok()).unwrap_or(131_026);
            status["errors"] = json!([{"code": code, "title": "failed", "message": "failed"}]);
        }
        let value = json!({"messaging_product": "whatsapp", "statuses": [status]});
        let body = json!({"object": "whatsapp_business_account",
            "entry": [{"id": "1", "changes": [{"field": "messages", "value": value}]}]});
        Some(signed("x-hub-signature-256", place, body.to_string()))
    }

    fn interakt(&self, place: &CallbackPlace, state: &str, code: Option<&str>) -> Option<Parts> {
        let word = match state {
            "accepted" => "sent",
            "delivered" | "read" | "failed" => state,
            _ => return None,
        };
        let mut message = json!({
            "id": self.id, "meta_data": {"source": "PublicAPI", "source_data": {"callback_data": self.reference}},
        });
        if state == "failed" {
            message["channel_failure_reason"] = "failed".into();
            message["channel_error_code"] = code.unwrap_or("131026").into();
        }
        let customer = json!({"channel_phone_number": self.to});
        let body = json!({"version": "1.0", "timestamp": "2026-01-01T00:00:00", "type": format!("message_api_{word}"),
            "data": {"customer": customer, "message": message}});
        Some(signed("interakt-signature", place, body.to_string()))
    }

    fn msg91(&self, state: &str) -> Option<Parts> {
        let status = match state {
            "delivered" => "1",
            "failed" => "2",
            _ => return None,
        };
        let body = json!({"requestId": self.id, "number": self.to, "status": status, "desc": state});
        Some((
            vec![("content-type", "application/json".into())],
            body.to_string(),
        ))
    }

    fn twilio(&self, url: &str, place: &CallbackPlace, state: &str, code: Option<&str>) -> Option<Parts> {
        let word = match state {
            "accepted" => "sent",
            "delivered" | "read" => state,
            "failed" => "undelivered",
            _ => return None,
        };
        // In the order of their names, as they are signed.
        let mut fields = vec![
            ("MessageSid", self.id.as_str()),
            ("MessageStatus", word),
            ("To", self.to.as_str()),
        ];
        if state == "failed" {
            fields.insert(0, ("ErrorCode", code.unwrap_or("30005")));
        }
        let text = fields
            .iter()
            .fold(url.to_owned(), |text, (name, value)| text + name + value);
        let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, place.secret.as_bytes());
        let signature = STANDARD.encode(hmac::sign(&key, text.as_bytes()));
        let body: Vec<_> = fields
            .iter()
            .map(|(name, value)| format!("{name}={}", escaped(value)))
            .collect();
        let form = "application/x-www-form-urlencoded".to_owned();
        Some((
            vec![("x-twilio-signature", signature), ("content-type", form)],
            body.join("&"),
        ))
    }
}

type Parts = (Vec<(&'static str, String)>, String);

fn signed(header: &'static str, place: &CallbackPlace, body: String) -> Parts {
    let key = hmac::Key::new(hmac::HMAC_SHA256, place.secret.as_bytes());
    let mut signature = "sha256=".to_owned();
    for byte in hmac::sign(&key, body.as_bytes()).as_ref() {
        let _ = write!(signature, "{byte:02x}");
    }
    (
        vec![(header, signature), ("content-type", "application/json".into())],
        body,
    )
}

fn escaped(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => text.push(byte.into()),
            other => {
                let _ = write!(text, "%{other:02X}");
            }
        }
    }
    text
}
