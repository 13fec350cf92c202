//! Who may do what, and where things go: tenants, keys, lists, providers. Small tables, read often, changed
//! seldom. Every change bumps the directory version, which every claim returns, so caches are never trusted
//! longer than until the next claim.

use crate::{Error, Result, receipts::ProviderCallback};
use async_trait::async_trait;
use domain::{
    Actor, AuditStatus, Channel, Hold, LaneId, Limits, OnAmbiguous, ProviderId, Recipient, RetryPolicy,
    TenantId, Timestamp,
};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    fmt::{self, Debug},
    str::FromStr,
};

#[async_trait]
pub trait Directory: Debug + Send + Sync {
    async fn directory_version(&self) -> Result<i64>;

    async fn create_tenant(&self, name: &str, actor: &Actor) -> Result<Tenant>;
    async fn tenants(&self) -> Result<Vec<Tenant>>;
    async fn tenant_by_name(&self, name: &str) -> Result<Option<Tenant>>;
    /// Ends a tenant on which nothing hangs any more: its keys are revoked, its lists, roles, sessions and sites go with
    /// it, its name is free again. What it sent stays until it is purged. The first tenant cannot be deleted
    /// (`Conflict`). Audited in the first tenant, because nobody can look into this one any more.
    async fn delete_tenant(&self, tenant: TenantId, actor: &Actor) -> Result<TenantDeletion>;
    /// What keeps a tenant from being deleted now.
    async fn tenant_use(&self, tenant: TenantId) -> Result<TenantUse>;

    /// Keeps only the hash. `Conflict` when the tenant has a live key of that name.
    async fn create_key(&self, key: NewKey, actor: &Actor) -> Result<ApiKey>;
    async fn keys(&self, tenant: TenantId) -> Result<Vec<ApiKey>>;
    /// Answers whether there was a live key of that id in the tenant.
    async fn revoke_key(&self, tenant: TenantId, id: i64, actor: &Actor) -> Result<bool>;
    /// The live key with this hash.
    async fn key_by_hash(&self, hash: &[u8; 32]) -> Result<Option<ApiKey>>;
    /// Remembers that a key was used now.
    async fn key_used(&self, id: i64) -> Result<()>;

    async fn lists(&self, tenant: TenantId) -> Result<Vec<List>>;
    async fn list_by_name(&self, tenant: TenantId, name: &str) -> Result<Option<List>>;
    /// Creates the list or replaces its recipients, all at once.
    async fn put_list(&self, tenant: TenantId, list: &List, actor: &Actor) -> Result<()>;
    /// Answers whether there was none of that name; an existing one stays as it is.
    async fn create_list(&self, tenant: TenantId, list: &List, actor: &Actor) -> Result<bool>;
    /// Replaces the recipients of a list, if they are still `expected`. Answers whether they were.
    async fn change_list(
        &self,
        tenant: TenantId,
        expected: &List,
        list: &List,
        actor: &Actor,
    ) -> Result<bool>;
    async fn delete_list(&self, tenant: TenantId, name: &str, actor: &Actor) -> Result<bool>;

    async fn providers(&self, tenant: TenantId) -> Result<Vec<Provider>>;
    async fn provider(&self, tenant: TenantId, id: &ProviderId) -> Result<Option<Provider>>;
    async fn provider_of_lane(&self, lane: LaneId) -> Result<Option<Provider>>;
    /// All providers, for resealing their secrets with a new key.
    async fn all_providers(&self) -> Result<Vec<Provider>>;
    /// Creates (`expected_version` none: `Conflict` if it exists) or replaces the provider (`Conflict` unless
    /// it still has that version). Its version goes up, its lane is made if need be; a hold that a change of
    /// settings may cure (everything but `operator`) ends, and switched off means held as `disabled`.
    async fn put_provider(
        &self,
        provider: &NewProvider,
        expected_version: Option<i64>,
        actor: &Actor,
    ) -> Result<Provider>;
    /// Replaces only the settings and sealed secrets, which say the same in another way, if the provider still has that
    /// version; the version stays.
    async fn reseal_provider(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        version: i64,
        settings: &serde_json::Map<String, serde_json::Value>,
        secrets: &BTreeMap<String, String>,
    ) -> Result<bool>;
    /// The provider that this secret's hash is the callback of.
    async fn provider_by_callback(&self, hash: &[u8; 32]) -> Result<Option<Provider>>;
    /// Gives a provider a new place for callbacks, in the place of the one it had: a new version of the provider, audited.
    /// Without an actor the same secret is only sealed anew. Answers whether there is such a provider.
    async fn put_callback(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        callback: ProviderCallback,
        actor: Option<&Actor>,
    ) -> Result<bool>;
    /// Somebody tried a provider out.
    async fn log_provider_test(&self, test: ProviderTest) -> Result<()>;
    /// `Conflict` while rows wait in its lane. Answers whether there was one.
    async fn delete_provider(&self, tenant: TenantId, id: &ProviderId, actor: &Actor) -> Result<bool>;

    /// The lane for messages of a channel that no provider serves: they are claimed there and parked with the
    /// reason. Made when first needed. `Conflict` for a tenant that was deleted: nothing is taken in for it.
    async fn unrouted_lane(&self, tenant: TenantId, channel: Channel) -> Result<LaneId>;
    /// The tenant and channel of an unrouted lane.
    async fn unrouted_channel(&self, lane: LaneId) -> Result<Option<(TenantId, Channel)>>;
}

