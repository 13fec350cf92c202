//! A lane as the dispatcher uses it, made of its provider.

use super::{AttemptFigures, Directory, owner};
use delivery::{Adapter, OptOut};
use domain::{Channel, FieldError, LaneId, Limits, OnAmbiguous, ProviderId, RetryPolicy, TenantId};
use std::sync::Arc;
use store::directory::Provider;

/// A lane as the dispatcher uses it.
#[derive(Debug)]
pub struct LaneEntry {
    pub tenant: TenantId,
    pub provider: Option<ProviderId>,
    pub figures: AttemptFigures,
    pub version: i64,
    pub adapter: LaneAdapter,
    pub retry: RetryPolicy,
    pub limits: Limits,
    pub on_ambiguous: OnAmbiguous,
    /// Its far end tells later what became of a message.
    pub receipts: bool,
    /// Its far end's codes that say that a recipient wants no more.
    pub opt_outs: &'static [OptOut],
}

/// How a lane's messages go out, or why they cannot.
#[derive(Debug, Clone)]
pub enum LaneAdapter {
    Ready(Arc<dyn Adapter>),
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
    pub(super) async fn entry_without_provider(
        &self,
        lane: LaneId,
        version: i64,
    ) -> store::Result<LaneEntry> {
        let (tenant, adapter) = match self.store.unrouted_channel(lane).await? {
            Some((tenant, channel)) if self.registry.iter().any(|k| k.info().channel == channel) => {
                (tenant, LaneAdapter::NoProvider(channel))
            }
            Some((tenant, channel)) => (tenant, LaneAdapter::NoAdapter(format!("type {channel}"))),
            None => (TenantId::DEFAULT, LaneAdapter::Gone),
        };
        Ok(LaneEntry {
            tenant,
            provider: None,
            figures: AttemptFigures::of("none"),
            version,
            adapter,
            retry: RetryPolicy::default(),
            limits: Limits::default(),
            on_ambiguous: OnAmbiguous::default(),
            receipts: false,
            opt_outs: &[],
        })
    }

    pub(super) fn entry(&self, provider: Provider) -> LaneEntry {
        let adapter = self.adapter(&provider);
        let receipts = provider.callback.is_some();
        let Provider {
            provider, version, ..
        } = provider;
        let opt_outs = self
            .registry
            .get(&provider.kind)
            .map_or(&[][..], |kind| kind.opt_outs());
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
            figures: AttemptFigures::of(provider.kind),
            version,
            adapter,
            retry: provider.retry.clamped(),
            limits: provider.limits.clamped(),
            on_ambiguous: provider.on_ambiguous,
            receipts,
            opt_outs,
        }
    }

    /// What messages of the provider go out by. Where its far end is told with each of them where to call back, the adapter
    /// knows the address, and keeps it out of everything it tells.
    pub(crate) fn adapter(&self, provider: &Provider) -> LaneAdapter {
        let callback_url = self.callback_in_messages(provider);
        let provider = &provider.provider;
        let Some(kind) = self.registry.get(&provider.kind) else {
            return LaneAdapter::NoAdapter(format!("kind {}", provider.kind));
        };
        let settings = match self.open(provider) {
            Ok(settings) => settings,
            Err(why) => return LaneAdapter::Sealed(why),
        };
        let built = match callback_url {
            Some(url) => kind.build_with_receipts(&owner(provider), &settings, &url),
            None => kind.build_for(&owner(provider), &settings),
        };
        match built {
            Ok(adapter) => LaneAdapter::Ready(adapter),
            Err(problems) => LaneAdapter::BadSettings(problems),
        }
    }
}
