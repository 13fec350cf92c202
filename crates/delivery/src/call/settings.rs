//! What a system is configured with.

use super::Transient;
use crate::redact::Redactor;
use domain::FieldError;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};
use std::{collections::BTreeMap, time::Duration};
use url::Url;

/// A system, as a site's configuration file names it.
#[derive(Debug, Clone)]
pub struct SystemSettings {
    pub base_url: String,
    pub auth: Auth,
    pub timeout: Duration,
    /// Which statuses may be gone on the next try.
    pub transient: Transient,
    /// Sent with every call.
    pub headers: BTreeMap<String, String>,
    /// Trusted besides the public authorities.
    pub ca_pem: Option<String>,
}

/// How the system knows who calls.
#[derive(Debug, Clone, Default)]
pub enum Auth {
    #[default]
    None,
    Basic {
        username: String,
        password: SecretString,
    },
    Bearer(SecretString),
    Header {
        name: String,
        value: SecretString,
    },
}

impl SystemSettings {
    /// A system without credentials.
    pub fn at(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            auth: Auth::None,
            timeout: Duration::from_secs(30),
            transient: Transient::default(),
            headers: BTreeMap::new(),
            ca_pem: None,
        }
    }

    pub(super) fn base(&self) -> Result<Url, FieldError> {
        let bad = |why: &str| FieldError::new("base_url", why);
        let url = Url::parse(&self.base_url).map_err(|_| bad("takes an http:// or https:// URL"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
            return Err(bad("takes an http:// or https:// URL"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("takes no user and password; use auth"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(bad("takes no query and no fragment"));
        }
        Ok(url)
    }

    /// The headers of every call, credentials among them.
    pub(super) fn own_headers(&self) -> Result<HeaderMap, FieldError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let bad = || FieldError::new("headers", format!("{name:?} is not a header that can be sent"));
            let name: HeaderName = name.parse().map_err(|_| bad())?;
            headers.insert(name, value.parse().map_err(|_| bad())?);
        }
        if let Some((name, value)) = self.auth.header()? {
            headers.insert(name, value);
        }
        Ok(headers)
    }

    pub(super) fn redactor(&self, base: &Url) -> Redactor {
        let mut redactor = Redactor::default();
        match &self.auth {
            Auth::None => {}
            Auth::Basic { username, password } => {
                redactor.hide(password.expose_secret());
                redactor.hide(&format!("{username}:{}", password.expose_secret()));
            }
            Auth::Bearer(secret) | Auth::Header { value: secret, .. } => {
                redactor.hide(secret.expose_secret())
            }
        }
        redactor.hide(base.password().unwrap_or(""));
        redactor
    }
}

impl Auth {
    /// Whether the header is this configuration's to set.
    pub(super) fn uses(&self, name: &HeaderName) -> bool {
        match self {
            Auth::None => false,
            Auth::Basic { .. } | Auth::Bearer(_) => name == AUTHORIZATION,
            Auth::Header { name: own, .. } => name.as_str().eq_ignore_ascii_case(own),
        }
    }

    fn header(&self) -> Result<Option<(HeaderName, HeaderValue)>, FieldError> {
        use base64::{Engine, engine::general_purpose::STANDARD};
        let (name, text) = match self {
            Auth::None => return Ok(None),
            Auth::Basic { username, password } => {
                let pair = format!("{username}:{}", password.expose_secret());
                (AUTHORIZATION, format!("Basic {}", STANDARD.encode(pair)))
            }
            Auth::Bearer(token) => (AUTHORIZATION, format!("Bearer {}", token.expose_secret())),
            Auth::Header { name, value } => {
                let bad = |_| FieldError::new("auth", "the name is not a header name");
                (name.parse().map_err(bad)?, value.expose_secret().to_owned())
            }
        };
        let mut value = HeaderValue::from_str(&text)
            .map_err(|_| FieldError::new("auth", "has characters that cannot be sent in a header"))?;
        value.set_sensitive(true);
        Ok(Some((name, value)))
    }
}
