//! Sealing provider secrets before they reach the store, and opening them again.
//!
//! Always true: a sealed value opens only for the tenant, provider and setting it was sealed for, with the key
//! it names. Losing the keys loses the secrets and nothing else.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use chacha20poly1305::{
    XChaCha20Poly1305,
    aead::{Aead, KeyInit, Payload},
};
use domain::{ProviderId, TenantId};
use sha2::{Digest, Sha256};
use std::{fmt, sync::Arc};

/// One 256-bit key and the name it goes by inside sealed values.
#[derive(Clone)]
pub struct SealingKey {
    id: String,
    cipher: XChaCha20Poly1305,
}

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealingKey({})", self.id)
    }
}

impl SealingKey {
    /// Reads a key of 32 bytes written in base64.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let bytes = BASE64.decode(text.trim()).map_err(|_| KeyError::NotBase64)?;
        let bytes: [u8; 32] = bytes
            .try_into()
            .map_err(|b: Vec<u8>| KeyError::WrongLength(b.len()))?;
        Ok(Self::from_bytes(bytes))
    }

    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let digest = Sha256::digest(bytes);
        let id = digest[..4].iter().map(|b| format!("{b:02x}")).collect();
        Self {
            id,
            cipher: XChaCha20Poly1305::new(&bytes.into()),
        }
    }

    /// A new key, as the text that [`SealingKey::parse`] reads.
    pub fn generate_text() -> String {
        BASE64.encode(rand::random::<[u8; 32]>())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("the key is not base64")]
    NotBase64,
    #[error("the key has {0} bytes; it must have 32, written in base64")]
    WrongLength(usize),
}

/// Why a sealed value does not open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error("sealed with key {0}, which is not among secrets.key and secrets.previous")]
    UnknownKey(String),
    #[error("the sealed value is damaged or belongs to another setting")]
    Damaged,
}

/// Seals with the current key, opens with the current and the previous ones.
#[derive(Debug, Clone)]
pub struct Sealer {
    current: Arc<SealingKey>,
    previous: Arc<[SealingKey]>,
}

const VERSION: &str = "v1";
const NONCE: usize = 24;

impl Sealer {
    pub fn new(current: SealingKey, previous: Vec<SealingKey>) -> Self {
        Self {
            current: Arc::new(current),
            previous: previous.into(),
        }
    }

    /// A sealer for one process's life, for tests and the demo.
    pub fn ephemeral() -> Self {
        Self::new(SealingKey::from_bytes(rand::random()), vec![])
    }

    pub fn seal(&self, place: Place<'_>, plain: &str) -> String {
        let nonce: [u8; NONCE] = rand::random();
        let context = place.context();
        let payload = Payload {
            msg: plain.as_bytes(),
            aad: context.as_bytes(),
        };
        // Encryption of a slice into a new vector has no way to fail; the API's error is for fixed buffers.
        let sealed = self
            .current
            .cipher
            .encrypt(&nonce.into(), payload)
            .unwrap_or_default();
        format!(
            "{VERSION}:{}:{}",
            self.current.id,
            BASE64.encode([&nonce[..], &sealed].concat())
        )
    }

    pub fn open(&self, place: Place<'_>, sealed: &str) -> Result<String, OpenError> {
        let mut parts = sealed.splitn(3, ':');
        let (Some(VERSION), Some(key), Some(text)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(OpenError::Damaged);
        };
        let key = self.key(key).ok_or_else(|| OpenError::UnknownKey(key.into()))?;
        let bytes = BASE64.decode(text).map_err(|_| OpenError::Damaged)?;
        let Some((nonce, cipher_text)) = bytes.split_first_chunk::<NONCE>() else {
            return Err(OpenError::Damaged);
        };
        let context = place.context();
        let payload = Payload {
            msg: cipher_text,
            aad: context.as_bytes(),
        };
        let plain = key
            .cipher
            .decrypt(&(*nonce).into(), payload)
            .map_err(|_| OpenError::Damaged)?;
        String::from_utf8(plain).map_err(|_| OpenError::Damaged)
    }

    /// Whether the value was sealed with an older key than the current one.
    pub fn is_outdated(&self, sealed: &str) -> bool {
        sealed.split(':').nth(1) != Some(self.current.id.as_str())
    }

    fn key(&self, id: &str) -> Option<&SealingKey> {
        std::iter::once(&*self.current)
            .chain(self.previous.iter())
            .find(|key| key.id == id)
    }
}

/// What a sealed value belongs to.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub tenant: TenantId,
    pub provider: &'a ProviderId,
    pub setting: &'a str,
}

impl Place<'_> {
    fn context(&self) -> String {
        format!("{}\0{}\0{}", self.tenant, self.provider, self.setting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place<'a>(provider: &'a ProviderId, setting: &'a str) -> Place<'a> {
        Place {
            tenant: TenantId::DEFAULT,
            provider,
            setting,
        }
    }

    #[test]
    fn a_sealed_value_opens_only_where_it_was_sealed_for() {
        let sealer = Sealer::ephemeral();
        let (mail, other) = (ProviderId::new("mail"), ProviderId::new("other"));
        let sealed = sealer.seal(place(&mail, "password"), "hunter2");
        assert!(!sealed.contains("hunter2"));
        assert_eq!(sealer.open(place(&mail, "password"), &sealed).unwrap(), "hunter2");
        assert_eq!(
            sealer.open(place(&other, "password"), &sealed),
            Err(OpenError::Damaged)
        );
        assert_eq!(
            sealer.open(place(&mail, "clientSecret"), &sealed),
            Err(OpenError::Damaged)
        );
    }

    #[test]
    fn an_old_key_still_opens_after_rotation_and_a_lost_one_is_named() {
        let (old, new) = (SealingKey::from_bytes([1; 32]), SealingKey::from_bytes([2; 32]));
        let mail = ProviderId::new("mail");
        let sealed = Sealer::new(old.clone(), vec![]).seal(place(&mail, "password"), "hunter2");
        let rotated = Sealer::new(new.clone(), vec![old.clone()]);
        assert!(rotated.is_outdated(&sealed));
        assert_eq!(
            rotated.open(place(&mail, "password"), &sealed).unwrap(),
            "hunter2"
        );
        let again = rotated.seal(place(&mail, "password"), "hunter2");
        assert!(!rotated.is_outdated(&again));
        let without = Sealer::new(new, vec![]);
        assert_eq!(
            without.open(place(&mail, "password"), &sealed),
            Err(OpenError::UnknownKey(old.id))
        );
    }
}
