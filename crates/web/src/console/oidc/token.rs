//! An id token: what must hold before anything in it is believed (OpenID Connect Core, 3.1.3.7).
//!
//! Always true: only keys the provider published count, each only for signatures of its own kind; a token that is not
//! signed, or signed with a shared secret, is refused.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::Timestamp;
use ring::signature::{self, UnparsedPublicKey, VerificationAlgorithm};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

/// What a token must say to be for this sign-in.
pub struct Expected<'a> {
    pub issuer: &'a str,
    pub client_id: &'a str,
    pub nonce: &'a str,
    pub now: Timestamp,
}

/// Why a token is not believed.
#[derive(Debug, PartialEq, Eq)]
pub enum Distrust {
    /// The provider may have changed its keys since we asked for them.
    NoSuchKey,
    Because(String),
}

impl From<&str> for Distrust {
    fn from(why: &str) -> Self {
        Self::Because(why.to_owned())
    }
}

/// One key as a provider publishes it (RFC 7517). Numbers are base64url.
#[derive(Debug, Clone, Deserialize)]
pub struct Key {
    kty: String,
    #[serde(rename = "use")]
    usage: Option<String>,
    alg: Option<String>,
    kid: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
}

/// The claims of a token that holds for this sign-in.
pub fn believed(token: &str, keys: &[Key], expected: &Expected<'_>) -> Result<Value, Distrust> {
    let claims = signed(token, keys)?;
    let text = |name: &str| claims[name].as_str().unwrap_or_default();
    if text("iss") != expected.issuer {
        return Err("the token is of another issuer".into());
    }
    if !is_for(&claims, expected.client_id) {
        return Err("the token is for another client".into());
    }
    let expires = claims["exp"]
        .as_f64()
        .ok_or("the token does not say when it ends")?;
    if expires * 1000.0 <= expected.now.as_millis() as f64 {
        return Err("the token has expired".into());
    }
    if text("nonce") != expected.nonce {
        return Err("the token is for another sign-in".into());
    }
    if text("sub").is_empty() {
        return Err("the token names nobody".into());
    }
    Ok(claims)
}

/// Several audiences need a word on who of them asked.
fn is_for(claims: &Value, client_id: &str) -> bool {
    let asked_by = claims["azp"].as_str();
    let (named, alone) = match &claims["aud"] {
        Value::String(one) => (one == client_id, true),
        Value::Array(all) => (all.iter().any(|one| one == client_id), all.len() == 1),
        _ => (false, true),
    };
    named && asked_by.map_or(alone, |party| party == client_id)
}

/// The claims of a token that one of these keys has signed.
fn signed(token: &str, keys: &[Key]) -> Result<Value, Distrust> {
    let (signed, signature) = token.rsplit_once('.').ok_or("the token has no signature")?;
    let (header, claims) = signed.split_once('.').ok_or("the token has no claims")?;
    let header: Header = part(header)?;
    let signature = decoded(signature).ok_or("the token's signature cannot be read")?;
    let kind = Kind::of(&header.alg).ok_or_else(|| {
        Distrust::Because(format!("tokens signed by {} are not taken", bounded(&header.alg)))
    })?;
    let mut candidates = keys.iter().filter(|key| key.may_sign(&header)).peekable();
    if candidates.peek().is_none() {
        return Err(Distrust::NoSuchKey);
    }
    if !candidates.any(|key| kind.holds(key, signed.as_bytes(), &signature)) {
        // Keys without names, or a name that was given anew.
        return Err(Distrust::NoSuchKey);
    }
    part(claims)
}

fn bounded(text: &str) -> String {
    text.chars().take(20).collect()
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

fn part<T: DeserializeOwned>(text: &str) -> Result<T, Distrust> {
    let bytes = decoded(text).ok_or("the token cannot be read")?;
    serde_json::from_slice(&bytes).map_err(|e| Distrust::Because(format!("the token cannot be read: {e}")))
}

impl Key {
    fn may_sign(&self, header: &Header) -> bool {
        self.usage.as_deref().is_none_or(|usage| usage == "sig")
            && self.alg.as_deref().is_none_or(|alg| alg == header.alg)
            && (header.kid.is_none() || self.kid.is_none() || self.kid == header.kid)
    }

    fn number(&self, which: Option<&String>) -> Option<Vec<u8>> {
        decoded(which?)
    }
}

/// A way of signing that is taken, and the keys it takes.
enum Kind {
    Rsa(&'static signature::RsaParameters),
    Point(&'static str, &'static dyn VerificationAlgorithm),
    Edwards,
}

impl Kind {
    fn of(alg: &str) -> Option<Self> {
        Some(match alg {
            "RS256" => Self::Rsa(&signature::RSA_PKCS1_2048_8192_SHA256),
            "RS384" => Self::Rsa(&signature::RSA_PKCS1_2048_8192_SHA384),
            "RS512" => Self::Rsa(&signature::RSA_PKCS1_2048_8192_SHA512),
            "PS256" => Self::Rsa(&signature::RSA_PSS_2048_8192_SHA256),
            "PS384" => Self::Rsa(&signature::RSA_PSS_2048_8192_SHA384),
            "PS512" => Self::Rsa(&signature::RSA_PSS_2048_8192_SHA512),
            "ES256" => Self::Point("P-256", &signature::ECDSA_P256_SHA256_FIXED),
            "ES384" => Self::Point("P-384", &signature::ECDSA_P384_SHA384_FIXED),
            "EdDSA" => Self::Edwards,
            _ => return None,
        })
    }

    fn holds(&self, key: &Key, signed: &[u8], signature: &[u8]) -> bool {
        self.verify(key, signed, signature).unwrap_or(false)
    }

    /// None where the key is of another kind, or cannot be read.
    fn verify(&self, key: &Key, signed: &[u8], signature: &[u8]) -> Option<bool> {
        let curve = key.crv.as_deref();
        let verified = match self {
            Self::Rsa(parameters) if key.kty == "RSA" => {
                let (n, e) = (key.number(key.n.as_ref())?, key.number(key.e.as_ref())?);
                signature::RsaPublicKeyComponents { n, e }.verify(parameters, signed, signature)
            }
            Self::Point(name, algorithm) if key.kty == "EC" && curve == Some(name) => {
                // A point that is not compressed.
                let mut point = vec![4];
                point.extend(key.number(key.x.as_ref())?);
                point.extend(key.number(key.y.as_ref())?);
                UnparsedPublicKey::new(*algorithm, point).verify(signed, signature)
            }
            Self::Edwards if key.kty == "OKP" && curve == Some("Ed25519") => {
                let point = key.number(key.x.as_ref())?;
                UnparsedPublicKey::new(&signature::ED25519, point).verify(signed, signature)
            }
            _ => return None,
        };
        Some(verified.is_ok())
    }
}

#[cfg(test)]
#[path = "token_tests.rs"]
mod tests;
