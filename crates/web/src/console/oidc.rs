//! Signing in through an identity provider, by OpenID Connect with a code and PKCE.
//!
//! Always true: what the provider says counts only after its signature, audience, age and our nonce were checked;
//! somebody who has no role by its claims is not let in; a name that belongs to somebody else is never taken over.

use super::{
    cookies::{self, Cookie},
    failure::{Result, Trouble},
    flash::{Flash, is_ours},
    sign_in::{enter, next_of},
};
use crate::{
    problem::{Code, Problem},
    query::Params,
    state::Shared,
};
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use central::users::SignInError;
use domain::Actor;
use openidconnect::{
    AuthorizationCode, ClientId, ClientSecret, CsrfToken, HttpRequest, HttpResponse, IssuerUrl, Nonce,
    PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope, TokenResponse,
    core::{CoreAuthenticationFlow, CoreClient, CoreProviderMetadata},
};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use std::{error::Error, fmt, time::Duration};
use store::{
    directory::Role,
    users::{NewUser, User},
};
use subtle::ConstantTimeEq;
use tokio::sync::OnceCell;

const COOKIE: &str = "waypost_openid";
/// As long as somebody may take at the identity provider.
const LASTS: Duration = Duration::from_secs(600);
const PATIENCE: Duration = Duration::from_secs(20);

/// What the configuration says about the identity provider.
#[derive(Debug, Clone)]
pub struct OidcSettings {
    pub issuer: String,
    pub client_id: String,
    pub client_secret: SecretString,
    /// This server as browsers reach it, without a path.
    pub public_url: String,
    /// The claim that says what somebody may do.
    pub role_claim: String,
    pub roles: Vec<RoleRule>,
}

/// Who has this value in the claim has this role in the tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleRule {
    pub value: String,
    pub role: Role,
    pub tenant: String,
}

/// The identity provider. Found out about when first needed.
pub struct Oidc {
    settings: OidcSettings,
    http: reqwest::Client,
    metadata: OnceCell<CoreProviderMetadata>,
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
struct Claimed {
    subject: String,
    name: String,
    roles: Vec<String>,
}

impl Oidc {
    /// Nothing is asked of the provider yet. The error is for the configuration.
    pub fn new(settings: OidcSettings) -> Result<Self, String> {
        // Whoever came before wins; either will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        IssuerUrl::new(settings.issuer.clone()).map_err(|e| format!("the issuer is not a URL: {e}"))?;
        let http = reqwest::Client::builder()
            .timeout(PATIENCE)
            // A redirect could lead the server anywhere.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|e| e.to_string())?;
        Ok(Self {
            settings,
            http,
            metadata: OnceCell::new(),
        })
    }

    async fn metadata(&self) -> Result<&CoreProviderMetadata, String> {
        self.metadata
            .get_or_try_init(|| async {
                let issuer = IssuerUrl::new(self.settings.issuer.clone()).map_err(|e| e.to_string())?;
                let fetch = |request| fetch(self.http.clone(), request);
                let found = CoreProviderMetadata::discover_async(issuer, &fetch).await;
                found.map_err(|e| central::loops::chain(&e))
            })
            .await
    }

    fn redirect(&self) -> Result<RedirectUrl, String> {
        let base = self.settings.public_url.trim_end_matches('/');
        RedirectUrl::new(format!("{base}/sign-in/openid/back")).map_err(|e| e.to_string())
    }

