//! Who may use the API. On loopback anybody on the machine, but no page of a browser that was lured here; anywhere
//! else, whoever has the token.

use super::Problem;
use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use std::{net::IpAddr, sync::Arc};
use subtle::ConstantTimeEq;

/// The rule in force.
#[derive(Clone, Default)]
pub struct Access {
    token: Option<Arc<str>>,
}

impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.token {
            Some(_) => "Access(token)",
            None => "Access(loopback)",
        })
    }
}

impl Access {
    /// Anybody on this machine.
    pub fn local() -> Self {
        Self::default()
    }

    /// Whoever has the token, wherever they are.
    pub fn token(token: impl Into<Arc<str>>) -> Self {
        Self {
            token: Some(token.into()),
        }
    }

    pub fn needs_token(&self) -> bool {
        self.token.is_some()
    }

    fn allows(&self, headers: &HeaderMap) -> Result<(), Box<Problem>> {
        if crosses_origins(headers) {
            return Err(forbidden("requests from pages of other sites are not taken"));
        }
        match &self.token {
            Some(token) if given(headers).is_some_and(|given| same(&given, token)) => Ok(()),
            Some(_) => Err(Box::new(Problem::new(
                StatusCode::UNAUTHORIZED,
                "unauthorized",
                "send the token of this site: Authorization: Bearer <site.api_token>",
            ))),
            // A name that somebody else's DNS points here is how a lured browser would ask.
            None if names_this_machine(headers) => Ok(()),
            None => Err(forbidden("ask for localhost or an address of this machine")),
        }
    }
}

fn forbidden(why: &str) -> Box<Problem> {
    Box::new(Problem::new(StatusCode::FORBIDDEN, "forbidden", why))
}

pub(super) async fn check(State(access): State<Access>, request: Request, next: Next) -> Response {
    // Supervisors have no token, and it tells nothing worth hiding.
    if request.uri().path() == "/healthz" {
        return next.run(request).await;
    }
    match access.allows(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => {
            let asks = problem.status == StatusCode::UNAUTHORIZED;
            let mut response = problem.into_response();
            if asks {
                // So that a browser asks for it as well.
                let how = HeaderValue::from_static("Basic realm=\"waypost site\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, how);
            }
            response
        }
    }
}

/// The token, as a program sends it or as a browser does (any user, the token as the password).
fn given(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = value.split_once(' ')?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Some(rest.trim().to_owned());
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = String::from_utf8(STANDARD.decode(rest.trim()).ok()?).ok()?;
    pair.split_once(':').map(|(_, password)| password.to_owned())
}

fn same(given: &str, token: &str) -> bool {
    given.as_bytes().ct_eq(token.as_bytes()).into()
}

fn host(headers: &HeaderMap) -> &str {
    let text = headers
        .get(header::HOST)
        .and_then(|v| v.to_str().ok())
        .unwrap_or("");
    match text.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or(""),
        None => text.rsplit_once(':').map_or(text, |(host, _)| host),
    }
}

fn names_this_machine(headers: &HeaderMap) -> bool {
    let host = host(headers);
    host.is_empty() || host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok()
}

fn crosses_origins(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else {
        return false;
    };
    let asked = headers
        .get(header::HOST)
        .and_then(|v| v.to_str().ok())
        .unwrap_or("");
    let from = origin
        .to_str()
        .ok()
        .and_then(|o| o.split_once("://"))
        .map(|(_, host)| host);
    from != Some(asked)
}
