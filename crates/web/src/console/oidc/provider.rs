//! What is asked of the identity provider, and what is believed of its answers.

use super::{OidcSettings, RoleRule};
use crate::console::cookies;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{Clock, SystemClock, Timestamp};
use openidconnect::{
    AuthorizationCode, ClaimsVerificationError, ClientId, ClientSecret, CsrfToken, EndpointMaybeSet,
    EndpointNotSet, EndpointSet, HttpRequest, HttpResponse, IssuerUrl, Nonce, PkceCodeChallenge,
    PkceCodeVerifier, RedirectUrl, Scope, TokenResponse,
    core::{CoreAuthenticationFlow, CoreClient, CoreProviderMetadata},
};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::{error::Error, fmt, sync::Arc, time::Duration};
use tokio::sync::Mutex;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// What the provider published is asked for again after this: a key it has withdrawn counts no longer.
pub const METADATA_LASTS: Duration = Duration::from_secs(15 * 60);
/// A token with a key we do not know makes us ask again, but not more often than this.
pub const METADATA_REST: Duration = Duration::from_secs(10);

/// The identity provider. Found out about when first needed, and again as its keys change.
pub struct Oidc {
    settings: OidcSettings,
    http: reqwest::Client,
    clock: Arc<dyn Clock>,
    published: Mutex<Option<Published>>,
}

/// With the endpoints that a provider describes.
type ProviderClient = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// What the provider says of itself, keys included.
#[derive(Clone)]
struct Published {
    metadata: Arc<CoreProviderMetadata>,
    fetched_at: Timestamp,
}

impl fmt::Debug for Oidc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Oidc({})", self.settings.issuer)
    }
}

/// What went wrong on the way to the identity provider.
#[derive(Debug)]
struct Fetch(String);

impl fmt::Display for Fetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Fetch {}

/// Who came back, as far as the provider says.
#[derive(Debug)]
pub struct Claimed {
    pub subject: String,
    pub name: String,
    pub roles: Vec<String>,
}

impl Oidc {
    /// Nothing is asked of the provider yet. The error is for the configuration.
    pub fn new(settings: OidcSettings) -> Result<Self, String> {
        // Whoever came before wins; either will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        IssuerUrl::new(settings.issuer.clone()).map_err(|e| format!("the issuer is not a URL: {e}"))?;
        let http = reqwest::Client::builder()
            .timeout(REQUEST_TIMEOUT)
            // A redirect could lead the server anywhere.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|e| e.to_string())?;
        Ok(Self {
            settings,
            http,
            clock: Arc::new(SystemClock),
            published: Mutex::default(),
        })
    }

    /// By this clock what the provider published grows old.
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// What the provider published, not older than this.
    async fn published(&self, lasts: Duration) -> Result<Published, String> {
        // Held while the provider is asked: whoever comes meanwhile waits for the same answer.
        let mut published = self.published.lock().await;
        let now = self.clock.now();
        if let Some(known) = published.as_ref()
            && now.since(known.fetched_at) < lasts
        {
            return Ok(known.clone());
        }
        let issuer = IssuerUrl::new(self.settings.issuer.clone()).map_err(|e| e.to_string())?;
        let fetch = |request| fetch(self.http.clone(), request);
        let found = CoreProviderMetadata::discover_async(issuer, &fetch).await;
        let fresh = Published {
            metadata: Arc::new(found.map_err(|e| domain::chain(&e))?),
            fetched_at: now,
        };
        Ok(published.insert(fresh).clone())
    }

    /// Speaks to the provider as it last described itself, not longer ago than this.
    async fn client(&self, lasts: Duration) -> Result<ProviderClient, String> {
        let published = self.published(lasts).await?;
        let secret = self.settings.client_secret.expose_secret().to_owned();
        let client = CoreClient::from_provider_metadata(
            published.metadata.as_ref().clone(),
            ClientId::new(self.settings.client_id.clone()),
            Some(ClientSecret::new(secret)),
        );
        Ok(client.set_redirect_uri(self.redirect()?))
    }

