//! Setting a client up.

use crate::{Client, Error, Result, again::Again};
use reqwest::{Certificate, Url, header, redirect};
use std::{
    net::IpAddr,
    sync::{Arc, Once},
    time::Duration,
};

/// How to reach central. Made by [`Client::builder`].
#[derive(Clone)]
pub struct ClientBuilder {
    url: String,
    api_key: String,
    tenant: Option<String>,
    ca_pem: Option<Vec<u8>>,
    timeout: Duration,
    again: Again,
}

impl std::fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl ClientBuilder {
    pub(crate) fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            api_key: String::new(),
            tenant: None,
            ca_pem: None,
            timeout: Duration::from_secs(30),
            again: Again::default(),
        }
    }

    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = key.into();
        self
    }

    /// Which tenant to act for; only keys of role `ops` have a choice.
    pub fn tenant(mut self, name: impl Into<String>) -> Self {
        self.tenant = Some(name.into());
        self
    }

    /// Trusts this authority as well as the system's.
    pub fn ca_pem(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.ca_pem = Some(pem.into());
        self
    }

    /// How long one request may take.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How often [`Client::submit`] tries when central does not answer.
    pub fn retrying(mut self, again: Again) -> Self {
        self.again = again;
        self
    }

    pub fn build(self) -> Result<Client> {
        install_crypto();
        let url = parse(&self.url)?;
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("waypost-client/", env!("CARGO_PKG_VERSION")))
            .default_headers(self.headers()?)
            .connect_timeout(Duration::from_secs(5))
            // A redirected POST would arrive as a GET; better to hear that the URL is wrong.
            .redirect(redirect::Policy::none());
        if is_local(&url) {
            builder = builder.no_proxy();
        }
        builder = match (&self.ca_pem, url.scheme()) {
            // Without TLS there is nothing to verify, and a machine without any certificates will do.
            (_, "http") => builder.tls_certs_only([]),
            (None, _) => builder,
            (Some(pem), _) => {
                let wrong = |e| Error::Setup(format!("the CA file is not a PEM certificate: {e}"));
                builder.tls_certs_merge(Certificate::from_pem_bundle(pem).map_err(wrong)?)
            }
        };
        let http = builder
            .build()
            .map_err(|e| Error::Setup(format!("no HTTP client: {}", domain::chain(&e))))?;
        Ok(Client {
            http,
            url: Arc::new(url),
            timeout: self.timeout,
            again: self.again,
        })
    }

    fn headers(&self) -> Result<header::HeaderMap> {
        let mut headers = header::HeaderMap::new();
        if !self.api_key.is_empty() {
            let value = header::HeaderValue::try_from(format!("Bearer {}", self.api_key));
            let mut value =
                value.map_err(|_| Error::Setup("the API key has characters no key has".into()))?;
            value.set_sensitive(true);
            headers.insert(header::AUTHORIZATION, value);
        }
        if let Some(tenant) = &self.tenant {
            let value = header::HeaderValue::try_from(tenant.as_str());
            let value =
                value.map_err(|_| Error::Setup("the tenant's name cannot be sent in a header".into()))?;
            headers.insert("waypost-tenant", value);
        }
        Ok(headers)
    }
}

fn parse(text: &str) -> Result<Url> {
    let wrong = |why: String| Error::Setup(format!("{text:?} is not central's URL: {why}"));
    let url = Url::parse(text).map_err(|e| wrong(e.to_string()))?;
    match (url.scheme(), url.host_str()) {
        ("http" | "https", Some(_)) => Ok(url),
        _ => Err(wrong("it starts with http:// or https:// and has a host".into())),
    }
}

/// A proxy from the environment is for the world outside.
fn is_local(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    })
}

/// rustls comes without cryptography of its own; the first client brings it, whoever came before wins.
fn install_crypto() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}
