//! What a form sent, after its secret was checked.

use crate::problem::{Code, Problem, Result};
use axum::{
    Form as Urlencoded,
    extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Request},
    http::request::Parts,
};
use std::{sync::Arc, time::Duration};
use subtle::ConstantTimeEq;

/// The field every form has.
pub const SECRET: &str = "csrf";
/// A message of a megabyte, with every byte written as three.
pub const MAX_FORM_BYTES: usize = 4 << 20;
/// The largest form of somebody who is not signed in: a name, a password, where to go.
pub const MAX_OPEN_FORM_BYTES: usize = 16 << 10;
/// A body that takes longer than this to arrive is not waited for.
const FORM_TIMEOUT: Duration = Duration::from_secs(30);

/// The fields of a form, in their order.
#[derive(Debug, Clone, Default)]
pub struct Form(Arc<Vec<(String, String)>>);

impl Form {
    pub async fn read(mut request: Request, largest: usize) -> Result<Self> {
        DefaultBodyLimit::max(largest).apply(&mut request);
        let reading = Urlencoded::<Vec<(String, String)>>::from_request(request, &());
        match tokio::time::timeout(FORM_TIMEOUT, reading).await {
            // No keyboard makes one, and PostgreSQL could not store it.
            Ok(Ok(Urlencoded(fields))) if fields.iter().any(|(_, value)| value.contains('\0')) => {
                Err(Problem::new(
                    Code::ValidationFailed,
                    "a field of the form has a NUL character in it; nothing was changed",
                ))
            }
            Ok(Ok(Urlencoded(fields))) => Ok(Self(Arc::new(fields))),
            Ok(Err(rejection)) if rejection.status().as_u16() == 413 => Err(Problem::new(
                Code::TooLarge,
                format!(
                    "the form is larger than {} KiB; send less at a time",
                    largest >> 10
                ),
            )),
            Ok(Err(_)) => Err(Problem::new(
                Code::ValidationFailed,
                "the form could not be read; go back, reload the page and try again",
            )),
            Err(_) => Err(Problem::new(
                Code::Timeout,
                "the form did not arrive in time; try again",
            )),
        }
    }

    /// Refuses a form that was not made for this session: somebody else's page may have sent it.
    pub fn check(&self, secret: &str) -> Result<()> {
        let given = self.get(SECRET).unwrap_or_default();
        if bool::from(given.as_bytes().ct_eq(secret.as_bytes())) {
            Ok(())
        } else {
            Err(Problem::forbidden(
                "the form was not made for this session; nothing was changed. Go back, reload the page and try again",
            ))
        }
    }

    /// The field as it was sent.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// The field without blanks around it; none when nothing is left.
    pub fn text(&self, name: &str) -> Option<String> {
        let text = self.get(name)?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0
            .iter()
            .filter(move |(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether a box is ticked.
    pub fn ticked(&self, name: &str) -> bool {
        self.get(name)
            .is_some_and(|value| value != "false" && !value.is_empty())
    }
}

impl<S: Sync> FromRequestParts<S> for Form {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| {
            tracing::error!("a handler that needs a form sits on a route that takes none");
            Problem::internal()
        })
    }
}
