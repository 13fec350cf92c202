//! What is asked of the identity provider, and what is believed of its answers.

use super::{
    OidcSettings, RoleRule,
    published::{self, Endpoints},
    token::{self, Distrust, Expected, Key},
};
use crate::console::cookies;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{Clock, SystemClock, Timestamp};
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::{fmt, sync::Arc, time::Duration};
use tokio::sync::Mutex;
use url::Url;

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

/// What the provider says of itself.
#[derive(Clone)]
struct Published {
    endpoints: Arc<Endpoints>,
    keys: Arc<[Key]>,
    fetched_at: Timestamp,
}

impl fmt::Debug for Oidc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Oidc({})", self.settings.issuer)
    }
}

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
        Url::parse(&settings.issuer).map_err(|e| format!("the issuer is not a URL: {e}"))?;
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
        let endpoints = published::endpoints(&self.http, &self.settings.issuer).await?;
        let fresh = Published {
            keys: published::keys(&self.http, &endpoints).await?.into(),
            endpoints: Arc::new(endpoints),
            fetched_at: now,
        };
        Ok(published.insert(fresh).clone())
    }

    fn redirect(&self) -> String {
        let base = self.settings.public_url.trim_end_matches('/');
        format!("{base}/sign-in/openid/back")
    }

    /// Where to send the browser, and what to remember until it is back.
    pub async fn start(&self, next: &str) -> Result<(String, String), String> {
        let published = self.published(METADATA_LASTS).await?;
        let [state, nonce, verifier] = [secret()?, secret()?, secret()?];
        let mut place = Url::parse(&published.endpoints.authorization_endpoint)
            .map_err(|e| format!("the provider's authorization_endpoint is not a URL: {e}"))?;
        place.query_pairs_mut().extend_pairs([
            ("response_type", "code"),
            ("client_id", &self.settings.client_id),
            ("redirect_uri", &self.redirect()),
            ("scope", "openid profile email"),
            ("state", &state),
            ("nonce", &nonce),
            ("code_challenge", &challenge(&verifier)),
            ("code_challenge_method", "S256"),
        ]);
        let kept = format!("{state}|{nonce}|{verifier}|{}", cookies::encode(next));
        Ok((place.into(), kept))
    }

    /// Trades the code for who it is.
    pub async fn finish(&self, code: String, nonce: &str, verifier: &str) -> Result<Claimed, String> {
        let published = self.published(METADATA_LASTS).await?;
        let given = [
            ("code", code.as_str()),
            ("redirect_uri", &self.redirect()),
            ("code_verifier", verifier),
        ];
        let token = published::trade(&self.http, &published.endpoints, &self.settings, &given).await?;
        let expected = Expected {
            issuer: &self.settings.issuer,
            client_id: &self.settings.client_id,
            nonce,
            now: SystemClock.now(),
        };
        let mut claims = token::believed(&token, &published.keys, &expected);
        if claims == Err(Distrust::NoSuchKey) {
            let published = self.published(METADATA_REST).await?;
            claims = token::believed(&token, &published.keys, &expected);
        }
        let all = claims.map_err(|why| match why {
            Distrust::NoSuchKey => "the token is signed with no key that the provider published".to_owned(),
            Distrust::Because(why) => why,
        })?;
        let text = |name: &str| all[name].as_str().filter(|text| !text.trim().is_empty());
        let subject = text("sub").unwrap_or_default();
        let name = text("preferred_username").or(text("email")).or(text("name"));
        Ok(Claimed {
            subject: format!("{}|{subject}", self.settings.issuer),
            name: name.unwrap_or(subject).to_owned(),
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

/// 256 bits that nobody can guess.
fn secret() -> Result<String, String> {
    let mut bytes = [0; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| "the system gives no random numbers")?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// What the provider compares the verifier with (PKCE).
fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

/// A claim as a list: one text, several, or texts with blanks between.
fn values(claim: &Value) -> Vec<String> {
    match claim {
        Value::String(text) => text.split_whitespace().map(str::to_owned).collect(),
        Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => vec![],
    }
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
