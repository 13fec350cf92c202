//! What the dispatcher and ingest need of providers and lists, kept in memory.
//!
//! Leaves to others: changing them (`providers`, `lists`), storing them (`store`).
//! Always true: nothing here is trusted longer than the directory version it was read at; every claim brings the
//! current version along, so a list is resolved, and a provider used, as it is at delivery time. An adapter lives
//! as long as its provider's own version, so that connections survive unrelated changes.

use crate::secrets::{Place, Sealer};
use delivery::{
    Adapter, Registry,
    kind::{Owner, Settings},
};
use domain::{Channel, FieldError, LaneId, Limits, OnAmbiguous, ProviderId, RetryPolicy, TenantId};
use serde_json::{Map, Value};
use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};
use store::{
    Store,
    directory::{List, Provider},
};

/// The configuration version of a lane that never had a provider.
const UNROUTED_VERSION: i64 = 1;

#[derive(Debug)]
pub struct Directory {
    store: Shared,
    registry: Registry,
    sealer: Sealer,
    cache: RwLock<Cache>,
}

/// `dyn Store` has no `Debug` of its own.
struct Shared(Arc<dyn Store>);

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Store")
    }
}

#[derive(Debug, Default)]
struct Cache {
    version: i64,
    /// Only of providers and channels that there are: what a sender makes up is asked about again each time.
    routes: HashMap<(TenantId, Option<ProviderId>, Option<Channel>), Route>,
    lanes: HashMap<LaneId, Arc<LaneEntry>>,
    /// Only lists that there are, up to [`LISTED_RECIPIENTS`].
    lists: HashMap<(TenantId, String), Arc<List>>,
    /// How many recipients these have.
    listed: usize,
}

/// The most recipients that are kept in memory; beyond it lists are read from the store again.
const LISTED_RECIPIENTS: usize = 200_000;

impl Cache {
    fn keep_list(&mut self, key: (TenantId, String), list: Arc<List>) {
        // An empty list takes room, too.
        let weight = list.recipients.len() + 1;
        if self.listed + weight > LISTED_RECIPIENTS {
            self.lists.clear();
            self.listed = 0;
        }
        if weight <= LISTED_RECIPIENTS && self.lists.insert(key, list).is_none() {
            self.listed += weight;
        }
    }
}

/// Where a submission goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    Lane {
        lane: LaneId,
        channel: Channel,
        /// Whether there is a provider; where there is none, the row is parked for that.
        served: bool,
    },
    /// The sender named a provider that does not exist.
    UnknownProvider,
    /// The provider the sender named serves another channel.
    OtherChannel(Channel),
}

/// A lane as the dispatcher uses it.
#[derive(Debug)]
pub struct LaneEntry {
    pub tenant: TenantId,
    pub provider: Option<ProviderId>,
    /// The kind of provider; what figures are told apart by, because there are few of them.
    pub kind: Arc<str>,
    pub version: i64,
    pub way: Way,
    pub retry: RetryPolicy,
    pub limits: Limits,
    pub on_ambiguous: OnAmbiguous,
}

/// How a lane's messages go out, or why they cannot.
#[derive(Debug, Clone)]
pub enum Way {
    Out(Arc<dyn Adapter>),
    /// No provider of this channel is set up.
    NoProvider(Channel),
    /// This program has no adapter for the channel, or for the provider's kind.
    NoAdapter(String),
    /// Settings that got past the checks where they were entered.
    BadSettings(Vec<FieldError>),
    /// This node has no key for the provider's secrets; others may.
    Sealed(String),
    /// The lane's provider was removed.
    Gone,
}

impl Directory {
    pub fn new(store: Arc<dyn Store>, registry: Registry, sealer: Sealer) -> Self {
        Self {
            store: Shared(store),
            registry,
            sealer,
            cache: RwLock::default(),
        }
    }

    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    pub fn sealer(&self) -> &Sealer {
        &self.sealer
    }

    /// Forgets what was read at another version. Answers whether there was news.
    pub fn saw_version(&self, version: i64) -> bool {
        if self.read(|cache| cache.version == version) {
            return false;
        }
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        if cache.version == version {
            return false;
        }
        cache.version = version;
        cache.routes.clear();
        cache.lists.clear();
        cache.listed = 0;
        // Entries stay for their adapters; `lane` compares their version with the store's before using one.
        cache.lanes.retain(|_, entry| matches!(entry.way, Way::Out(_)));
        true
    }

