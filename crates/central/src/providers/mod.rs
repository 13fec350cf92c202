//! Setting providers up: checking (`check`), sealing (`secrets`, `reseal`), where receipts go (`callback`), trying out
//! (`test`), holding and resuming.
//!
//! Always true: a secret goes in and never comes out again; settings that fail their kind's checks are not stored.

mod callback;
mod check;
mod reseal;
mod secrets;
mod test;
mod tests_under_way;
mod texts;

pub(crate) use callback::CALLBACK_SECRET;
pub use callback::{CallbackProblem, NewCallback};
pub use check::ProviderDraft;
pub use test::{TestDraft, TestError, TestReport};
pub use tests_under_way::{TESTS_OF_TENANT, TESTS_ON_NODE};

use crate::{
    directory::{Directory, owner},
    wake::Wake,
};
use delivery::Capture;
use domain::{Actor, FieldError, HoldReason, ProviderId, TenantId};
use serde_json::{Map, Value};
use std::sync::Arc;
use store::{
    Outbox, Queries, Signals,
    directory::{NewProvider, Provider},
    outbox::HoldLane,
    signals::Signal,
};
use tests_under_way::TestsUnderWay;

/// What a secret looks like on the way out, and what "leave it as it is" looks like on the way in.
pub use delivery::redact::MASK;

#[derive(Debug, thiserror::Error)]
pub enum PutError {
    #[error("some fields are wrong")]
    Fields(Vec<FieldError>),
    #[error(transparent)]
    Store(#[from] store::Error),
}

#[derive(Debug, Clone)]
pub struct ProviderService {
    store: Arc<dyn store::Directory>,
    outbox: Arc<dyn Outbox>,
    queries: Arc<dyn Queries>,
    signals: Arc<dyn Signals>,
    directory: Arc<Directory>,
    clock: Arc<dyn domain::Clock>,
    wake: Arc<Wake>,
    tests: TestsUnderWay,
}

impl ProviderService {
    pub fn new(
        store: Arc<dyn store::Directory>,
        outbox: Arc<dyn Outbox>,
        queries: Arc<dyn Queries>,
        signals: Arc<dyn Signals>,
        directory: Arc<Directory>,
        clock: Arc<dyn domain::Clock>,
        wake: Arc<Wake>,
    ) -> Self {
        Self {
            store,
            outbox,
            queries,
            signals,
            directory,
            clock,
            wake,
            tests: TestsUnderWay::default(),
        }
    }

    /// Creates a provider; its id is taken from its name when none is given.
    pub async fn create(
        &self,
        tenant: TenantId,
        draft: ProviderDraft,
        actor: &Actor,
    ) -> Result<Provider, PutError> {
        self.put(tenant, draft, None, actor).await
    }

    /// Replaces a provider. A secret that is left out or masked stays as it is, unless it would be sent elsewhere; one
    /// that is null is removed.
    pub async fn replace(
        &self,
        current: &Provider,
        draft: ProviderDraft,
        actor: &Actor,
    ) -> Result<Provider, PutError> {
        self.put(current.provider.tenant, draft, Some(current), actor)
            .await
    }

    async fn put(
        &self,
        tenant: TenantId,
        draft: ProviderDraft,
        current: Option<&Provider>,
        actor: &Actor,
    ) -> Result<Provider, PutError> {
        let provider = self.check(tenant, draft, current).map_err(PutError::Fields)?;
        let stored = self
            .store
            .put_provider(&provider, current.map(|c| c.version), actor)
            .await?;
        self.changed().await?;
        self.wake.lanes([stored.lane]);
        Ok(stored)
    }

    /// The kinds of provider there are.
    pub fn registry(&self) -> &delivery::Registry {
        self.directory.registry()
    }

    /// Everything that [`Self::create`], or [`Self::replace`] of `current`, would refuse it for. Stores nothing.
    pub fn problems(
        &self,
        tenant: TenantId,
        draft: ProviderDraft,
        current: Option<&Provider>,
    ) -> Vec<FieldError> {
        self.check(tenant, draft, current).err().unwrap_or_default()
    }

    /// The settings as they may be shown: secrets masked.
    pub fn masked_settings(provider: &NewProvider) -> Map<String, Value> {
        secrets::masked(provider)
    }

    /// The messages that this node keeps for the provider, oldest first; none for kinds that send them away.
    pub fn captured(&self, provider: &NewProvider) -> Option<Vec<Capture>> {
        let kind = self.directory.registry().get(&provider.kind)?;
        kind.captured(&owner(provider))
    }

    /// Stops a provider by hand. Answers whether there is one.
    pub async fn hold(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        why: Option<String>,
        actor: &Actor,
    ) -> store::Result<bool> {
        let Some(provider) = self.store.provider(tenant, id).await? else {
            return Ok(false);
        };
        let hold = HoldLane {
            lane: provider.lane,
            config_version: None,
            reason: HoldReason::Operator,
            detail: why,
            code: None,
            probe_after: None,
            actor: actor.clone(),
        };
        self.outbox.hold_lane(hold).await?;
        self.wake.look();
        self.signals.announce(Signal::LookAgain);
        Ok(true)
    }

    /// Lets a held provider go on, whatever held it. Answers whether there is one.
    pub async fn resume(&self, tenant: TenantId, id: &ProviderId, actor: &Actor) -> store::Result<bool> {
        let Some(provider) = self.store.provider(tenant, id).await? else {
            return Ok(false);
        };
        self.outbox.resume_lane(provider.lane, None, actor).await?;
        self.wake.look();
        self.signals.announce(Signal::LookAgain);
        Ok(true)
    }

    /// Has a provider tried at once: a pause ends, the probe of a hold is due, and what waits for another attempt is. Answers
    /// how many notifications were moved; none if there is no such provider. `Conflict` for a hold that no probe ends.
    pub async fn try_now(
        &self,
        tenant: TenantId,
        id: &ProviderId,
        actor: &Actor,
    ) -> store::Result<Option<u64>> {
        let Some(provider) = self.store.provider(tenant, id).await? else {
            return Ok(None);
        };
        let moved = self.outbox.try_lane(provider.lane, actor).await?;
        self.wake.look();
        self.signals.announce(Signal::LookAgain);
        Ok(moved)
    }

    pub async fn delete(&self, tenant: TenantId, id: &ProviderId, actor: &Actor) -> store::Result<bool> {
        let deleted = self.store.delete_provider(tenant, id, actor).await?;
        self.changed().await?;
        Ok(deleted)
    }

    async fn changed(&self) -> store::Result<()> {
        self.directory.refresh().await?;
        self.wake.look();
        self.signals.announce(Signal::Directory);
        Ok(())
    }
}
