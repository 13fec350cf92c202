//! Reads a request's JSON field by field and gathers everything that is wrong with it before it is refused.

use super::{MAX_BODY_BYTES, Problem};
use crate::intake::SendOptions;
use axum::{
    body::Bytes,
    extract::{FromRequest, Request, rejection::BytesRejection},
    http::{StatusCode, header},
    response::IntoResponse,
};
use domain::{FieldError, Timestamp, content::ContentSource, retry, submission::limit};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, time::Duration};
use store::buffer::{MessageId, Origin};

/// A body that takes longer than this to arrive is not waited for.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// The members of a JSON object that have not been read yet, and what was wrong with those that have.
#[derive(Debug, Default)]
pub struct Fields {
    left: Map<String, Value>,
    bad: Vec<FieldError>,
}

impl<S: Send + Sync> FromRequest<S> for Fields {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let kind = request
            .headers()
            .get(header::CONTENT_TYPE)
            .and_then(|v| v.to_str().ok())
            .unwrap_or("");
        // Also what keeps a page of a lured browser from posting here without being asked first.
        if !kind.starts_with("application/json") {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                "send JSON, with Content-Type: application/json",
            ));
        }
        let arrived = tokio::time::timeout(BODY_TIMEOUT, Bytes::from_request(request, state)).await;
        let bytes = arrived.map_err(|_| too_slow())?.map_err(unreadable)?;
        match serde_json::from_slice(&bytes) {
            Ok(Value::Object(left)) => Ok(Self { left, bad: vec![] }),
            Ok(_) => Err(Problem::field("(body)", "must be a JSON object")),
            Err(e) => {
                let detail = format!("the body is not JSON: {e}");
                Err(Problem {
                    errors: vec![FieldError::new("(body)", detail.clone())],
                    ..Problem::new(StatusCode::BAD_REQUEST, "invalid_json", detail)
                })
            }
        }
    }
}

fn too_slow() -> Problem {
    let detail = format!(
        "the body did not arrive within {} s; nothing was taken",
        BODY_TIMEOUT.as_secs()
    );
    Problem::new(StatusCode::REQUEST_TIMEOUT, "timeout", detail)
}

fn unreadable(rejection: BytesRejection) -> Problem {
    let status = rejection.into_response().status();
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        let detail = format!("the body must be at most {MAX_BODY_BYTES} bytes");
        return Problem {
            errors: vec![FieldError::new("(body)", detail.clone())],
            ..Problem::new(status, "too_large", detail)
        };
    }
    Problem::new(StatusCode::BAD_REQUEST, "invalid_json", "the body broke off")
}

impl Fields {
    /// Of several things wrong with one field the first is told.
    pub fn bad(&mut self, field: &str, problem: impl Into<String>) {
        if self.bad.iter().all(|known| known.field != field) {
            self.bad.push(FieldError::new(field, problem));
        }
    }

    pub fn all_bad(&mut self, problems: impl IntoIterator<Item = FieldError>) {
        for problem in problems {
            self.bad(&problem.field, problem.problem);
        }
    }

    /// Any JSON; `null` counts as absent.
    pub fn any(&mut self, name: &str) -> Option<Value> {
        self.left.remove(name).filter(|v| !v.is_null())
    }

    /// Any JSON but `null`, which is what an unset variable holds: whoever means nothing leaves the field out.
    pub fn given(&mut self, name: &str) -> Option<Value> {
        match self.left.remove(name)? {
            Value::Null => self.wrong(name, "must not be null; leave it out where there is none"),
            value => Some(value),
        }
    }

    pub fn text(&mut self, name: &str) -> Option<String> {
        match self.any(name)? {
            Value::String(text) => Some(text),
            _ => self.wrong(name, "must be text"),
        }
    }

    /// A short text: a name, an id of somebody else's.
    pub fn name(&mut self, name: &str) -> Option<String> {
        let text = self.text(name)?;
        if text.chars().count() > limit::NAME {
            return self.wrong(name, &format!("must be at most {} characters", limit::NAME));
        }
        if text.contains('\0') {
            return self.wrong(name, "must not contain a NUL character");
        }
        Some(text)
    }

    /// A text that has to be there and say something.
    pub fn needed(&mut self, name: &str) -> String {
        match self.left.get(name) {
            None => self.bad(name, "is missing"),
            Some(Value::Null) => {
                self.left.remove(name);
                self.bad(name, "must not be null");
            }
            Some(_) => match self.text(name) {
                Some(text) if text.trim().is_empty() => self.bad(name, "must not be blank"),
                found => return found.unwrap_or_default(),
            },
        }
        String::new()
    }

