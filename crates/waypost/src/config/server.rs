//! `[server]`: where central listens, and how it is protected.

use super::{
    key::Key,
    problem::Problem,
    secret::{Secret, Twin},
};
use domain::{
    pair::lease::LONGEST_LEASE,
    retry::{human, seconds},
};
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::{net::SocketAddr, path::PathBuf, time::Duration};
use web::console::oidc::OidcSettings;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    pub listen: SocketAddr,
    pub link_listen: SocketAddr,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_url: Option<String>,
    #[serde(skip_serializing)]
    pub bootstrap_key: Option<Secret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap_key_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_tls_cert_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_tls_key_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_tls_client_ca_file: Option<PathBuf>,
    pub insecure: bool,
    #[serde(deserialize_with = "super::delivery::networks")]
    pub trusted_proxies: Vec<IpNet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc_issuer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc_client_id: Option<String>,
    #[serde(skip_serializing)]
    pub oidc_client_secret: Option<Secret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oidc_client_secret_file: Option<PathBuf>,
    pub oidc_role_claim: String,
    #[serde(deserialize_with = "super::list::deserialize")]
    pub oidc_roles: Vec<String>,
    #[serde(with = "seconds")]
    pub site_lease: Duration,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            link_listen: SocketAddr::from(([127, 0, 0, 1], 7443)),
            public_url: None,
            bootstrap_key: None,
            bootstrap_key_file: None,
            tls_cert_file: None,
            tls_key_file: None,
            link_tls_cert_file: None,
            link_tls_key_file: None,
            link_tls_client_ca_file: None,
            insecure: false,
            trusted_proxies: vec![],
            oidc_issuer: None,
            oidc_client_id: None,
            oidc_client_secret: None,
            oidc_client_secret_file: None,
            oidc_role_claim: "roles".into(),
            oidc_roles: vec![],
            site_lease: LONGEST_LEASE,
        }
    }
}

pub const LISTEN: Key = Key::new(
    "server.listen",
    "an address and a port, like \"127.0.0.1:8080\" (port 0: any free one)",
    "Where the HTTP API listens. Other machines only reach it with TLS, or with server.insecure.",
);
pub const PUBLIC_URL: Key = Key::new(
    "server.public_url",
    "an http:// or https:// URL",
    "How people and providers reach this server from outside; for links and callbacks.",
)
.example("https://waypost.example.com");
pub const BOOTSTRAP_KEY: Key = Key::new(
    "server.bootstrap_key",
    "a text of at least 16 characters without spaces",
    "An admin key of tenant default, made at the first start under the name \"bootstrap\". For containers and tests.",
)
.secret()
.example("a-long-random-text");
pub const BOOTSTRAP_KEY_FILE: Key = Key::new(
    "server.bootstrap_key_file",
    "the path of a file",
    "The same, read from a file.",
)
.example("/run/secrets/bootstrap_key");
pub const TLS_CERT_FILE: Key = Key::new(
    "server.tls_cert_file",
    "the path of a PEM file, set together with server.tls_key_file",
    "The certificate chain to serve HTTPS with.",
)
.example("/etc/waypost/tls.crt");
pub const TLS_KEY_FILE: Key = Key::new(
    "server.tls_key_file",
    "the path of a PEM file, set together with server.tls_cert_file",
    "The private key that belongs to it.",
)
.example("/etc/waypost/tls.key");
pub const LINK_LISTEN: Key = Key::new(
    "server.link_listen",
    "an address and a port, like \"127.0.0.1:7443\" (port 0: any free one)",
    "Where sites connect. Other machines only reach it with TLS, or with server.insecure.",
);
pub const LINK_TLS_CERT_FILE: Key = Key::new(
    "server.link_tls_cert_file",
    "the path of a PEM file, set together with server.link_tls_key_file",
    "The certificate chain that sites see.",
)
.example("/etc/waypost/link.crt");
pub const LINK_TLS_KEY_FILE: Key = Key::new(
    "server.link_tls_key_file",
    "the path of a PEM file, set together with server.link_tls_cert_file",
    "The private key that belongs to it.",
)
.example("/etc/waypost/link.key");
pub const LINK_TLS_CLIENT_CA_FILE: Key = Key::new(
    "server.link_tls_client_ca_file",
    "the path of a PEM file",
    "Only sites with a certificate of this authority are let in, besides having their key.",
)
.example("/etc/waypost/sites-ca.crt");
pub const INSECURE: Key = Key::new(
    "server.insecure",
    "true or false",
    "Listen for other machines, sites included, without TLS: only behind a proxy that adds it.",
);
pub const TRUSTED_PROXIES: Key = Key::new(
    "server.trusted_proxies",
    "a list of addresses and networks, like [\"10.0.0.7\", \"127.0.0.1\"]",
    "Proxies whose X-Forwarded-For tells who asks, for slowing down wrong passwords and for the audit log. From all \
     others it is ignored.",
)
.example("[\"127.0.0.1\"]");

pub const OIDC_ISSUER: Key = Key::new(
    "server.oidc_issuer",
    "the https:// URL of an OpenID Connect issuer; needs server.public_url too",
    "People may also sign in to the console through this identity provider. Register PUBLIC_URL/sign-in/openid/back there.",
)
.example("https://login.example.com/realms/plant");
pub const OIDC_CLIENT_ID: Key = Key::new(
    "server.oidc_client_id",
    "a text",
    "What Waypost is called at the identity provider.",
)
.example("waypost");
pub const OIDC_CLIENT_SECRET: Key = Key::new(
    "server.oidc_client_secret",
    "a text",
    "The secret that goes with it.",
)
.secret()
.example("a-long-random-text");
pub const OIDC_CLIENT_SECRET_FILE: Key = Key::new(
    "server.oidc_client_secret_file",
    "the path of a file",
    "The same, read from a file.",
)
.example("/run/secrets/oidc_client_secret");
pub const OIDC_ROLE_CLAIM: Key = Key::new(
    "server.oidc_role_claim",
    "the name of a claim",
    "The claim of the id token that server.oidc_roles looks into.",
);
pub const OIDC_ROLES: Key = Key::new(
    "server.oidc_roles",
    "a list of VALUE=ROLE or VALUE=ROLE@TENANT, the role viewer, operator, admin or ops",
    "Who has the value in the claim has the role in the tenant (default, if left out). The first that fits a tenant counts.",
)
.example("[\"waypost-admins=admin\", \"waypost-users=viewer\"]");

