//! Access tokens by the client-credentials grant: fetched once, shared, renewed before they expire.

use crate::{
    adapter::Attempt,
    http::{self, Answer, Client, Exchange},
    outside::Outside,
    redact::{self, Redactor},
};
use bytes::Bytes;
use domain::{Failure, FailureKind, HoldReason, Scope, code};
use hyper::{Request, header};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use std::{sync::Arc, time::Duration};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout_at},
};
use url::Url;

/// Tokens are renewed this long before they expire.
const RENEW_BEFORE_EXPIRY: Duration = Duration::from_secs(5 * 60);
/// In seconds, where the token endpoint does not say.
const DEFAULT_TOKEN_LIFETIME: u64 = 3600;
/// No token is believed to be good for longer, whatever the token endpoint says.
const MAX_TOKEN_LIFETIME: u64 = 24 * 3600;

#[derive(Debug)]
pub(crate) struct OAuthSettings {
    pub token_url: Url,
    pub client_id: String,
    pub client_secret: SecretString,
    pub scope: Option<String>,
}

/// The tokens of one provider. One caller fetches, the others wait for it.
#[derive(Debug)]
pub(crate) struct Tokens {
    settings: OAuthSettings,
    client: Client,
    redactor: Redactor,
    outside: Arc<Outside>,
    cached: Mutex<Option<Token>>,
}

#[derive(Debug, Clone)]
struct Token {
    secret: SecretString,
    renew_at: Instant,
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
    expires_in: Option<u64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Refused {
    error: String,
    error_description: String,
}

impl Tokens {
    pub fn new(settings: OAuthSettings, outside: Arc<Outside>) -> Result<Self, String> {
        let client = outside.http()?;
        let mut redactor = Redactor::default();
        redactor.hide(settings.client_secret.expose_secret());
        Ok(Self {
            settings,
            client,
            redactor,
            outside,
            cached: Mutex::default(),
        })
    }

    /// A token that is good for a while. One that the far end has `refused` is not handed out again.
    pub async fn get(
        &self,
        refused: Option<&SecretString>,
        attempt: &Attempt,
    ) -> Result<SecretString, Failure> {
        let deadline = attempt.deadline;
        let late = || {
            Failure::transient(Scope::Lane, code::TIMEOUT, "no access token in time")
                .with_own_code("OAUTH_TIMEOUT")
        };
        let getting = async {
            let mut cached = self.cached.lock().await;
            if let Some(token) = &*cached
                && Instant::now() < token.renew_at
                && refused.is_none_or(|r| r.expose_secret() != token.secret.expose_secret())
            {
                return Ok(token.secret.clone());
            }
            let token = self.fetch(attempt).await?;
            Ok(cached.insert(token).secret.clone())
        };
        timeout_at(deadline.0, getting)
            .await
            .unwrap_or_else(|_| Err(late()))
    }

    async fn fetch(&self, attempt: &Attempt) -> Result<Token, Failure> {
        let url = &self.settings.token_url;
        self.outside.vet_literal(url.host_str().unwrap_or(""))?;
        let asked = Instant::now();
        let request = Request::post(url.as_str())
            .header(header::USER_AGENT, http::user_agent())
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ACCEPT, "application/json")
            .body(Bytes::from(form(&self.settings)))
            .map_err(|e| held("OAUTH_URL", e.to_string()))?;
        let exchange = Exchange {
            client: &self.client,
            deadline: attempt.deadline,
            recorder: &attempt.recorder,
            now: self.outside.clock.now(),
            redactor: &self.redactor,
            answer_is_secret: true,
        };
        let answer = exchange.send(request).await.map_err(prefixed)?;
        if answer.status.is_success() {
            return granted(&answer.body, asked);
        }
        Err(refusal(&answer))
    }
}

fn form(settings: &OAuthSettings) -> String {
    let secret = settings.client_secret.expose_secret();
    let mut pairs = vec![
        ("grant_type", "client_credentials"),
        ("client_id", &settings.client_id),
        ("client_secret", secret),
    ];
    pairs.extend(settings.scope.as_deref().map(|scope| ("scope", scope)));
    let encoded = |(name, value)| format!("{name}={}", redact::percent_encoded(value));
    pairs.into_iter().map(encoded).collect::<Vec<_>>().join("&")
}

fn granted(body: &[u8], asked: Instant) -> Result<Token, Failure> {
    let granted: Granted = serde_json::from_slice(body).map_err(|_| {
        let words = "the token endpoint answered without an access token";
        Failure::transient(Scope::Lane, code::PROVIDER_ERROR, words).with_own_code("OAUTH_GARBLED")
    })?;
    let lifetime = granted
        .expires_in
        .unwrap_or(DEFAULT_TOKEN_LIFETIME)
        .min(MAX_TOKEN_LIFETIME);
    let lifetime = Duration::from_secs(lifetime);
    let good_for = if lifetime > 2 * RENEW_BEFORE_EXPIRY {
        lifetime - RENEW_BEFORE_EXPIRY
    } else {
        lifetime / 2
    };
    Ok(Token {
        secret: granted.access_token.into(),
        renew_at: asked + good_for,
    })
}

