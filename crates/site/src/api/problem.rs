//! Errors as the API says them: `application/problem+json` with a stable code, and every bad field.

use crate::intake::SendError;
use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::FieldError;
use serde_json::{Map, Value, json};

/// Every code there is, and its status. Where central has the same word, it means the same.
pub const CODES: &[(&str, StatusCode)] = &[
    ("invalid_json", StatusCode::BAD_REQUEST),
    ("unauthorized", StatusCode::UNAUTHORIZED),
    ("forbidden", StatusCode::FORBIDDEN),
    ("not_found", StatusCode::NOT_FOUND),
    ("method_not_allowed", StatusCode::METHOD_NOT_ALLOWED),
    ("timeout", StatusCode::REQUEST_TIMEOUT),
    ("conflict", StatusCode::CONFLICT),
    ("wrong_state", StatusCode::CONFLICT),
    ("too_large", StatusCode::PAYLOAD_TOO_LARGE),
    ("unsupported_media_type", StatusCode::UNSUPPORTED_MEDIA_TYPE),
    ("validation_failed", StatusCode::UNPROCESSABLE_ENTITY),
    ("internal", StatusCode::INTERNAL_SERVER_ERROR),
    ("unavailable", StatusCode::SERVICE_UNAVAILABLE),
    // A site's own.
    ("permanent_failure", StatusCode::UNPROCESSABLE_ENTITY),
    ("no_room", StatusCode::INSUFFICIENT_STORAGE),
    ("stopping", StatusCode::SERVICE_UNAVAILABLE),
    ("central_unreachable", StatusCode::SERVICE_UNAVAILABLE),
    ("standby", StatusCode::SERVICE_UNAVAILABLE),
    ("outcome_unknown", StatusCode::SERVICE_UNAVAILABLE),
    ("handover_refused", StatusCode::CONFLICT),
];

#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub status: StatusCode,
    pub code: &'static str,
    pub detail: String,
    pub errors: Vec<FieldError>,
    /// Further members of the answer.
    pub more: Map<String, Value>,
}

impl Problem {
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        debug_assert!(
            CODES.contains(&(code, status)),
            "{code} {status} is not among the codes"
        );
        Self {
            status,
            code,
            detail: detail.into(),
            errors: vec![],
            more: Map::new(),
        }
    }

    /// One field is wrong.
    pub fn field(name: &str, problem: impl Into<String>) -> Self {
        Self::fields(vec![FieldError::new(name, problem)])
    }

    pub fn fields(errors: Vec<FieldError>) -> Self {
        let detail = domain::field_error::in_words(&errors);
        Self {
            errors,
            ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "validation_failed", detail)
        }
    }

    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.more.insert(name.to_owned(), value.into());
        self
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut body = json!({
            "type": "about:blank",
            "title": self.status.canonical_reason().unwrap_or(""),
            "status": self.status.as_u16(),
            "code": self.code,
            "detail": self.detail,
        });
        if let Value::Object(members) = &mut body {
            if !self.errors.is_empty() {
                members.insert("errors".into(), json!(self.errors));
            }
            members.extend(self.more);
        }
        let mut response = (self.status, Json(body)).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        response
    }
}

impl From<store::Error> for Problem {
    fn from(error: store::Error) -> Self {
        tracing::error!(error = domain::chain(&error), "the buffer cannot be used");
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            "the buffer of this site cannot be used right now",
        )
    }
}

impl From<SendError> for Problem {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Invalid(fields) => Self::fields(fields),
            SendError::Conflict(what) => Self {
                errors: vec![FieldError::new("messageId", "is the id of another message")],
                ..Self::new(StatusCode::CONFLICT, "conflict", what)
            },
            SendError::NoRoom(why) => Self::new(StatusCode::INSUFFICIENT_STORAGE, "no_room", why),
            SendError::Stopping => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "stopping",
                "the agent is stopping; send it again when it is back",
            ),
            SendError::Standby(why) => Self::new(StatusCode::SERVICE_UNAVAILABLE, "standby", why),
            SendError::OutcomeUnknown(id) => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "outcome_unknown",
                error.to_string(),
            )
            .with("trackedOperationId", id.to_string()),
            SendError::Unavailable(error) => error.into(),
        }
    }
}

/// What a panic looks like from outside.
pub(super) fn panicked(_: Box<dyn std::any::Any + Send + 'static>) -> Response {
    tracing::error!("a request handler panicked");
    let detail = "something broke here; the log of this agent says what";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail).into_response()
}

pub(super) async fn no_such_route() -> Problem {
    Problem::not_found("there is no such route; see GET / for what this site does")
}

pub(super) async fn no_such_method() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this route does not take that method",
    )
}
