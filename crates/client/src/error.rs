//! What a caller can do about a failure. Everything central says in problem+json ends up here.

use domain::{FieldError, Status, TrackedOperationId};
use serde::Deserialize;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{detail}")]
    NotFound { detail: String },
    /// The state does not allow it: not parked, a name that is taken, a provider that is in use.
    #[error("{detail}")]
    Conflict {
        code: String,
        detail: String,
        /// Where the notification stands, if it was about one.
        found: Option<Status>,
    },
    #[error("{detail}")]
    Unauthorized { detail: String },
    /// It is the site's agent that asks for its token.
    #[error("{detail}")]
    SiteUnauthorized { detail: String },
    #[error("{detail}")]
    Forbidden { detail: String },
    /// The request itself is wrong; every field that is, if it was about fields.
    #[error("{}", invalid(detail, fields))]
    Invalid { detail: String, fields: Vec<FieldError> },
    /// Central did not answer, or the answer broke off.
    #[error("central cannot be reached at {url}")]
    Unreachable {
        url: String,
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Central answered that it cannot, or with something only a broken server says.
    #[error("central answered {status}: {detail}")]
    Server {
        status: u16,
        code: String,
        detail: String,
        /// It asked to be left alone for this long.
        retry_after: Option<std::time::Duration>,
    },
    /// The site's agent did not answer, or the answer broke off.
    #[error("the site agent cannot be reached at {url}")]
    SiteUnreachable {
        url: String,
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The site's agent answered that it cannot.
    #[error("the site agent answered {status}: {detail}")]
    Site {
        status: u16,
        code: String,
        detail: String,
        retry_after: Option<std::time::Duration>,
    },
    /// A call or write was sent to the standby of a site, and whether the active machine took it is not known. Look it up by this id, or
    /// send it again under it.
    #[error("{detail}")]
    OutcomeUnknown { id: TrackedOperationId, detail: String },
    /// The client itself was set up wrongly.
    #[error("{0}")]
    Setup(String),
}

fn invalid(detail: &str, fields: &[FieldError]) -> String {
    if fields.is_empty() {
        return detail.to_owned();
    }
    domain::field_error::in_words(fields)
}

impl Error {
    /// Whether the very same request may work a moment later.
    pub fn may_pass(&self) -> bool {
        match self {
            Error::Unreachable { .. } | Error::SiteUnreachable { .. } => true,
            Error::Server { status, .. } | Error::Site { status, .. } => {
                matches!(status, 408 | 429 | 502 | 503 | 504)
            }
            _ => false,
        }
    }

    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::NotFound { .. })
    }
}

/// `application/problem+json`, as central writes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Problem {
    code: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    detail: Option<String>,
    #[serde(default)]
    errors: Option<Vec<FieldError>>,
    #[serde(default)]
    notification_status: Option<Status>,
    #[serde(default)]
    tracked_operation_id: Option<TrackedOperationId>,
}

/// The error that an answer of this status and body is.
pub(crate) fn from_answer(status: u16, retry_after: Option<std::time::Duration>, body: &[u8]) -> Error {
    let Ok(problem) = serde_json::from_slice::<Problem>(body) else {
        // Not central's way of talking: a proxy, or another program on that port.
        let text: String = String::from_utf8_lossy(body).chars().take(200).collect();
        return Error::Server {
            status,
            code: String::new(),
            detail: if text.trim().is_empty() {
                "without a word".into()
            } else {
                text.trim().into()
            },
            retry_after,
        };
    };
    let Problem {
        code,
        title,
        detail,
        errors,
        notification_status: found,
        tracked_operation_id: tracked,
    } = problem;
    let detail = detail.filter(|d| !d.is_empty()).unwrap_or(title);
    if let Some(id) = tracked.filter(|_| code == "outcome_unknown") {
        return Error::OutcomeUnknown { id, detail };
    }
    match status {
        401 => Error::Unauthorized { detail },
        403 => Error::Forbidden { detail },
        404 => Error::NotFound { detail },
        409 => Error::Conflict { code, detail, found },
        400 | 405 | 413 | 415 | 422 => Error::Invalid {
            detail,
            fields: errors.unwrap_or_default(),
        },
        _ => Error::Server {
            status,
            code,
            detail,
            retry_after,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_becomes_the_decision_it_asks_for() {
        let body = br#"{"type":"about:blank","title":"Conflict","status":409,"code":"wrong_state",
            "detail":"it is Delivered","errors":[],"notificationStatus":"Delivered"}"#;
        match from_answer(409, None, body) {
            Error::Conflict { code, found, .. } => {
                assert_eq!((code.as_str(), found), ("wrong_state", Some(Status::Delivered)));
            }
            other => panic!("{other:?}"),
        }
        let body = br#"{"code":"validation_failed","title":"x","detail":null,
            "errors":[{"field":"body","problem":"is missing"}]}"#;
        assert_eq!(from_answer(422, None, body).to_string(), "body: is missing");
    }

    #[test]
    fn a_call_of_which_nobody_knows_what_became_says_its_id_and_is_not_sent_again_by_itself() {
        let body = br#"{"code":"outcome_unknown","title":"x","detail":"nobody knows",
            "trackedOperationId":"0190a5f0-7c1e-7000-8000-000000000001"}"#;
        let error = from_answer(503, None, body);
        assert!(!error.may_pass());
        match error {
            Error::OutcomeUnknown { id, .. } => {
                assert_eq!(id.to_string(), "0190a5f0-7c1e-7000-8000-000000000001");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_404_of_another_program_is_not_a_missing_notification() {
        assert!(!from_answer(404, None, b"<html>nginx</html>").is_not_found());
    }
}
