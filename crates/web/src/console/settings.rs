//! What the console is told by the configuration.

use super::oidc::Oidc;
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub struct ConsoleSettings {
    /// Browsers reach this server by HTTPS, through its own certificate or a proxy's: cookies are marked for it.
    pub secure: bool,
    /// A proxy stands in front of this server, so that `X-Forwarded-For` tells who asks.
    pub behind_proxy: bool,
    /// Signing in through an identity provider.
    pub oidc: Option<Arc<Oidc>>,
}
