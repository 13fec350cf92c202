//! Calls and writes that are made at once if possible, and later if not.

use super::{Site, either::Repeat, of_site};
use crate::{Client, Error, Result, error, http::NONE};
use domain::{TrackedOperationId, site::OperationStatus};
use reqwest::Method;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use std::time::Duration;

/// What became of a call or write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// Delivered, or kept until it is. False: refused for good, nothing is kept.
    pub accepted: bool,
    pub tracked_operation_id: TrackedOperationId,
    pub was_buffered: bool,
    #[serde(default)]
    pub duplicate: bool,
    /// Whether the site's standby has it as well, where the agent waits for that.
    #[serde(default)]
    pub replicated: Option<bool>,
    #[serde(default)]
    pub status: Option<OperationStatus>,
    /// The far end's answer, where it was reached at once.
    #[serde(default)]
    pub result: Option<Value>,
    /// Why it was refused for good.
    #[serde(default)]
    pub error: Option<Refusal>,
    /// Why it waits.
    #[serde(default)]
    pub last_error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    pub code: String,
    pub detail: String,
    #[serde(default)]
    pub http_status: Option<u16>,
}

/// A call under construction.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before `send`"]
pub struct CachedCall {
    site: Site,
    fields: Map<String, Value>,
}

/// A write under construction.
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before `send`"]
pub struct CachedWrite {
    site: Site,
    fields: Map<String, Value>,
    params: Vec<Value>,
}

impl Site {
    /// A call to a system of the agent's configuration.
    pub fn call(&self, system: impl Into<String>) -> CachedCall {
        CachedCall {
            site: self.clone(),
            fields: Map::from_iter([("system".to_owned(), Value::String(system.into()))]),
        }
    }

    /// One statement on a connection of the agent's configuration. Values are bound, never spliced in.
    pub fn write(&self, connection: impl Into<String>, statement: impl Into<String>) -> CachedWrite {
        let fields = [
            ("connection".to_owned(), Value::String(connection.into())),
            ("statement".to_owned(), Value::String(statement.into())),
        ];
        CachedWrite {
            site: self.clone(),
            fields: Map::from_iter(fields),
            params: vec![],
        }
    }

    async fn deliver(&self, path: &str, fields: &Map<String, Value>) -> Result<Sent> {
        let deliver = |client| Self::deliver_to(client, path, fields);
        self.on_either(Repeat::Never, deliver).await
    }

    async fn deliver_to(client: Client, path: &str, fields: &Map<String, Value>) -> Result<Sent> {
        let request = client.request(Method::POST, &[path], NONE).json(fields);
        let answer = of_site(client.send(request).await)?;
        let status = answer.status();
        let body = of_site(answer.bytes().await.map_err(|e| client.unreachable(e)))?;
        match serde_json::from_slice::<Sent>(&body) {
            Ok(sent) => Ok(sent),
            Err(_) if !status.is_success() => of_site(Err(error::from_answer(status.as_u16(), None, &body))),
            Err(e) => Err(Error::Site {
                status: status.as_u16(),
                code: String::new(),
                detail: format!("an answer this client does not understand: {e}"),
                retry_after: None,
            }),
        }
    }
}

/// What calls and writes have in common.
macro_rules! options {
    ($kind:ident) => {
        impl $kind {
            fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
                self.fields.insert(name.to_owned(), value.into());
                self
            }

            pub fn instance(self, name: impl Into<String>) -> Self {
                self.set("instance", name.into())
            }

            pub fn script(self, name: impl Into<String>) -> Self {
                self.set("sourceScript", name.into())
            }

            /// The run of the script, a GUID.
            pub fn execution(self, id: impl Into<String>) -> Self {
                self.set("executionId", id.into())
            }

            /// Tries before it is parked; 0 for no limit.
            pub fn max_retries(self, n: u32) -> Self {
                self.set("maxRetries", n)
            }

            pub fn retry_interval(self, interval: Duration) -> Self {
                self.set("retryInterval", domain::retry::human(interval))
            }

            /// It has just been tried; the agent need not do so at once.
            pub fn already_tried(self) -> Self {
                self.set("attemptImmediateDelivery", false)
            }

            /// An id of your own: sending the same one again is harmless.
            pub fn id(self, id: TrackedOperationId) -> Self {
                self.set("messageId", id.to_string())
            }
        }
    };
}

options!(CachedCall);
options!(CachedWrite);

impl CachedCall {
    pub fn method(self, method: impl Into<String>, path: impl Into<String>) -> Self {
        self.set("method", method.into()).set("path", path.into())
    }

    pub fn post(self, path: impl Into<String>) -> Self {
        self.method("POST", path)
    }

    pub fn put(self, path: impl Into<String>) -> Self {
        self.method("PUT", path)
    }

    pub fn get(self, path: impl Into<String>) -> Self {
        self.method("GET", path)
    }

    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        let headers = self
            .fields
            .entry("headers")
            .or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(headers) = headers {
            headers.insert(name.into(), Value::String(value.into()));
        }
        self
    }

    /// A JSON body.
    pub fn json(self, body: &impl Serialize) -> Self {
        let body = serde_json::to_value(body).unwrap_or_default();
        self.set("body", body)
    }

    /// A body of plain text.
    pub fn text(self, body: impl Into<String>) -> Self {
        self.set("body", body.into())
    }

    /// Makes the call, now or later. A refusal for good is an answer (`accepted: false`), not an error.
    pub async fn send(self) -> Result<Sent> {
        self.site.deliver("calls", &self.fields).await
    }
}

impl CachedWrite {
    /// The next value.
    pub fn param(mut self, value: impl Serialize) -> Self {
        self.params.push(serde_json::to_value(value).unwrap_or_default());
        self
    }

    /// An attempt whose answer was lost may have written the row. With this, a violation of the unique constraint (by
    /// its name on PostgreSQL, `table.column` on SQLite) means that it is there and the write is done.
    pub fn idempotent_by(self, constraint: impl Into<String>) -> Self {
        self.set("idempotent", true).set("constraint", constraint.into())
    }

    /// Makes the write, now or later. A refusal for good is an answer (`accepted: false`), not an error.
    pub async fn send(mut self) -> Result<Sent> {
        self.fields.insert("params".into(), Value::Array(self.params));
        self.site.deliver("db-writes", &self.fields).await
    }
}

impl Sent {
    /// The far end's answer as a type of your own; of a call, its body.
    pub fn body<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_value(self.result.as_ref()?.get("body")?.clone()).ok()
    }
}
