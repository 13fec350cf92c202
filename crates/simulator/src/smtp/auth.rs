//! The server's side of AUTH: what it offers and whom it lets in.

use base64::{Engine, engine::general_purpose::STANDARD};
use std::sync::{PoisonError, RwLock};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    Plain,
    Login,
    XOAuth2,
}

impl Mechanism {
    pub const ALL: [Mechanism; 3] = [Mechanism::Plain, Mechanism::Login, Mechanism::XOAuth2];

    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Plain => "PLAIN",
            Mechanism::Login => "LOGIN",
            Mechanism::XOAuth2 => "XOAUTH2",
        }
    }
}

/// What a client may log in with: a user, and a password or an access token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    pub user: String,
    pub secret: String,
}

impl Credential {
    pub fn new(user: &str, secret: &str) -> Self {
        Self {
            user: user.into(),
            secret: secret.into(),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Credentials(RwLock<Vec<Credential>>);

impl Credentials {
    pub fn replace(&self, with: Vec<Credential>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = with;
    }

    /// With none set, everybody is let in.
    pub fn accept(&self, offered: &Credential) -> bool {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.is_empty() || known.contains(offered)
    }
}

/// `base64(\0user\0password)`
pub(super) fn read_plain(text: &str) -> Option<Credential> {
    let decoded = decode(text)?;
    let mut parts = decoded.split('\0').skip(1);
    Some(Credential::new(parts.next()?, parts.next()?))
}

/// `base64(user=…^Aauth=Bearer …^A^A)`
pub(super) fn read_xoauth2(text: &str) -> Option<Credential> {
    let decoded = decode(text)?;
    let mut parts = decoded.split('\x01');
    let user = parts.next()?.strip_prefix("user=")?;
    let token = parts.next()?.strip_prefix("auth=Bearer ")?;
    Some(Credential::new(user, token))
}

pub(super) fn decode(text: &str) -> Option<String> {
    String::from_utf8(STANDARD.decode(text.trim()).ok()?).ok()
}

pub(super) fn encode(text: &str) -> String {
    STANDARD.encode(text)
}
