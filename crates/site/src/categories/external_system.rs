//! HTTP calls to the systems of the configuration: what a call carries, the route that takes one in, and the attempt.

use super::{unknown, unreadable};
use crate::{
    api::{Api, Problem, body::Fields, sent},
    handler::{Delivered, Failed, Handler},
    intake::Outgoing,
    payload,
};
use async_trait::async_trait;
use axum::{extract::State, response::Response};
use delivery::call::{Answer, Call, System};
use domain::{Clock, site::Category, submission::limit};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};
use store::buffer::Message;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallPayload {
    pub method: String,
    pub path: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Text is sent as it is, anything else as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
}

impl CallPayload {
    pub fn call(&self) -> Call {
        let (body, content_type) = match &self.body {
            None | Some(Value::Null) => (None, None),
            Some(Value::String(text)) => (Some(text.clone()), Some("text/plain; charset=utf-8")),
            Some(json) => (Some(json.to_string()), Some("application/json")),
        };
        Call {
            method: self.method.clone(),
            path: self.path.clone(),
            headers: self.headers.clone(),
            body,
            content_type,
        }
    }

    /// For people; a query may hold secrets and is left out.
    pub fn summary(&self) -> String {
        let path = self.path.split(['?', '#']).next().unwrap_or("");
        payload::cut(&format!(
            "{} /{}",
            self.method.to_uppercase(),
            path.trim_start_matches('/')
        ))
    }
}

/// `POST /calls`.
pub(super) async fn send(State(api): State<Api>, mut fields: Fields) -> Result<Response, Problem> {
    let system = fields.needed("system");
    let method = fields.name("method").unwrap_or_else(|| "POST".into());
    let call = CallPayload {
        method: method.to_uppercase(),
        path: fields.text("path").unwrap_or_default(),
        headers: fields.texts("headers"),
        body: fields.given("body"),
    };
    let (origin, options) = (fields.origin(), fields.options());
    match api.targets.systems.get(&system) {
        Some(known) => fields.all_bad(known.problems(&call.call())),
        None if system.is_empty() => {}
        None => fields.bad("system", unknown("system", &system, &api.targets.systems.names())),
    }
    let payload = payload::text(&call);
    if payload.len() > limit::BODY {
        fields.bad("body", format!("must be at most {} bytes, as JSON", limit::BODY));
    }
    fields.finish()?;
    let sent = api
        .agent
        .site
        .send(Outgoing {
            category: Category::ExternalSystem,
            target: system,
            summary: Some(call.summary()),
            payload,
            origin,
            options,
        })
        .await?;
    Ok(sent::answer(sent))
}

/// The systems by name.
#[derive(Debug)]
pub struct ExternalSystems {
    systems: BTreeMap<String, System>,
    clock: Arc<dyn Clock>,
}

impl ExternalSystems {
    pub fn new(systems: BTreeMap<String, System>, clock: Arc<dyn Clock>) -> Self {
        Self { systems, clock }
    }

    pub fn get(&self, name: &str) -> Option<&System> {
        self.systems.get(name)
    }

    pub fn names(&self) -> Vec<&str> {
        self.systems.keys().map(String::as_str).collect()
    }
}

#[async_trait]
impl Handler for ExternalSystems {
    async fn deliver(&self, message: &Message) -> Result<Delivered, Failed> {
        let call: CallPayload = payload::read(&message.payload).map_err(unreadable)?;
        let system = self
            .systems
            .get(&message.target)
            .ok_or_else(|| unreadable(format!("there is no system {:?}", message.target)))?;
        let key = message.id.to_string();
        match system.call(&call.call(), &key, self.clock.now()).await {
            Ok(answer) => Ok(Delivered {
                http_status: Some(answer.status),
                result: Some(result(answer)),
            }),
            Err(failed) => Err(Failed {
                http_status: failed.status,
                failure: failed.failure,
            }),
        }
    }

    fn serves(&self, target: &str) -> bool {
        self.systems.contains_key(target)
    }
}

/// The answer as the caller sees it: JSON as JSON, anything else as text.
fn result(answer: Answer) -> Value {
    let is_json = answer
        .content_type
        .as_deref()
        .is_some_and(|kind| kind.contains("json"));
    let body = match is_json && !answer.cut {
        true => serde_json::from_str(&answer.body).unwrap_or(Value::String(answer.body)),
        false => Value::String(answer.body),
    };
    let mut result = json!({"status": answer.status, "body": body});
    if let Some(kind) = answer.content_type {
        result["contentType"] = kind.into();
    }
    if answer.cut {
        result["truncated"] = true.into();
    }
    result
}
