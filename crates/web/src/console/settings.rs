//! What the console is told by the configuration.

use super::oidc::Oidc;
use ipnet::IpNet;
use std::sync::Arc;

/// How sites reach this node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkPlace {
    pub port: u16,
    pub tls: bool,
}

impl Default for LinkPlace {
    fn default() -> Self {
        Self {
            port: 7443,
            tls: true,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct ConsoleSettings {
    /// Browsers reach this server by HTTPS, through its own certificate or a proxy's: cookies are marked for it.
    pub secure: bool,
    /// Where browsers reach this server, if the configuration says so; otherwise it is what they asked for.
    pub public_url: Option<String>,
    /// Proxies in front of this server whose `X-Forwarded-For` tells who asks.
    pub trusted_proxies: Vec<IpNet>,
    /// What a new site is told to connect to.
    pub link: LinkPlace,
    /// Signing in through an identity provider.
    pub oidc: Option<Arc<Oidc>>,
}
