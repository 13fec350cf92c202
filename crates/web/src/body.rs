//! Takes a request's JSON in: size, media type, syntax. What the fields mean is [`crate::fields`]'s.

use crate::{
    fields::{Fields, kind},
    problem::{Code, Problem, Result},
};
use axum::{
    body::Bytes,
    extract::{DefaultBodyLimit, FromRequest, Request},
    http::{HeaderMap, StatusCode, header},
};
use serde_json::{Map, Value};
use std::time::Duration;

/// The largest body of a request that is about neither notifications nor an event.
pub const MAX_BODY_BYTES: usize = 1 << 20;
/// The largest body of one notification: each of its texts may have a megabyte, and escaped in JSON they are longer.
pub const MAX_SUBMIT_BYTES: usize = 4 << 20;
/// The largest body of a batch.
pub const MAX_BATCH_BYTES: usize = 16 << 20;
/// A body that takes longer than this to arrive is not waited for.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// A body that must be a JSON object.
#[derive(Debug)]
pub struct JsonObject(pub Fields);

/// The same of up to [`MAX_SUBMIT_BYTES`].
#[derive(Debug)]
pub struct SubmitBody(pub Fields);

/// A body that must be a JSON object, with its text: what is in it may have to be kept as it was written.
#[derive(Debug)]
pub struct EventBody {
    pub fields: Fields,
    pub json: String,
}

/// The largest body of an event: its payload, and what is around it.
pub const MAX_EVENT_BYTES: usize = 4 << 20;

/// A body that may be left out; then it is an empty object.
#[derive(Debug)]
pub struct OptionalObject(pub Fields);

/// A body of up to [`MAX_BATCH_BYTES`].
#[derive(Debug)]
pub struct BatchBody(pub Value);

impl<S: Send + Sync> FromRequest<S> for JsonObject {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        fields_of(request, state, MAX_BODY_BYTES).await.map(Self)
    }
}

impl<S: Send + Sync> FromRequest<S> for SubmitBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        fields_of(request, state, MAX_SUBMIT_BYTES).await.map(Self)
    }
}

impl<S: Send + Sync> FromRequest<S> for EventBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let json = json_type(request.headers());
        let bytes = whole(request, state, MAX_EVENT_BYTES).await?;
        let map = json.and_then(|()| object(parse(&bytes)?))?;
        Ok(Self {
            fields: Fields::new(map),
            // It was parsed, so it is text.
            json: String::from_utf8_lossy(&bytes).into_owned(),
        })
    }
}

impl<S: Send + Sync> FromRequest<S> for OptionalObject {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let json = json_type(request.headers());
        let bytes = whole(request, state, MAX_BODY_BYTES).await?;
        if bytes.is_empty() {
            return Ok(Self(Fields::new(Map::new())));
        }
        json.and_then(|()| object(parse(&bytes)?))
            .map(|map| Self(Fields::new(map)))
    }
}

impl<S: Send + Sync> FromRequest<S> for BatchBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let json = json_type(request.headers());
        let bytes = whole(request, state, MAX_BATCH_BYTES).await?;
        json.and_then(|()| parse(&bytes)).map(Self)
    }
}

async fn fields_of<S: Send + Sync>(request: Request, state: &S, largest: usize) -> Result<Fields> {
    let json = json_type(request.headers());
    let bytes = whole(request, state, largest).await?;
    json.and_then(|()| object(parse(&bytes)?)).map(Fields::new)
}

pub(crate) async fn whole<S: Send + Sync>(mut request: Request, state: &S, largest: usize) -> Result<Bytes> {
    DefaultBodyLimit::max(largest).apply(&mut request);
    match tokio::time::timeout(BODY_TIMEOUT, Bytes::from_request(request, state)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(rejection)) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => Err(Problem::new(
            Code::TooLarge,
            format!("a body may have at most {largest} bytes"),
        )),
        Ok(Err(_)) => Err(Problem::new(Code::InvalidJson, "the body ended too soon")),
        Err(_) => Err(Problem::new(Code::Timeout, "the body did not arrive in time")),
    }
}

fn json_type(headers: &HeaderMap) -> Result<()> {
    let given = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = given
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    if essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json")) {
        return Ok(());
    }
    Err(Problem::new(
        Code::UnsupportedMediaType,
        "send JSON with the header Content-Type: application/json",
    ))
}

fn parse(bytes: &[u8]) -> Result<Value> {
    serde_json::from_slice(bytes).map_err(|error| {
        // The parser's own words may quote the body; its position does not.
        let (line, column) = (error.line(), error.column());
        let what = match error.classify() {
            serde_json::error::Category::Eof if bytes.is_empty() => "the body is empty".to_owned(),
            serde_json::error::Category::Eof => {
                format!("the JSON ends too soon, at line {line} column {column}")
            }
            _ => format!("not JSON from line {line} column {column}"),
        };
        Problem::new(Code::InvalidJson, what)
    })
}

fn object(value: Value) -> Result<Map<String, Value>> {
    match value {
        Value::Object(map) => Ok(map),
        other => Err(Problem::new(
            Code::ValidationFailed,
            format!("the body must be an object, not {}", kind(&other)),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_json_is_refused_with_its_place_and_without_its_content() {
        let problem = parse(b"{\"body\": \"hunter2\",,}").unwrap_err();
        assert_eq!(problem.code, Code::InvalidJson);
        assert!(problem.detail.contains("line 1 column"), "{}", problem.detail);
        assert!(!problem.detail.contains("hunter2"));
        assert!(parse(b"").unwrap_err().detail.contains("empty"));
    }

    #[test]
    fn only_json_is_taken() {
        let with = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, value.parse().unwrap());
            json_type(&headers).is_ok()
        };
        assert!(with("application/json") && with("Application/JSON; charset=utf-8"));
        assert!(with("application/problem+json"));
        assert!(!with("text/plain") && !with("application/x-www-form-urlencoded"));
        assert!(json_type(&HeaderMap::new()).is_err());
    }
}
