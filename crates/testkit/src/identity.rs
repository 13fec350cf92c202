//! An OpenID Connect identity provider on a real socket, with one client and one person; its tokens can be wrong in
//! every way that must not let anybody in.

use axum::{
    Json, Router,
    extract::{Form, Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use domain::{Clock, SystemClock, lock::lock};
use rcgen::{KeyPair, PKCS_ED25519, PublicKeyData, SigningKey};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
};
use tokio::{net::TcpListener, task::JoinHandle};

pub const CLIENT_ID: &str = "waypost";
pub const CLIENT_SECRET: &str = "the client's secret";

/// What is wrong with the tokens it hands out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Signed with a key that is not its own.
    Forged,
    /// Signed with the key it had before the last [`IdentityProvider::rotate`].
    Withdrawn,
    /// For another client.
    Audience,
    /// Of another provider.
    Issuer,
    /// For another sign-in.
    Nonce,
    Expired,
    /// No token at all.
    Missing,
    /// The person was not let in.
    Denied,
}

/// Ends when dropped.
pub struct IdentityProvider {
    issuer: String,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

struct Shared {
    issuer: String,
    keys: Mutex<Keys>,
    other_key: KeyPair,
    person: Mutex<Map<String, Value>>,
    fault: Mutex<Option<Fault>>,
    /// By code: what the browser asked for.
    asked: Mutex<HashMap<String, FormFields>>,
}

/// Each is called by its number.
struct Keys {
    number: u32,
    current: KeyPair,
    withdrawn: Option<KeyPair>,
}

type FormFields = HashMap<String, String>;

impl fmt::Debug for IdentityProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdentityProvider({})", self.issuer)
    }
}

impl IdentityProvider {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let issuer = format!("http://{}", listener.local_addr().expect("an address"));
        let key = || KeyPair::generate_for(&PKCS_ED25519).expect("a key");
        let shared = Arc::new(Shared {
            issuer: issuer.clone(),
            keys: Mutex::new(Keys {
                number: 1,
                current: key(),
                withdrawn: None,
            }),
            other_key: key(),
            person: Mutex::default(),
            fault: Mutex::default(),
            asked: Mutex::default(),
        });
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(configuration))
            .route("/keys", get(keys))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .with_state(shared.clone());
        let server = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Self {
            issuer,
            shared,
            server,
        }
    }

    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Who is signed in there from now on, as claims; `sub` is needed.
    pub fn person(&self, claims: Value) {
        *lock(&self.shared.person) = claims.as_object().cloned().unwrap_or_default();
    }

    /// Signs with a new key from now on and publishes no other.
    pub fn rotate(&self) {
        let fresh = KeyPair::generate_for(&PKCS_ED25519).expect("a key");
        let mut keys = lock(&self.shared.keys);
        keys.number += 1;
        keys.withdrawn = Some(std::mem::replace(&mut keys.current, fresh));
    }

    pub fn misbehave(&self, fault: Option<Fault>) {
        *lock(&self.shared.fault) = fault;
    }
}

impl Drop for IdentityProvider {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn configuration(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let issuer = &shared.issuer;
    Json(json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        "code_challenge_methods_supported": ["S256"],
    }))
}

async fn keys(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let keys = lock(&shared.keys);
    let (kid, x) = (
        keys.number.to_string(),
        URL_SAFE_NO_PAD.encode(keys.current.der_bytes()),
    );
    let key = json!({ "kty": "OKP", "crv": "Ed25519", "use": "sig", "alg": "EdDSA", "kid": kid, "x": x });
    Json(json!({ "keys": [key] }))
}

/// The person is signed in already and says yes.
async fn authorize(State(shared): State<Arc<Shared>>, Query(asked): Query<FormFields>) -> Response {
    let text = |name: &str| asked.get(name).cloned().unwrap_or_default();
    if text("client_id") != CLIENT_ID || text("response_type") != "code" {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let (back, state) = (text("redirect_uri"), text("state"));
    if *lock(&shared.fault) == Some(Fault::Denied) {
        return Redirect::to(&format!("{back}?error=access_denied&state={state}")).into_response();
    }
    let mut all = lock(&shared.asked);
    let code = format!("code-{}", all.len() + 1);
    all.insert(code.clone(), asked);
    Redirect::to(&format!("{back}?code={code}&state={state}")).into_response()
}

async fn token(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Form(form): Form<FormFields>,
) -> Response {
    let refused = |error: &str| (StatusCode::BAD_REQUEST, Json(json!({ "error": error }))).into_response();
    if !knows_secret(&headers) {
        return refused("invalid_client");
    }
    let text = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let Some(asked) = lock(&shared.asked).remove(text("code")) else {
        return refused("invalid_grant");
    };
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(text("code_verifier")));
    let same = |name: &str, value: &str| asked.get(name).is_some_and(|known| known == value);
    if text("grant_type") != "authorization_code"
        || !same("code_challenge", &challenge)
        || !same("redirect_uri", text("redirect_uri"))
    {
        return refused("invalid_grant");
    }
    let mut answer = json!({ "access_token": "unused", "token_type": "Bearer", "expires_in": 60 });
    if *lock(&shared.fault) != Some(Fault::Missing) {
        answer["id_token"] = shared.id_token(asked.get("nonce").cloned()).into();
    }
    Json(answer).into_response()
}

/// The client's name and secret, each as a form would carry it.
fn knows_secret(headers: &HeaderMap) -> bool {
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| STANDARD.decode(value.strip_prefix("Basic ")?).ok());
    let wanted = format!(
        "{CLIENT_ID}:{}",
        CLIENT_SECRET.replace('\'', "%27").replace(' ', "+")
    );
    given.is_some_and(|given| given == wanted.as_bytes())
}

impl Shared {
    fn id_token(&self, nonce: Option<String>) -> String {
        let fault = *lock(&self.fault);
        let now = SystemClock.now().as_millis() / 1000;
        let mut claims = lock(&self.person).clone();
        claims.extend([
            ("iss".into(), self.issuer.clone().into()),
            ("aud".into(), CLIENT_ID.into()),
            ("nonce".into(), nonce.into()),
            ("iat".into(), now.into()),
            ("exp".into(), (now + 60).into()),
        ]);
        let wrong = match fault {
            Some(Fault::Audience) => Some(("aud", json!("somebody else"))),
            Some(Fault::Issuer) => Some(("iss", json!("https://elsewhere.example"))),
            Some(Fault::Nonce) => Some(("nonce", json!("another"))),
            Some(Fault::Expired) => Some(("exp", json!(now - 3600))),
            _ => None,
        };
        claims.extend(wrong.map(|(name, value)| (name.to_owned(), value)));
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let keys = lock(&self.keys);
        let (number, key) = match (fault, &keys.withdrawn) {
            (Some(Fault::Forged), _) => (keys.number, &self.other_key),
            (Some(Fault::Withdrawn), Some(withdrawn)) => (keys.number - 1, withdrawn),
            _ => (keys.number, &keys.current),
        };
        let head = json!({ "alg": "EdDSA", "typ": "JWT", "kid": number.to_string() });
        let signed = format!("{}.{}", part(&head), part(&Value::Object(claims)));
        let signature = key.sign(signed.as_bytes()).expect("a signature");
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}
