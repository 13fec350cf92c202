//! What an identity provider says of itself: where to send people, where to trade a code, which keys it signs with.

use super::{OidcSettings, token::Key};
use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::{Client, RequestBuilder, StatusCode};
use secrecy::ExposeSecret;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use url::form_urlencoded::{Serializer, byte_serialize};

/// The most that is read of any answer, in bytes.
const ANSWER_BYTES: usize = 1 << 20;

/// The part of a provider's description that a sign-in needs (OpenID Connect Discovery, 3).
#[derive(Debug, Clone, Deserialize)]
pub struct Endpoints {
    pub issuer: String,
    pub authorization_endpoint: String,
    pub token_endpoint: String,
    pub jwks_uri: String,
    #[serde(default)]
    token_endpoint_auth_methods_supported: Vec<String>,
}

#[derive(Deserialize)]
struct Keys {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Traded {
    id_token: Option<String>,
}

/// Asks the provider who it is. One that calls itself something else than we do is not believed.
pub async fn endpoints(http: &Client, issuer: &str) -> Result<Endpoints, String> {
    let place = format!(
        "{}/.well-known/openid-configuration",
        issuer.trim_end_matches('/')
    );
    let found: Endpoints = ask(http.get(&place)).await?;
    if found.issuer != issuer {
        return Err(format!(
            "{place} describes the issuer {:?}, not {issuer:?}",
            found.issuer
        ));
    }
    Ok(found)
}

/// The keys it signs with now. Keys of a sort that we cannot read are left out.
pub async fn keys(http: &Client, endpoints: &Endpoints) -> Result<Vec<Key>, String> {
    let found: Keys = ask(http.get(&endpoints.jwks_uri)).await?;
    let readable = |key| serde_json::from_value(key).ok();
    Ok(found.keys.into_iter().filter_map(readable).collect())
}

/// Trades a code for an id token.
pub async fn trade(
    http: &Client,
    endpoints: &Endpoints,
    settings: &OidcSettings,
    given: &[(&str, &str)],
) -> Result<String, String> {
    let secret = settings.client_secret.expose_secret();
    let mut request = http.post(&endpoints.token_endpoint);
    let mut form = vec![("grant_type", "authorization_code")];
    form.extend(given);
    if endpoints.wants_secret_in_form() {
        form.extend([
            ("client_id", settings.client_id.as_str()),
            ("client_secret", secret),
        ]);
    } else {
        request = request.header("authorization", basic(&settings.client_id, secret));
    }
    let body = Serializer::new(String::new()).extend_pairs(form).finish();
    let request = request
        .header("content-type", "application/x-www-form-urlencoded")
        .body(body);
    let traded: Traded = ask(request).await?;
    traded
        .id_token
        .ok_or_else(|| "the provider sent no id token".to_owned())
}

impl Endpoints {
    /// The header is what everybody must support unless they say otherwise.
    fn wants_secret_in_form(&self) -> bool {
        let known = |name: &str| {
            self.token_endpoint_auth_methods_supported
                .iter()
                .any(|method| method == name)
        };
        known("client_secret_post") && !known("client_secret_basic")
    }
}

/// Name and secret each as a form would carry them (RFC 6749, 2.3.1).
fn basic(name: &str, secret: &str) -> String {
    let coded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    format!(
        "Basic {}",
        STANDARD.encode(format!("{}:{}", coded(name), coded(secret)))
    )
}

async fn ask<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, String> {
    let wrong = |e: reqwest::Error| domain::chain(&e);
    let mut answer = request
        .header("accept", "application/json")
        .send()
        .await
        .map_err(wrong)?;
    let (status, place) = (answer.status(), answer.url().clone());
    let mut body = vec![];
    while let Some(chunk) = answer.chunk().await.map_err(wrong)? {
        if body.len() + chunk.len() > ANSWER_BYTES {
            return Err(format!("{place} answers with more than {ANSWER_BYTES} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    if status != StatusCode::OK {
        // The words of OAuth; nothing else of the answer is ours to repeat.
        let said: Value = serde_json::from_slice(&body).unwrap_or_default();
        let error = said["error"].as_str().unwrap_or("no reason given");
        return Err(format!(
            "{place} answers {status}: {}",
            error.chars().take(100).collect::<String>()
        ));
    }
    serde_json::from_slice(&body).map_err(|e| format!("{place} answers with something else: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_secret_goes_where_the_provider_wants_it() {
        for (methods, in_form) in [
            (&[][..], false),
            (&["client_secret_basic", "client_secret_post"], false),
            (&["client_secret_post"], true),
            (&["private_key_jwt"], false),
        ] {
            let endpoints = Endpoints {
                issuer: String::new(),
                authorization_endpoint: String::new(),
                token_endpoint: String::new(),
                jwks_uri: String::new(),
                token_endpoint_auth_methods_supported: methods.iter().map(|m| (*m).to_owned()).collect(),
            };
            assert_eq!(endpoints.wants_secret_in_form(), in_form, "{methods:?}");
        }
    }
}
