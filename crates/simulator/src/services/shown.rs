//! What arrived, as whoever holds the phone or sits in the chat would see it.

use super::{SERVICES, ServiceRequest};
use crate::http::Received;
use serde_json::Value;

/// One message as a person reads it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Shown {
    /// `telegram`, or `webhook` for what is nobody else's.
    pub service: &'static str,
    pub to: String,
    pub title: String,
    pub text: String,
}

/// A request in the words of the service it was for.
pub(crate) fn shown(request: &Received) -> Shown {
    let below = request
        .path
        .strip_prefix('/')
        .and_then(|path| path.split_once('/'));
    let service = below.and_then(|(first, _)| SERVICES.iter().find(|(name, _)| *name == first));
    let (service, path) = match (service, below) {
        (Some((name, _)), Some((_, rest))) => (*name, rest),
        _ => ("webhook", request.path.as_str()),
    };
    let asked = ServiceRequest {
        path,
        request,
        json: request.json(),
        number: 0,
    };
    let (to, title, text) = read(service, &asked);
    Shown {
        service,
        to,
        title,
        text,
    }
}

/// Whom it is for, its title and its text.
fn read(service: &str, asked: &ServiceRequest<'_>) -> (String, String, String) {
    let json = &asked.json;
    let field = |name: &str| word(&json[name]);
    let form = |name: &str| asked.form(name).unwrap_or_default();
    match service {
        "ntfy" => (field("topic"), field("title"), field("message")),
        "slack" => (String::new(), String::new(), field("text")),
        "discord" => (String::new(), String::new(), field("content")),
        "telegram" => (field("chat_id"), String::new(), field("text")),
        "pushover" => (form("user"), form("title"), form("message")),
        "pushbullet" => {
            let to = ["email", "device_iden", "channel_tag"].map(field).concat();
            (to, field("title"), field("body"))
        }
        "teams" => {
            let blocks = json["attachments"][0]["content"]["body"].as_array();
            let texts = blocks.into_iter().flatten().map(|block| word(&block["text"]));
            (String::new(), String::new(), texts.collect::<Vec<_>>().join("\n"))
        }
        "homeassistant" => {
            let service = asked.path.strip_prefix("api/services/").unwrap_or(asked.path);
            let entity = field("entity_id");
            let to = if entity.is_empty() {
                service.replace('/', ".")
            } else {
                entity
            };
            (to, field("title"), field("message"))
        }
        "apprise" => (String::new(), field("title"), field("body")),
        "twilio" => (form("To"), String::new(), form("Body")),
        "msg91" => {
            let first = &json["recipients"][0];
            let values = first.as_object().into_iter().flatten();
            let filled = values.filter(|(name, _)| *name != "mobiles");
            let filled = filled.map(|(name, value)| format!("{name} = {}", word(value)));
            let text = filled.collect::<Vec<_>>().join("\n");
            (
                word(&first["mobiles"]),
                format!("template {}", field("template_id")),
                text,
            )
        }
        "meta" => {
            let text = word(&json["text"]["body"]);
            (
                field("to"),
                template(&json["template"]["name"]),
                text + &params(&json["template"]["components"]),
            )
        }
        "interakt" => {
            let to = format!("{}{}", field("countryCode"), field("phoneNumber"));
            let text = word(&json["data"]["message"]);
            (
                to,
                template(&json["template"]["name"]),
                text + &params(&json["template"]["bodyValues"]),
            )
        }
        _ => match &json["data"]["body"] {
            Value::Null => {
                let text = String::from_utf8_lossy(&asked.request.body);
                (asked.path.to_owned(), String::new(), text.into_owned())
            }
            body => (asked.path.to_owned(), word(&json["data"]["subject"]), word(body)),
        },
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn template(name: &Value) -> String {
    match name.as_str() {
        Some(name) => format!("template {name}"),
        None => String::new(),
    }
}

/// What a template is filled with, wherever it stands.
fn params(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(params).collect(),
        Value::Object(members) => {
            let inside = members
                .iter()
                .filter(|(name, _)| ["text", "parameters", "link"].contains(&name.as_str()));
            inside.map(|(_, value)| params(value)).collect()
        }
        _ => String::new(),
    }
}