    fn redirect(&self) -> Result<RedirectUrl, String> {
        let base = self.settings.public_url.trim_end_matches('/');
        RedirectUrl::new(format!("{base}/sign-in/openid/back")).map_err(|e| e.to_string())
    }

    /// Where to send the browser, and what to remember until it is back.
    pub async fn start(&self, next: &str) -> Result<(String, String), String> {
        let client = self.client(METADATA_LASTS).await?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let (place, state, nonce) = client
            .authorize_url(
                CoreAuthenticationFlow::AuthorizationCode,
                CsrfToken::new_random,
                Nonce::new_random,
            )
            .add_scope(Scope::new("profile".into()))
            .add_scope(Scope::new("email".into()))
            .set_pkce_challenge(challenge)
            .url();
        let kept = format!(
            "{}|{}|{}|{}",
            state.secret(),
            nonce.secret(),
            verifier.secret(),
            cookies::encode(next)
        );
        Ok((place.to_string(), kept))
    }

    /// Trades the code for who it is.
    pub async fn finish(&self, code: String, nonce: &str, verifier: &str) -> Result<Claimed, String> {
        let client = self.client(METADATA_LASTS).await?;
        let fetch = |request| fetch(self.http.clone(), request);
        let answer = client
            .exchange_code(AuthorizationCode::new(code))
            .map_err(|e| e.to_string())?
            .set_pkce_verifier(PkceCodeVerifier::new(verifier.to_owned()))
            .request_async(&fetch)
            .await
            .map_err(|e| domain::chain(&e))?;
        let token = answer.id_token().ok_or("the provider sent no id token")?;
        let nonce = Nonce::new(nonce.to_owned());
        let mut claims = token.claims(&client.id_token_verifier(), &nonce);
        // The provider may have changed its keys since we asked for them.
        if let Err(ClaimsVerificationError::SignatureVerification(_)) = claims {
            let client = self.client(METADATA_REST).await?;
            claims = token.claims(&client.id_token_verifier(), &nonce);
        }
        let claims = claims.map_err(|e| domain::chain(&e))?;
        let all = payload(&token.to_string());
        let text = |name: &str| all[name].as_str().filter(|text| !text.trim().is_empty());
        let name = text("preferred_username").or(text("email")).or(text("name"));
        Ok(Claimed {
            subject: format!("{}|{}", claims.issuer().as_str(), claims.subject().as_str()),
            name: name.unwrap_or(claims.subject().as_str()).to_owned(),
            roles: values(&all[&self.settings.role_claim]),
        })
    }

    /// The role each tenant gives, the first rule that fits winning.
    pub fn rules<'a>(&'a self, claimed: &'a Claimed) -> impl Iterator<Item = &'a RoleRule> {
        self.settings
            .roles
            .iter()
            .filter(|rule| claimed.roles.contains(&rule.value))
    }
}

/// The claims of a token whose signature was checked.
fn payload(token: &str) -> Value {
    let part = token.split('.').nth(1).unwrap_or_default();
    let bytes = URL_SAFE_NO_PAD.decode(part).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// A claim as a list: one text, several, or texts with blanks between.
fn values(claim: &Value) -> Vec<String> {
    match claim {
        Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => vec![],
    }
}

async fn fetch(http: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, Fetch> {
    let wrong = |e: reqwest::Error| Fetch(domain::chain(&e));
    let request = reqwest::Request::try_from(request).map_err(wrong)?;
    let answer = http.execute(request).await.map_err(wrong)?;
    let (status, headers) = (answer.status(), answer.headers().clone());
    let body = answer.bytes().await.map_err(wrong)?.to_vec();
    let mut response = HttpResponse::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_claim_is_one_value_or_several() {
        assert_eq!(values(&json!("admins")), ["admins"]);
        assert_eq!(values(&json!("admins ops")), ["admins", "ops"]);
        assert_eq!(values(&json!(["admins", 7, "ops"])), ["admins", "ops"]);
        assert!(values(&json!({"a": 1})).is_empty());
    }
}
