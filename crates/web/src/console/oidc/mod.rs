//! Signing in through an identity provider, by OpenID Connect with a code and PKCE.
//!
//! Always true: what the provider says counts only after its signature, audience, age and our nonce were checked;
//! somebody who has no role by its claims is not let in and loses what they had; a name that belongs to somebody else
//! is never taken over; a key that the provider has withdrawn does not count for long.

mod pages;
mod people;
mod provider;
mod published;
mod token;

pub use pages::{back, start};
pub use provider::{METADATA_LASTS, METADATA_REST, Oidc};

use secrecy::SecretString;
use store::directory::Role;

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