    /// Asks the store for its version and forgets what is older.
    pub async fn refresh(&self) -> store::Result<()> {
        let version = self.store.0.directory_version().await?;
        self.saw_version(version);
        Ok(())
    }

    /// The lane for a submission: the provider it names, or the tenant's first enabled one of its channel.
    pub async fn route(
        &self,
        tenant: TenantId,
        provider: Option<&ProviderId>,
        channel: Option<Channel>,
    ) -> store::Result<Route> {
        let key = (tenant, provider.cloned(), channel);
        if let Some(route) = self.read(|cache| cache.routes.get(&key).cloned()) {
            return Ok(route);
        }
        let version = self.version();
        let route = match provider {
            Some(id) => match self.store.0.provider(tenant, id).await? {
                None => Route::UnknownProvider,
                Some(p) if channel.is_some_and(|c| c != p.provider.channel) => {
                    Route::OtherChannel(p.provider.channel)
                }
                Some(p) => Route::Lane {
                    lane: p.lane,
                    channel: p.provider.channel,
                    served: true,
                },
            },
            None => {
                self.first_provider(tenant, channel.unwrap_or(Channel::Email))
                    .await?
            }
        };
        if route != Route::UnknownProvider {
            self.remember(version, |cache| {
                cache.routes.insert(key, route.clone());
            });
        }
        Ok(route)
    }

    async fn first_provider(&self, tenant: TenantId, channel: Channel) -> store::Result<Route> {
        let mut serving = self.store.0.providers(tenant).await?;
        serving.retain(|p| p.provider.channel == channel);
        // One that is switched off is better than none: its rows wait and say why, instead of parking.
        serving.sort_by_key(|p| (!p.provider.enabled, p.provider.order));
        let (lane, served) = match serving.first() {
            Some(p) => (p.lane, true),
            None => (self.store.0.unrouted_lane(tenant, channel).await?, false),
        };
        Ok(Route::Lane {
            lane,
            channel,
            served,
        })
    }

    /// The lane's entry if it is in memory and of this configuration version.
    pub fn known_lane(&self, lane: LaneId, version: i64) -> Option<Arc<LaneEntry>> {
        self.read(|cache| {
            cache
                .lanes
                .get(&lane)
                .filter(|entry| entry.version == version)
                .cloned()
        })
    }

    /// How the lane's messages go out now. `version`: the configuration version a claim came with; without one,
    /// whatever is in memory will do.
    pub async fn lane(&self, lane: LaneId, version: Option<i64>) -> store::Result<Arc<LaneEntry>> {
        let known = match version {
            Some(version) => self.known_lane(lane, version),
            None => self.read(|cache| cache.lanes.get(&lane).cloned()),
        };
        if let Some(entry) = known {
            return Ok(entry);
        }
        let seen = self.version();
        let entry = Arc::new(match self.store.0.provider_of_lane(lane).await? {
            Some(provider) => self.entry(provider),
            None => {
                self.entry_without_provider(lane, version.unwrap_or(UNROUTED_VERSION))
                    .await?
            }
        });
        self.remember(seen, |cache| {
            cache.lanes.insert(lane, entry.clone());
        });
        Ok(entry)
    }

    async fn entry_without_provider(&self, lane: LaneId, version: i64) -> store::Result<LaneEntry> {
        let (tenant, way) = match self.store.0.unrouted_channel(lane).await? {
            Some((tenant, channel)) if self.registry.iter().any(|k| k.info().channel == channel) => {
                (tenant, Way::NoProvider(channel))
            }
            Some((tenant, channel)) => (tenant, Way::NoAdapter(format!("type {channel}"))),
            None => (TenantId::DEFAULT, Way::Gone),
        };
        Ok(LaneEntry {
            tenant,
            provider: None,
            kind: "none".into(),
            version,
            way,
            retry: RetryPolicy::default(),
            limits: Limits::default(),
            on_ambiguous: OnAmbiguous::default(),
        })
    }

