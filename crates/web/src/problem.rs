//! Every refusal the API gives, in one shape: problem+json with a stable `code`.
//!
//! Always true: what went wrong inside (a database's words, a panic's message) is logged, never answered.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::{FieldError, Status, Timestamp};
use serde::Serialize;
use std::{borrow::Cow, error::Error};

/// What callers switch on. Names are fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    InvalidJson,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Timeout,
    WrongState,
    Conflict,
    TooLarge,
    TooMany,
    UnsupportedMediaType,
    ValidationFailed,
    Internal,
    Unavailable,
    SiteOffline,
    SiteNoAnswer,
    SiteFailed,
}

impl Code {
    pub const ALL: [Code; 17] = [
        Code::InvalidJson,
        Code::Unauthorized,
        Code::Forbidden,
        Code::NotFound,
        Code::MethodNotAllowed,
        Code::Timeout,
        Code::WrongState,
        Code::Conflict,
        Code::TooLarge,
        Code::TooMany,
        Code::UnsupportedMediaType,
        Code::ValidationFailed,
        Code::Internal,
        Code::Unavailable,
        Code::SiteOffline,
        Code::SiteNoAnswer,
        Code::SiteFailed,
    ];

    pub fn as_str(self) -> &'static str {
        self.row().0
    }

    pub fn status(self) -> StatusCode {
        self.row().1
    }

    pub fn title(self) -> &'static str {
        self.row().2
    }

    /// Name, HTTP status, title: one row per code.
    fn row(self) -> (&'static str, StatusCode, &'static str) {
        match self {
            Code::InvalidJson => ("invalid_json", StatusCode::BAD_REQUEST, "The body is not JSON"),
            Code::Unauthorized => (
                "unauthorized",
                StatusCode::UNAUTHORIZED,
                "A valid API key is needed",
            ),
            Code::Forbidden => (
                "forbidden",
                StatusCode::FORBIDDEN,
                "The key's role does not allow this",
            ),
            Code::NotFound => ("not_found", StatusCode::NOT_FOUND, "There is no such thing"),
            Code::MethodNotAllowed => (
                "method_not_allowed",
                StatusCode::METHOD_NOT_ALLOWED,
                "The path does not take this method",
            ),
            Code::Timeout => (
                "timeout",
                StatusCode::REQUEST_TIMEOUT,
                "The request took too long to arrive",
            ),
            Code::WrongState => (
                "wrong_state",
                StatusCode::CONFLICT,
                "The notification's state does not allow this",
            ),
            Code::Conflict => ("conflict", StatusCode::CONFLICT, "It contradicts what is there"),
            Code::TooLarge => (
                "too_large",
                StatusCode::PAYLOAD_TOO_LARGE,
                "The body is too large",
            ),
            Code::TooMany => (
                "too_many",
                StatusCode::TOO_MANY_REQUESTS,
                "There are too many of these at once",
            ),
            Code::UnsupportedMediaType => (
                "unsupported_media_type",
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "The body must be JSON",
            ),
            Code::ValidationFailed => (
                "validation_failed",
                StatusCode::UNPROCESSABLE_ENTITY,
                "Some fields are wrong",
            ),
            Code::Internal => (
                "internal",
                StatusCode::INTERNAL_SERVER_ERROR,
                "Something went wrong here",
            ),
            Code::Unavailable => (
                "unavailable",
                StatusCode::SERVICE_UNAVAILABLE,
                "The store cannot be reached just now",
            ),
            Code::SiteOffline => (
                "site_offline",
                StatusCode::SERVICE_UNAVAILABLE,
                "The site is not connected",
            ),
            Code::SiteNoAnswer => (
                "site_no_answer",
                StatusCode::GATEWAY_TIMEOUT,
                "The site did not answer; whether it acted is not known",
            ),
            Code::SiteFailed => ("site_failed", StatusCode::BAD_GATEWAY, "The site could not do it"),
        }
    }
}

/// A refusal on its way out.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub code: Code,
    pub detail: Cow<'static, str>,
    pub errors: Vec<FieldError>,
    /// With `wrong_state`: the status that was in the way.
    pub found: Option<Status>,
    /// With `site_offline`: since when, if it ever was there.
    pub offline_since: Option<Timestamp>,
}

