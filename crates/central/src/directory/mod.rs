//! What the dispatcher, ingest and whoever renders need of providers, lists and templates, kept in memory.
//!
//! Leaves to others: changing them (`providers`, `lists`, `templates`), storing them (`store`).
//! Always true: nothing here is trusted longer than the directory version it was read at; every claim brings the
//! current version along, so a list is resolved, and a provider used, as it is at delivery time. An adapter lives
//! as long as its provider's own version, so that connections survive unrelated changes.

mod attempt_figures;
mod cache;
mod lane;
mod settings;
pub mod versioned;

pub use attempt_figures::AttemptFigures;
pub use lane::{LaneAdapter, LaneEntry};
pub use settings::{get_setting, put_setting, take_setting};

use crate::{
    providers::CALLBACK_SECRET,
    secrets::{Place, Sealer},
};
use cache::{Cache, EVENT_TYPES, LISTED_RECIPIENTS, TEMPLATE_BYTES};
use delivery::{
    Registry,
    kind::{Owner, Settings},
};
use domain::{Channel, LaneId, ProviderId, TenantId, lock};
use serde_json::Value;
use std::sync::{Arc, RwLock};
use store::{
    directory::{List, Provider},
    events::EventTypeRow,
    templates::Template,
};
use versioned::Versioned;

/// The configuration version of a lane that never had a provider.
const UNROUTED_VERSION: i64 = 1;

#[derive(Debug)]
pub struct Directory {
    store: Arc<dyn store::Directory>,
    templates_store: Arc<dyn store::Templates>,
    events_store: Arc<dyn store::Events>,
    registry: Registry,
    sealer: Sealer,
    /// Where the outside reaches this installation.
    public_url: Option<String>,
    cache: RwLock<Cache>,
    lists: Versioned<(TenantId, String), List>,
    /// By tenant and event type.
    templates: Versioned<(TenantId, String), Vec<Template>>,
    event_types: Versioned<(TenantId, String), EventTypeRow>,
}

/// Where a submission goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    Lane {
        lane: LaneId,
        channel: Channel,
        /// The provider that has the lane; where there is none, the row is parked for that.
        served: Option<Served>,
    },
    /// The sender named a provider that does not exist.
    UnknownProvider,
    /// The provider the sender named serves another channel.
    OtherChannel { channel: Channel, served: Served },
}

/// What ingest needs to know of the provider that a message goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// None where this program does not know the kind.
    pub kind: Option<&'static str>,
    pub enabled: bool,
}

impl Directory {
    pub fn new(
        store: Arc<dyn store::Directory>,
        templates_store: Arc<dyn store::Templates>,
        events_store: Arc<dyn store::Events>,
        registry: Registry,
        sealer: Sealer,
    ) -> Self {
        Self {
            store,
            templates_store,
            events_store,
            registry,
            sealer,
            public_url: None,
            cache: RwLock::default(),
            lists: Versioned::with_room(LISTED_RECIPIENTS),
            templates: Versioned::with_room(TEMPLATE_BYTES),
            event_types: Versioned::with_room(EVENT_TYPES),
        }
    }

    /// The same, for an installation that the outside reaches there.
    pub fn reached_at(self, public_url: Option<String>) -> Self {
        Self { public_url, ..self }
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
        let mut cache = lock::write(&self.cache);
        if cache.version == version {
            return false;
        }
        cache.version = version;
        cache.routes.clear();
        // Entries stay for their adapters; `lane` compares their version with the store's before using one.
        cache
            .lanes
            .retain(|_, entry| matches!(entry.adapter, LaneAdapter::Ready(_)));
        true
    }