    fn entry(&self, provider: Provider) -> LaneEntry {
        let Provider {
            provider, version, ..
        } = provider;
        let way = match (self.registry.get(&provider.kind), self.open(&provider)) {
            (None, _) => Way::NoAdapter(format!("kind {}", provider.kind)),
            (_, Err(why)) => Way::Sealed(why),
            (Some(kind), Ok(settings)) => match kind.build_for(&owner(&provider), &settings) {
                Ok(adapter) => Way::Out(adapter),
                Err(problems) => Way::BadSettings(problems),
            },
        };
        let problems = provider.retry.problems(false);
        if !problems.is_empty() {
            let keys: Vec<_> = problems.iter().map(|(key, _)| *key).collect();
            tracing::warn!(
                provider.id = %provider.id,
                keys = keys.join(", "),
                "retry settings that cannot be followed, using 10 attempts a minute apart"
            );
        }
        LaneEntry {
            tenant: provider.tenant,
            provider: Some(provider.id),
            kind: provider.kind.into(),
            version,
            way,
            retry: provider.retry.clamped(),
            limits: provider.limits.clamped(),
            on_ambiguous: provider.on_ambiguous,
        }
    }

    /// The provider's settings with their secrets filled in.
    pub fn open(&self, provider: &store::directory::NewProvider) -> Result<Settings, String> {
        let mut settings = provider.settings.clone();
        let info = self.registry.get(&provider.kind).map(|kind| kind.info());
        for (name, sealed) in &provider.secrets {
            let place = Place {
                tenant: provider.tenant,
                provider: &provider.id,
                setting: name,
            };
            let plain = self
                .sealer
                .open(place, sealed)
                .map_err(|e| format!("secret {name}: {e}"))?;
            let value = match &info {
                Some(info) => info.unsealed(name, plain),
                None => Value::String(plain),
            };
            put_setting(&mut settings, name, value);
        }
        Ok(settings)
    }

    /// Why this node cannot open the secrets of the lane's provider, if it cannot.
    pub async fn sealed(&self, lane: LaneId) -> store::Result<Option<String>> {
        Ok(match &self.lane(lane, None).await?.way {
            Way::Sealed(why) => Some(why.clone()),
            _ => None,
        })
    }

    /// The list as it is now; none when there is no such list.
    pub async fn list(&self, tenant: TenantId, name: &str) -> store::Result<Option<Arc<List>>> {
        let key = (tenant, name.to_owned());
        if let Some(list) = self.read(|cache| cache.lists.get(&key).cloned()) {
            return Ok(Some(list));
        }
        let version = self.version();
        let Some(list) = self.store.0.list_by_name(tenant, name).await?.map(Arc::new) else {
            return Ok(None);
        };
        self.remember(version, |cache| cache.keep_list(key, list.clone()));
        Ok(Some(list))
    }

    fn version(&self) -> i64 {
        self.read(|cache| cache.version)
    }

    fn read<T>(&self, look: impl FnOnce(&Cache) -> T) -> T {
        look(&self.cache.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps what was read, unless the directory changed while it was being read.
    fn remember(&self, version: i64, put: impl FnOnce(&mut Cache)) {
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        if cache.version == version {
            put(&mut cache);
        }
    }
}

/// Whose adapter the provider's is.
pub fn owner(provider: &store::directory::NewProvider) -> Owner {
    Owner {
        tenant: provider.tenant,
        provider: provider.id.clone(),
    }
}

/// Sets `a.b` inside the object under `a`.
pub fn put_setting(settings: &mut Map<String, Value>, name: &str, value: Value) {
    match name.split_once('.') {
        None => {
            settings.insert(name.into(), value);
        }
        Some((outer, inner)) => {
            let nested = settings.entry(outer).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(nested) = nested {
                put_setting(nested, inner, value);
            }
        }
    }
}

/// Finds `a.b` inside the object under `a`.
pub fn get_setting<'a>(settings: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    match name.split_once('.') {
        None => settings.get(name),
        Some((outer, inner)) => get_setting(settings.get(outer)?.as_object()?, inner),
    }
}

/// Takes `a.b` out of the object under `a`.
pub fn take_setting(settings: &mut Map<String, Value>, name: &str) -> Option<Value> {
    match name.split_once('.') {
        None => settings.remove(name),
        Some((outer, inner)) => match settings.get_mut(outer) {
            Some(Value::Object(nested)) => take_setting(nested, inner),
            _ => None,
        },
    }
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