pub type Result<T, E = Problem> = std::result::Result<T, E>;

impl Problem {
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            detail: detail.into(),
            errors: vec![],
            found: None,
            offline_since: None,
        }
    }

    /// Nothing here, or nothing that this key may know of: the two look the same.
    pub fn not_found(what: &'static str) -> Self {
        Self::new(Code::NotFound, format!("there is no such {what}"))
    }

    pub fn forbidden(detail: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Code::Forbidden, detail)
    }

    /// Every bad field at once.
    pub fn fields(errors: Vec<FieldError>) -> Self {
        let detail = match errors.as_slice() {
            [one] => one.to_string(),
            many => format!("{} fields are wrong; see errors", many.len()),
        };
        Self {
            errors,
            ..Self::new(Code::ValidationFailed, detail)
        }
    }

    pub fn field(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::fields(vec![FieldError::new(field, problem)])
    }

    pub fn wrong_state(found: Status, wanted: &str) -> Self {
        Self {
            found: Some(found),
            ..Self::new(Code::WrongState, format!("the notification is {found}; {wanted}"))
        }
    }

    pub fn internal() -> Self {
        Self::new(
            Code::Internal,
            "the cause is in the server's log, under the request id of this answer",
        )
    }
}

impl From<store::Error> for Problem {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Unavailable(_) | store::Error::UnknownCommit(_) | store::Error::Locked(_) => {
                tracing::warn!(error = &error as &dyn Error, "a request failed on the store");
                Problem::new(
                    Code::Unavailable,
                    "try again; sending the same notification id or key again is harmless",
                )
            }
            store::Error::Conflict(what) => Problem::new(Code::Conflict, what),
            store::Error::Refused(_) | store::Error::Corrupt { .. } | store::Error::NewerSchema { .. } => {
                tracing::error!(error = &error as &dyn Error, "a request failed on the store");
                Problem::internal()
            }
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    r#type: String,
    title: &'static str,
    status: u16,
    detail: &'a str,
    code: &'static str,
    errors: &'a [FieldError],
    #[serde(skip_serializing_if = "Option::is_none")]
    notification_status: Option<Status>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offline_since: Option<Timestamp>,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let code = self.code;
        let body = Body {
            r#type: format!("/docs#{}", code.as_str()),
            title: code.title(),
            status: code.status().as_u16(),
            detail: &self.detail,
            code: code.as_str(),
            errors: &self.errors,
            notification_status: self.found,
            offline_since: self.offline_since,
        };
        let json = serde_json::to_vec(&body).unwrap_or_default();
        let mut response = (code.status(), json).into_response();
        let headers = response.headers_mut();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        match code {
            Code::Unavailable => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("2"));
            }
            Code::TooMany => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("30"));
            }
            Code::Unauthorized => {
                headers.insert(
                    header::WWW_AUTHENTICATE,
                    HeaderValue::from_static("Bearer realm=\"waypost\""),
                );
            }
            _ => {}
        }
        // For the console, which says it as a page.
        response.extensions_mut().insert(self);
        response
    }
}

/// What a panic looks like from outside.
pub fn panicked(payload: Box<dyn std::any::Any + Send + 'static>) -> Response {
    let said = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned());
    tracing::error!(
        panic = said.as_deref().unwrap_or("?"),
        "a request handler panicked"
    );
    Problem::internal().into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_and_lower_case() {
        let mut names: Vec<_> = Code::ALL.iter().map(|c| c.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
        assert!(
            names
                .iter()
                .all(|n| n.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        );
    }

    #[test]
    fn the_words_of_the_database_are_not_answered() {
        let problem = Problem::from(store::Error::unavailable("host=db password=hunter2"));
        assert_eq!(problem.code, Code::Unavailable);
        assert!(!format!("{problem:?}").contains("hunter2"));
        let problem = Problem::from(store::Error::corrupt("due", "row 7"));
        assert_eq!(problem.code, Code::Internal);
    }
}