pub const KEYS: &[Key] = &[
    LISTEN,
    PUBLIC_URL,
    BOOTSTRAP_KEY,
    BOOTSTRAP_KEY_FILE,
    TLS_CERT_FILE,
    TLS_KEY_FILE,
    LINK_LISTEN,
    LINK_TLS_CERT_FILE,
    LINK_TLS_KEY_FILE,
    LINK_TLS_CLIENT_CA_FILE,
    INSECURE,
    TRUSTED_PROXIES,
    OIDC_ISSUER,
    OIDC_CLIENT_ID,
    OIDC_CLIENT_SECRET,
    OIDC_CLIENT_SECRET_FILE,
    OIDC_ROLE_CLAIM,
    OIDC_ROLES,
    SITE_LEASE,
];

pub const SITE_LEASE: Key = Key::new(
    "server.site_lease",
    "a time from \"1s\" to \"1m\"",
    "The longest lease that a machine of a site's pair is given, and how long none is given after the database was restored.",
);

impl Server {
    pub fn problems(&self) -> Vec<Problem> {
        let mut bad = vec![];
        if let Some(url) = &self.public_url
            && !is_http_url(url)
        {
            bad.push(Problem::takes(&PUBLIC_URL, format!("{url:?}")));
        }
        match (&self.tls_cert_file, &self.tls_key_file) {
            (Some(_), None) => bad.push(Problem::new(TLS_CERT_FILE.name, "is set without server.tls_key_file")),
            (None, Some(_)) => bad.push(Problem::new(TLS_KEY_FILE.name, "is set without server.tls_cert_file")),
            (None, None) if !self.listen.ip().is_loopback() && !self.insecure => bad.push(Problem::new(
                LISTEN.name,
                format!(
                    "{} can be reached from other machines: set server.tls_cert_file and server.tls_key_file, \
                     or server.insecure = true behind a proxy that adds TLS",
                    self.listen
                ),
            )),
            _ => {}
        }
        match (&self.link_tls_cert_file, &self.link_tls_key_file) {
            (Some(_), None) => {
                bad.push(Problem::new(
                    LINK_TLS_CERT_FILE.name,
                    "is set without server.link_tls_key_file",
                ));
            }
            (None, Some(_)) => {
                bad.push(Problem::new(
                    LINK_TLS_KEY_FILE.name,
                    "is set without server.link_tls_cert_file",
                ));
            }
            (None, None) if !self.link_listen.ip().is_loopback() && !self.insecure => bad.push(Problem::new(
                LINK_LISTEN.name,
                format!(
                    "{} can be reached from other machines: set server.link_tls_cert_file and \
                     server.link_tls_key_file, or server.insecure = true behind a proxy that adds TLS",
                    self.link_listen
                ),
            )),
            _ => {}
        }
        if is_taken_by(self.link_listen, self.listen) {
            bad.push(Problem::new(
                LINK_LISTEN.name,
                format!("{} is taken already, by server.listen", self.link_listen),
            ));
        }
        if self.site_lease < Duration::from_secs(1) || self.site_lease > LONGEST_LEASE {
            bad.push(Problem::takes(
                &SITE_LEASE,
                format!("{:?}", human(self.site_lease)),
            ));
        }
        match self.bootstrap_key().read() {
            Ok(Some(key)) => {
                let text = key.expose();
                if text.len() < 16 || text.contains(char::is_whitespace) {
                    bad.push(Problem::takes(&BOOTSTRAP_KEY, "a shorter one"));
                }
            }
            Ok(None) => {}
            Err(problem) => bad.push(problem),
        }
        if let Err(problems) = self.oidc() {
            bad.extend(problems);
        }
        bad
    }

    pub fn oidc_secret(&self) -> Twin<'_> {
        Twin {
            key: &OIDC_CLIENT_SECRET,
            file_key: &OIDC_CLIENT_SECRET_FILE,
            given: self.oidc_client_secret.as_ref(),
            file: self.oidc_client_secret_file.as_deref(),
        }
    }

    /// The identity provider, if one is set.
    pub fn oidc(&self) -> Result<Option<OidcSettings>, Vec<Problem>> {
        super::oidc::read(self)
    }

    /// The bootstrap key, given or in a file.
    pub fn bootstrap_key(&self) -> Twin<'_> {
        Twin {
            key: &BOOTSTRAP_KEY,
            file_key: &BOOTSTRAP_KEY_FILE,
            given: self.bootstrap_key.as_ref(),
            file: self.bootstrap_key_file.as_deref(),
        }
    }
}

/// Whether nobody can listen at the one address while somebody listens at the other.
pub(super) fn is_taken_by(one: SocketAddr, other: SocketAddr) -> bool {
    let any_ip = one.ip().is_unspecified() || other.ip().is_unspecified();
    one.port() != 0 && one.port() == other.port() && (any_ip || one.ip() == other.ip())
}

pub fn is_http_url(text: &str) -> bool {
    let rest = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/') && !rest.contains(char::is_whitespace))
}
