//! API keys: minted once, shown once, kept as a hash.

use domain::{Actor, TenantId, Timestamp, lock::lock};
use sha2::{Digest, Sha256};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use store::{
    Directory,
    directory::{ApiKey, NewKey, Role},
};

/// Who is asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    pub tenant: TenantId,
    pub role: Role,
    pub actor: Actor,
}

/// A key that was just made. The text is not kept anywhere.
#[derive(Debug, Clone)]
pub struct Minted {
    pub text: String,
    pub key: ApiKey,
}

/// How long a looked-up key is trusted. A revoked key works no longer than this on other nodes, and not at all
/// on the node that revoked it.
const KEY_CACHE_TTL: Duration = Duration::from_secs(10);
const CACHED_KEYS: usize = 10_000;
/// When a key was last used is written down this often at most.
const KEY_USE_REMEMBERED: Duration = Duration::from_secs(60);

/// By hash: when it was looked up, and whose it is.
type Cache = HashMap<[u8; 32], (Timestamp, Principal)>;

#[derive(Clone)]
pub struct Keys {
    store: Arc<dyn Directory>,
    clock: Arc<dyn domain::Clock>,
    cache: Arc<Mutex<Cache>>,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

/// What is kept of a key.
pub fn hash(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// 256 random bits, as they are written in keys, sessions and links.
pub(crate) fn random_letters() -> String {
    format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>())
}

/// The text of a new key.
pub(crate) fn mint() -> String {
    format!("wp_{}", random_letters())
}

/// Writes down that a key is used, beside the request and rarely: unless that is known of the last `interval`.
pub(crate) fn remember_use(store: &Arc<dyn Directory>, key: &ApiKey, now: Timestamp, interval: Duration) {
    if key.last_used_at.is_some_and(|at| now.since(at) < interval) {
        return;
    }
    let (store, id) = (store.clone(), key.id);
    tokio::spawn(async move {
        if let Err(error) = store.key_used(id).await {
            tracing::debug!(error = %domain::chain(&error), "when a key was used could not be written down");
        }
    });
}

impl Keys {
    pub fn new(store: Arc<dyn Directory>, clock: Arc<dyn domain::Clock>) -> Self {
        Self {
            store,
            clock,
            cache: Arc::default(),
        }
    }

    /// Makes a key of 256 random bits.
    pub async fn create(
        &self,
        tenant: TenantId,
        name: &str,
        role: Role,
        actor: &Actor,
    ) -> store::Result<Minted> {
        let text = mint();
        let key = self.adopt(tenant, name, role, &text, actor).await?;
        Ok(Minted { text, key })
    }

    /// Stores a key whose text somebody else chose (`server.bootstrap_key`).
    pub async fn adopt(
        &self,
        tenant: TenantId,
        name: &str,
        role: Role,
        text: &str,
        actor: &Actor,
    ) -> store::Result<ApiKey> {
        self.store
            .create_key(
                NewKey {
                    tenant,
                    name: name.into(),
                    role,
                    hash: hash(text),
                },
                actor,
            )
            .await
    }

    pub async fn revoke(&self, tenant: TenantId, id: i64, actor: &Actor) -> store::Result<bool> {
        let revoked = self.store.revoke_key(tenant, id, actor).await?;
        self.forget();
        Ok(revoked)
    }

    /// Asks the store about every key anew.
    pub(crate) fn forget(&self) {
        lock(&self.cache).clear();
    }

    /// Who this key belongs to; none when it is unknown or revoked.
    pub async fn authenticate(&self, text: &str) -> store::Result<Option<Principal>> {
        let hash = hash(text);
        let now = self.clock.now();
        let cached = lock(&self.cache).get(&hash).cloned();
        if let Some((at, principal)) = cached
            && now.since(at) < KEY_CACHE_TTL
        {
            return Ok(Some(principal));
        }
        let Some(key) = self.store.key_by_hash(&hash).await? else {
            return Ok(None);
        };
        remember_use(&self.store, &key, now, KEY_USE_REMEMBERED);
        let principal = Principal {
            tenant: key.tenant,
            role: key.role,
            actor: Actor::new(format!("key:{}", key.name)),
        };
        let mut cache = lock(&self.cache);
        if cache.len() >= CACHED_KEYS {
            cache.clear();
        }
        cache.insert(hash, (now, principal.clone()));
        Ok(Some(principal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_letter_of_a_key_is_random() {
        let keys: Vec<_> = (0..200).map(|_| mint()).collect();
        for at in "wp_".len()..keys[0].len() {
            let seen: BTreeSet<_> = keys.iter().map(|key| key.as_bytes()[at]).collect();
            assert!(seen.len() > 8, "the letter at {at} is one of {}", seen.len());
        }
        assert_eq!(keys[0].len(), "wp_".len() + 64);
    }
}
