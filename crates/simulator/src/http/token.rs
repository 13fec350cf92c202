//! A double of an identity provider's token endpoint, for the client-credentials grant.

use axum::{
    http::StatusCode,
    response::{IntoResponse, Json, Response},
};
use serde_json::json;
use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering},
};

/// Hands out `token-1`, `token-2`, … to whoever knows the client secret.
#[derive(Debug)]
pub struct TokenEndpoint {
    client: Mutex<Option<(String, String)>>,
    expires_in: AtomicU64,
    issued: AtomicU64,
}

impl Default for TokenEndpoint {
    fn default() -> Self {
        Self {
            client: Mutex::new(None),
            expires_in: AtomicU64::new(3600),
            issued: AtomicU64::new(0),
        }
    }
}

impl TokenEndpoint {
    /// Only this client is served from now on; before that, every one is.
    pub fn accept_client(&self, id: &str, secret: &str) {
        *self.client() = Some((id.to_owned(), secret.to_owned()));
    }

    /// The lifetime of tokens handed out from now on, in seconds.
    pub fn expire_in(&self, seconds: u64) {
        self.expires_in.store(seconds, Ordering::Relaxed);
    }

    /// How many tokens were handed out.
    pub fn issued(&self) -> u64 {
        self.issued.load(Ordering::Relaxed)
    }

    /// The token handed out as the n-th, counted from 1.
    pub fn token(n: u64) -> String {
        format!("token-{n}")
    }

    pub(super) fn answer(&self, form: &str) -> Response {
        let known = match &*self.client() {
            None => true,
            Some((id, secret)) => {
                form.contains(&format!("client_id={id}")) && form.contains(&format!("client_secret={secret}"))
            }
        };
        if !form.contains("grant_type=client_credentials") {
            return refusal(StatusCode::BAD_REQUEST, "unsupported_grant_type");
        }
        if !known {
            return refusal(StatusCode::UNAUTHORIZED, "invalid_client");
        }
        let number = self.issued.fetch_add(1, Ordering::Relaxed) + 1;
        Json(json!({
            "access_token": Self::token(number),
            "token_type": "Bearer",
            "expires_in": self.expires_in.load(Ordering::Relaxed),
        }))
        .into_response()
    }

    fn client(&self) -> MutexGuard<'_, Option<(String, String)>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn refusal(status: StatusCode, error: &str) -> Response {
    (status, Json(json!({ "error": error }))).into_response()
}