/// An identity provider that stumbles is waited for; one that says no needs a person.
fn refusal(answer: &Answer) -> Failure {
    let (status, wait) = (answer.status, answer.retry_after);
    let refused: Refused = answer.json().unwrap_or_default();
    let said = match (refused.error.as_str(), refused.error_description.as_str()) {
        ("", _) => redact::cut(&answer.text(), 500).to_owned(),
        (error, "") => error.to_owned(),
        (error, description) => format!("{error}: {description}"),
    };
    let detail = format!("the token endpoint answered {}: {said}", status.as_u16());
    let passing = matches!(status.as_u16(), 408 | 425 | 429 | 500..=599)
        || matches!(
            refused.error.as_str(),
            "temporarily_unavailable" | "server_error" | "slow_down"
        );
    let own = format!("OAUTH_HTTP_{}", status.as_u16());
    if passing {
        let code = match status.as_u16() {
            429 => code::RATE_LIMITED,
            _ => code::PROVIDER_ERROR,
        };
        return Failure::transient(Scope::Lane, code, detail)
            .with_own_code(own)
            .after(wait);
    }
    if refused.error.is_empty() {
        return held(own, detail);
    }
    let sound = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name: String = refused.error.chars().filter(|c| sound(*c)).take(40).collect();
    held(format!("OAUTH_{}", name.to_ascii_uppercase()), detail)
}

fn held(own: impl Into<std::borrow::Cow<'static, str>>, detail: String) -> Failure {
    Failure::permanent(Scope::Lane, code::AUTH_FAILED, detail)
        .with_own_code(own)
        .holding(HoldReason::Auth)
}

/// Asking twice for a token does no harm: no failure to get one is ambiguous.
fn prefixed(failure: Failure) -> Failure {
    if failure.hold.is_some() {
        return failure;
    }
    Failure {
        kind: FailureKind::Transient,
        provider_code: Some(
            format!(
                "OAUTH_{}",
                failure.provider_code.as_ref().unwrap_or(&failure.code)
            )
            .into(),
        ),
        detail: format!("token endpoint: {}", failure.detail),
        ..failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::FailureKind;

    #[test]
    fn an_identity_provider_that_stumbles_is_waited_for_and_one_that_says_no_holds_the_lane() {
        let no =
            |error: &str| format!(r#"{{"error":"{error}","error_description":"AADSTS7000222: expired"}}"#);
        for (status, body, kind, hold, code) in [
            (503, String::new(), FailureKind::Transient, None, "OAUTH_HTTP_503"),
            (429, String::new(), FailureKind::Transient, None, "OAUTH_HTTP_429"),
            (
                400,
                no("temporarily_unavailable"),
                FailureKind::Transient,
                None,
                "OAUTH_HTTP_400",
            ),
            (
                401,
                no("invalid_client"),
                FailureKind::Permanent,
                Some(HoldReason::Auth),
                "OAUTH_INVALID_CLIENT",
            ),
            (
                400,
                no("invalid_grant"),
                FailureKind::Permanent,
                Some(HoldReason::Auth),
                "OAUTH_INVALID_GRANT",
            ),
            (
                400,
                no("unauthorized_client"),
                FailureKind::Permanent,
                Some(HoldReason::Auth),
                "OAUTH_UNAUTHORIZED_CLIENT",
            ),
            (
                404,
                "<html>".to_owned(),
                FailureKind::Permanent,
                Some(HoldReason::Auth),
                "OAUTH_HTTP_404",
            ),
        ] {
            let wait = Some(Duration::from_secs(7));
            let failure = refusal(&Answer {
                retry_after: wait,
                ..Answer::of(status, &body)
            });
            assert_eq!(
                (failure.kind, failure.hold, failure.provider_code.as_deref()),
                (kind, hold, Some(code))
            );
            assert_eq!(failure.scope, Scope::Lane);
            assert_eq!(failure.retry_after, wait.filter(|_| hold.is_none()));
        }
    }

    #[tokio::test]
    async fn tokens_are_renewed_before_they_expire() {
        let now = Instant::now();
        for (body, good_for) in [
            (r#"{"access_token":"t","expires_in":3600}"#, 3300),
            (r#"{"access_token":"t"}"#, 3300),
            (r#"{"access_token":"t","expires_in":60}"#, 30),
            (
                r#"{"access_token":"t","expires_in":18446744073709551615}"#,
                24 * 3600 - 300,
            ),
        ] {
            let token = granted(body.as_bytes(), now).unwrap();
            assert_eq!(token.renew_at, now + Duration::from_secs(good_for));
        }
        let garbled = granted(b"<html>", now).unwrap_err();
        assert_eq!(garbled.provider_code.as_deref(), Some("OAUTH_GARBLED"));
    }
}