impl ProviderTest {
    pub(crate) fn status(&self) -> AuditStatus {
        match self.worked {
            true => AuditStatus::Delivered,
            false => AuditStatus::Failed,
        }
    }
}

impl NewProvider {
    /// `Conflict` unless the provider is as whoever changes it believes: not there, or still in that version.
    pub(crate) fn may_replace(&self, old: Option<&Provider>, expected: Option<i64>) -> Result<()> {
        let id = &self.id;
        let words = match (old, expected) {
            (Some(_), None) => format!("there is a provider {id} already"),
            (None, Some(_)) => format!("there is no provider {id}"),
            (Some(old), Some(expected)) if old.version != expected => {
                let version = old.version;
                format!("provider {id} was changed meanwhile: it has version {version}")
            }
            _ => return Ok(()),
        };
        Err(Error::Conflict(words))
    }

    /// Whether its far end is asked otherwise than before: not where only its name, its order or its limits are new.
    pub(crate) fn asks_otherwise(&self, old: Option<&Provider>) -> bool {
        old.is_none_or(|Provider { provider: old, .. }| {
            (&self.kind, &self.settings, &self.secrets) != (&old.kind, &old.settings, &old.secrets)
        })
    }

    /// A provider whose lane has rows keeps its channel.
    pub(crate) fn rows_wait(&self, old: &Provider) -> Error {
        let channel = old.provider.channel;
        Error::Conflict(format!("{channel} notifications wait for provider {}", self.id))
    }
}

impl Provider {
    /// Above the last one, and above what its lane saw when it served a provider of that name before.
    pub(crate) fn next_version(old: Option<&Provider>, lane_at: Option<i64>) -> i64 {
        old.map_or(0, |old| old.version).max(lane_at.unwrap_or(0)) + 1
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tenant {
    pub id: TenantId,
    pub name: String,
    pub created_at: Timestamp,
}

impl Tenant {
    /// `Conflict` for the first one, where everything is audited that no other tenant can show.
    pub(crate) fn may_be_deleted(id: TenantId) -> Result<()> {
        match id {
            TenantId::DEFAULT => Err(Error::Conflict("the first tenant cannot be deleted".into())),
            _ => Ok(()),
        }
    }

    /// Nothing is set up and nothing taken in for a tenant that was deleted.
    pub(crate) fn must_be(live: bool) -> Result<()> {
        match live {
            true => Ok(()),
            false => Err(Error::Conflict("the tenant was deleted".into())),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TenantDeletion {
    Deleted,
    NotFound,
    /// It was left as it is.
    InUse(TenantUse),
}

/// What hangs on a tenant, each counted up to [`TenantUse::COUNTED`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TenantUse {
    pub providers: i64,
    pub waiting: i64,
    pub parked: i64,
}

impl TenantUse {
    pub const COUNTED: i64 = 1_000;

    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for TenantUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.providers, "provider"),
            (self.waiting, "waiting notification"),
            (self.parked, "parked notification"),
        ];
        let words = counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| {
            let or_more = if n >= Self::COUNTED { " or more" } else { "" };
            let s = if n == 1 { "" } else { "s" };
            format!("{n}{or_more} {what}{s}")
        });
        f.write_str(&words.collect::<Vec<_>>().join(", "))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKey {
    pub tenant: TenantId,
    pub name: String,
    pub role: Role,
    pub hash: [u8; 32],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    pub id: i64,
    pub tenant: TenantId,
    pub name: String,
    pub role: Role,
    pub created_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// To the minute or so.
    pub last_used_at: Option<Timestamp>,
}

/// What a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Viewer,
    Operator,
    Admin,
    /// All tenants: reads, replays, manages tenants.
    Ops,
    /// Submits, and asks after what it sent.
    Producer,
    Site,
}

impl Role {
    pub const ALL: [Role; 6] = [
        Role::Viewer,
        Role::Operator,
        Role::Admin,
        Role::Ops,
        Role::Producer,
        Role::Site,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Operator => "operator",
            Role::Admin => "admin",
            Role::Ops => "ops",
            Role::Producer => "producer",
            Role::Site => "site",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|r| r.as_str() == text).ok_or_else(|| {
            format!("unknown role {text:?}; known are viewer, operator, admin, ops, producer, site")
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct List {
    pub name: String,
    #[serde(default)]
    pub recipients: Vec<Recipient>,
}

/// A provider as it is to be stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewProvider {
    pub tenant: TenantId,
    pub id: ProviderId,
    pub name: String,
    pub kind: String,
    /// The channel its kind serves; routing looks for it.
    pub channel: Channel,
    pub enabled: bool,
    pub order: i32,
    /// Without secrets.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// Sealed; by setting name. Opaque to the store.
    pub secrets: BTreeMap<String, String>,
    pub retry: RetryPolicy,
    pub limits: Limits,
    pub on_ambiguous: OnAmbiguous,
}

/// One attempt that somebody made through a provider to see whether it works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderTest {
    pub tenant: TenantId,
    pub provider: ProviderId,
    pub worked: bool,
    pub duration_ms: u32,
    pub code: Option<String>,
    /// Whom it was sent to and what the far end said.
    pub detail: String,
    pub actor: Actor,
}

/// A provider as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Provider {
    pub provider: NewProvider,
    pub lane: LaneId,
    pub version: i64,
    pub hold: Option<Hold>,
    /// Where its far end may send receipts.
    pub callback: Option<ProviderCallback>,
}