    /// Asks the store for its version and forgets what is older.
    pub async fn refresh(&self) -> store::Result<()> {
        let version = self.store.directory_version().await?;
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
            Some(id) => match self.store.provider(tenant, id).await? {
                None => Route::UnknownProvider,
                Some(p) if channel.is_some_and(|c| c != p.provider.channel) => Route::OtherChannel {
                    channel: p.provider.channel,
                    served: self.served(&p),
                },
                Some(p) => Route::Lane {
                    lane: p.lane,
                    channel: p.provider.channel,
                    served: Some(self.served(&p)),
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
        let mut serving = self.store.providers(tenant).await?;
        serving.retain(|p| p.provider.channel == channel);
        // One that is switched off is better than none: its rows wait and say why, instead of parking.
        serving.sort_by_key(|p| (!p.provider.enabled, p.provider.order));
        let (lane, served) = match serving.first() {
            Some(p) => (p.lane, Some(self.served(p))),
            None => (self.store.unrouted_lane(tenant, channel).await?, None),
        };
        Ok(Route::Lane {
            lane,
            channel,
            served,
        })
    }

    fn served(&self, provider: &Provider) -> Served {
        let kind = self.registry.get(&provider.provider.kind);
        Served {
            kind: kind.map(|kind| kind.info().kind),
            enabled: provider.provider.enabled,
        }
    }

    /// Where messages of a channel go that no provider serves.
    pub async fn unrouted_lane(&self, tenant: TenantId, channel: Channel) -> store::Result<LaneId> {
        self.store.unrouted_lane(tenant, channel).await
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
        let entry = Arc::new(match self.store.provider_of_lane(lane).await? {
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

    /// Where a provider's receipts go; none where the outside does not reach us.
    pub fn callback_url(&self, provider: &ProviderId, secret: &str) -> Option<String> {
        let base = self.public_url.as_deref()?.trim_end_matches('/');
        Some(format!("{base}/callbacks/{provider}/{secret}"))
    }

    /// A path of ours as the outside writes it.
    pub fn public_address(&self, path_and_query: &str) -> String {
        let base = self.public_url.as_deref().unwrap_or_default();
        format!("{}{path_and_query}", base.trim_end_matches('/'))
    }

    /// The address that goes into each message of the provider, where its far end is told so.
    fn callback_in_messages(&self, provider: &store::directory::Provider) -> Option<String> {
        let sealed = provider.callback.as_ref()?.sealed.as_ref()?;
        let (tenant, id) = (provider.provider.tenant, &provider.provider.id);
        let place = Place {
            tenant,
            provider: id,
            setting: CALLBACK_SECRET,
        };
        match self.sealer.open(place, sealed) {
            Ok(secret) => self.callback_url(id, &secret),
            Err(why) => {
                tracing::warn!(provider.id = %id, error = %why, "its callback address cannot be opened; no receipts are asked for");
                None
            }
        }
    }

    /// Why this node cannot open the secrets of the lane's provider, if it cannot.
    pub async fn sealed(&self, lane: LaneId) -> store::Result<Option<String>> {
        Ok(match &self.lane(lane, None).await?.adapter {
            LaneAdapter::Sealed(why) => Some(why.clone()),
            _ => None,
        })
    }

    /// The list as it is now; none when there is no such list.
    pub async fn list(&self, tenant: TenantId, name: &str) -> store::Result<Option<Arc<List>>> {
        let key = (tenant, name.to_owned());
        let read = self.store.list_by_name(tenant, name);
        self.lists.get_or_read(self.version(), key, read).await
    }

    /// The active templates of an event, every variant, as they were at the version last seen: whoever renders a batch
    /// calls [`Directory::refresh`] first.
    pub async fn event_templates(
        &self,
        tenant: TenantId,
        event_type: &str,
    ) -> store::Result<Arc<Vec<Template>>> {
        let key = (tenant, event_type.to_owned());
        let read = async {
            let found = self.templates_store.event_templates(tenant, event_type).await?;
            Ok(Some(found).filter(|found| !found.is_empty()))
        };
        let found = self.templates.get_or_read(self.version(), key, read).await?;
        Ok(found.unwrap_or_default())
    }

    /// What the tenant says about events of this name, at the version last seen; none when nothing.
    pub async fn event_type(&self, tenant: TenantId, name: &str) -> store::Result<Option<Arc<EventTypeRow>>> {
        let key = (tenant, name.to_owned());
        let read = self.events_store.event_type(tenant, name);
        self.event_types.get_or_read(self.version(), key, read).await
    }

    /// The version last seen. What is read after it may be believed until it changes.
    pub fn version(&self) -> i64 {
        self.read(|cache| cache.version)
    }

    fn read<T>(&self, look: impl FnOnce(&Cache) -> T) -> T {
        look(&lock::read(&self.cache))
    }

    /// Keeps what was read, unless the directory changed while it was being read.
    fn remember(&self, version: i64, put: impl FnOnce(&mut Cache)) {
        let mut cache = lock::write(&self.cache);
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

#[cfg(test)]
mod tests;