    /// Where to send the browser, and what to remember until it is back.
    async fn start(&self, next: &str) -> Result<(String, String), String> {
        let client = CoreClient::from_provider_metadata(
            self.metadata().await?.clone(),
            ClientId::new(self.settings.client_id.clone()),
            Some(ClientSecret::new(
                self.settings.client_secret.expose_secret().to_owned(),
            )),
        )
        .set_redirect_uri(self.redirect()?);
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
    async fn finish(&self, code: String, nonce: &str, verifier: &str) -> Result<Claimed, String> {
        let client = CoreClient::from_provider_metadata(
            self.metadata().await?.clone(),
            ClientId::new(self.settings.client_id.clone()),
            Some(ClientSecret::new(
                self.settings.client_secret.expose_secret().to_owned(),
            )),
        )
        .set_redirect_uri(self.redirect()?);
        let fetch = |request| fetch(self.http.clone(), request);
        let answer = client
            .exchange_code(AuthorizationCode::new(code))
            .map_err(|e| e.to_string())?
            .set_pkce_verifier(PkceCodeVerifier::new(verifier.to_owned()))
            .request_async(&fetch)
            .await
            .map_err(|e| central::loops::chain(&e))?;
        let token = answer.id_token().ok_or("the provider sent no id token")?;
        let nonce = Nonce::new(nonce.to_owned());
        let claims = token
            .claims(&client.id_token_verifier(), &nonce)
            .map_err(|e| central::loops::chain(&e))?;
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
    fn rules<'a>(&'a self, claimed: &'a Claimed) -> impl Iterator<Item = &'a RoleRule> {
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
    let wrong = |e: reqwest::Error| Fetch(central::loops::chain(&e));
    let request = reqwest::Request::try_from(request).map_err(wrong)?;
    let answer = http.execute(request).await.map_err(wrong)?;
    let (status, headers) = (answer.status(), answer.headers().clone());
    let body = answer.bytes().await.map_err(wrong)?.to_vec();
    let mut response = HttpResponse::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

fn provider(state: &Shared) -> Result<&Oidc> {
    let provider = state.console.oidc.as_deref();
    provider.ok_or_else(|| Trouble(Problem::not_found("page")))
}

pub async fn start(State(state): State<Shared>, uri: Uri) -> Result {
    let next = next_of(&uri);
    let (place, kept) = match provider(&state)?.start(&next).await {
        Ok(started) => started,
        Err(why) => return Ok(failed(&state, &why)),
    };
    let mut response = (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response();
    let cookie = Cookie {
        name: COOKIE,
        value: &kept,
        lasts: Some(LASTS),
    };
    cookie.set(response.headers_mut(), &state.console);
    Ok(response)
}

pub async fn back(State(state): State<Shared>, headers: HeaderMap, uri: Uri) -> Result {
    let oidc = provider(&state)?;
    let mut params = Params::read(&uri)?;
    let kept = cookies::read(&headers, COOKIE).unwrap_or_default().to_owned();
    let parts: Vec<_> = kept.split('|').collect();
    let [known, nonce, verifier, next] = parts[..] else {
        return Ok(refused(
            &state,
            "That took too long, or the browser keeps no cookies. Try again.",
        ));
    };
    let given = params.text("state").unwrap_or_default();
    if !bool::from(given.as_bytes().ct_eq(known.as_bytes())) {
        return Ok(refused(&state, "The answer was not for this browser. Try again."));
    }
    if let Some(error) = params.text("error") {
        tracing::info!(error, "the identity provider refused a sign-in");
        return Ok(refused(&state, "Your organisation did not let you in."));
    }
    let code = params.text("code").unwrap_or_default();
    let claimed = match oidc.finish(code, nonce, verifier).await {
        Ok(claimed) => claimed,
        Err(why) => return Ok(failed(&state, &why)),
    };
    let user = match known_user(&state, oidc, &claimed).await {
        Ok(user) => user,
        Err(problem) if matches!(problem.code, Code::Forbidden | Code::Conflict) => {
            return Ok(refused(&state, &problem.detail));
        }
        Err(problem) => return Err(Trouble(problem)),
    };
    let next = cookies::decode(next).filter(|next| is_ours(next));
    match state.central.users.open(user, "openid").await {
        Ok(signed_in) => {
            let mut response = enter(&state, &signed_in, next.as_deref().unwrap_or("/"));
            Cookie::gone(COOKIE).set(response.headers_mut(), &state.console);
            Ok(response)
        }
        Err(SignInError::Store(error)) => Err(error.into()),
        Err(_) => Ok(refused(&state, "You are kept out of this console. Ask an admin.")),
    }
}

/// The user the provider speaks of, made or brought up to date.
async fn known_user(state: &Shared, oidc: &Oidc, claimed: &Claimed) -> Result<User, Problem> {
    let store = &state.central.store;
    let actor = Actor::new("openid");
    let mut given = vec![];
    for rule in oidc.rules(claimed) {
        if let Some(tenant) = store.tenant_by_name(&rule.tenant).await?
            && given.iter().all(|(known, _)| *known != tenant.id)
        {
            given.push((tenant.id, rule.role));
        }
    }
    let Some((tenant, role)) = given.first().copied() else {
        return Err(Problem::forbidden(
            "Your organisation gives you no role here. Ask whoever runs Waypost for one.",
        ));
    };
    let user = match store.user_by_subject(&claimed.subject).await? {
        Some(user) => user,
        None => {
            let new = NewUser {
                name: claimed.name.trim().chars().take(255).collect(),
                password: None,
                subject: Some(claimed.subject.clone()),
                tenant,
                role,
            };
            store
                .create_user(new, &actor)
                .await
                .map_err(|error| match error {
                    store::Error::Conflict(_) => Problem::new(
                        Code::Conflict,
                        format!(
                            "The name {} belongs to somebody else here. Ask an admin.",
                            claimed.name
                        ),
                    ),
                    other => other.into(),
                })?
        }
    };
    for (tenant, role) in &given {
        if user.roles.iter().all(|known| known != &(*tenant, *role)) {
            store.set_role(user.id, *tenant, Some(*role), &actor).await?;
        }
    }
    for (tenant, _) in &user.roles {
        if given.iter().all(|(kept, _)| kept != tenant) {
            store.set_role(user.id, *tenant, None, &actor).await?;
        }
    }
    store
        .user(user.id)
        .await?
        .ok_or_else(|| Problem::not_found("user"))
}

fn refused(state: &Shared, why: &str) -> Response {
    let mut response = Flash::bad(why).at("/sign-in", &state.console);
    Cookie::gone(COOKIE).set(response.headers_mut(), &state.console);
    response
}

fn failed(state: &Shared, why: &str) -> Response {
    tracing::warn!(error = why, "signing in through the identity provider failed");
    refused(
        state,
        "Your organisation's sign-in cannot be used just now; the cause is in the server's log.",
    )
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