    /// A GUID, with hyphens or without. The nil one is what an unset variable holds: whoever sends it means nothing by
    /// it, and the second to do so would be taken for a repeat of the first.
    pub fn id(&mut self, name: &str) -> Option<MessageId> {
        let text = self.text(name)?;
        match text.parse::<MessageId>() {
            Ok(id) if id.0.is_nil() => self.wrong(name, "must not be the nil GUID"),
            Ok(id) => Some(id),
            Err(_) => self.wrong(name, GUID),
        }
    }

    pub fn flag(&mut self, name: &str) -> Option<bool> {
        match self.any(name)? {
            Value::Bool(flag) => Some(flag),
            _ => self.wrong(name, "must be true or false"),
        }
    }

    pub fn count(&mut self, name: &str) -> Option<u32> {
        let value = self.any(name)?;
        let number = value.as_u64().and_then(|n| u32::try_from(n).ok());
        number.or_else(|| self.wrong(name, "must be a whole number, 0 or more (0 means no limit)"))
    }

    /// A number that somebody was given.
    pub fn number(&mut self, name: &str) -> Option<i64> {
        let value = self.any(name)?;
        value
            .as_i64()
            .or_else(|| self.wrong(name, "must be a whole number"))
    }

    pub fn duration(&mut self, name: &str) -> Option<Duration> {
        let read = match self.any(name)? {
            Value::String(text) => retry::parse_human(&text),
            Value::Number(n) => retry::parse_human(&n.to_string()),
            _ => Err("must be a duration like \"30s\"".into()),
        };
        match read {
            Ok(d) if d >= Duration::from_secs(1) && d <= Duration::from_secs(365 * 24 * 3600) => Some(d),
            Ok(_) => self.wrong(name, "must be at least 1s and at most 365d"),
            Err(why) => self.wrong(name, &why),
        }
    }

    pub fn texts(&mut self, name: &str) -> BTreeMap<String, String> {
        match self.any(name) {
            None => BTreeMap::new(),
            Some(Value::Object(map)) if map.values().all(Value::is_string) => map
                .into_iter()
                .filter_map(|(k, v)| Some((k, v.as_str()?.to_owned())))
                .collect(),
            Some(_) => {
                self.bad(name, "must be names with text values");
                BTreeMap::new()
            }
        }
    }

    /// How a message is to be tried.
    pub fn options(&mut self) -> SendOptions {
        SendOptions {
            max_retries: self.count("maxRetries"),
            retry_interval: self.duration("retryInterval"),
            attempt_immediate_delivery: self.flag("attemptImmediateDelivery").unwrap_or(true),
            message_id: self.id("messageId"),
            trace: None,
        }
    }

    /// Who asks.
    pub fn origin(&mut self) -> Origin {
        Origin {
            instance: self.name("instance"),
            script: self.name("sourceScript"),
            execution: self.id("executionId").map(|id| id.to_string()),
            parent_execution: self.id("parentExecutionId").map(|id| id.to_string()),
        }
    }

    /// Everything was read; what is left is a field nobody knows.
    pub fn finish(mut self) -> Result<(), Problem> {
        let unknown: Vec<_> = self.left.keys().cloned().collect();
        for name in unknown {
            self.bad(&name, "is not a field of this request");
        }
        if self.bad.is_empty() {
            Ok(())
        } else {
            Err(Problem::fields(self.bad))
        }
    }

    fn wrong<T>(&mut self, name: &str, problem: &str) -> Option<T> {
        self.bad(name, problem);
        None
    }
}

impl ContentSource for Fields {
    fn text(&mut self, name: &'static str) -> Option<String> {
        Fields::text(self, name)
    }

    fn needed_text(&mut self, name: &'static str) -> String {
        self.needed(name)
    }

    fn time(&mut self, name: &'static str) -> Option<Timestamp> {
        let text = Fields::text(self, name)?;
        text.parse()
            .ok()
            .or_else(|| self.wrong(name, Timestamp::EXPECTED))
    }

    fn json(&mut self, name: &'static str) -> Option<String> {
        self.any(name).map(|value| value.to_string())
    }
}

pub(super) const GUID: &str = "must be a GUID, with hyphens or without";

/// The id in a path.
pub fn path_id(text: &str) -> Result<MessageId, Problem> {
    text.parse().map_err(|_| Problem::field("id", GUID))
}
