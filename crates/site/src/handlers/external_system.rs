//! HTTP calls to the systems of the configuration.

use super::unreadable;
use crate::{
    handler::{Delivered, Failed, Handler},
    payload::{self, CallPayload},
};
use async_trait::async_trait;
use delivery::call::{Answer, System};
use domain::Clock;
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};
use store::buffer::Message;

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
