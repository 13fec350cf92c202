//! One node as `serve` wires it, with one kind of provider more: the one that does nothing.

use super::{
    database::Location,
    noop::{NoopKind, Seen},
};
use anyhow::Context;
use central::{Central, Settings, dispatcher::Dispatcher, providers::ProviderDraft, secrets::Sealer};
use delivery::{Captured, Outside, Registry};
use domain::{Actor, Clock, LaneId, Limits, SystemClock, TenantId};
use serde_json::{Map, Value};
use std::sync::Arc;
use store::sources::EventSource;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub struct Rig {
    pub central: Central,
    pub seen: Arc<Seen>,
    running: Option<(CancellationToken, TaskTracker)>,
}

impl Rig {
    /// A node over the store in this place, nothing started yet.
    pub async fn on(location: &Location) -> anyhow::Result<Self> {
        Self::with_sources(location, vec![]).await
    }

    /// The same, with applications' own outboxes.
    pub async fn with_sources(location: &Location, sources: Vec<Arc<EventSource>>) -> anyhow::Result<Self> {
        let store = location.open("bench").await.context("cannot open the store")?;
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let loopback = vec!["127.0.0.0/8".parse()?, "::1/128".parse()?];
        let outside = Outside::new(clock.clone()).allowing(loopback);
        let seen: Arc<Seen> = Arc::default();
        let mut kinds: Vec<_> = Registry::standard(Arc::new(outside), Captured::default())
            .iter()
            .cloned()
            .collect();
        kinds.push(Arc::new(NoopKind::new(seen.clone())));
        let registry = Registry::new(kinds).map_err(anyhow::Error::msg)?;
        let mut settings = Settings::named("bench");
        settings.events.sources = sources;
        let central = Central::new(store, registry, Sealer::ephemeral(), clock, settings);
        Ok(Self {
            central,
            seen,
            running: None,
        })
    }

    /// Sets a provider up, or finds it there from before.
    pub async fn provider(
        &self,
        id: &str,
        kind: &str,
        settings: Value,
        concurrency: u32,
    ) -> anyhow::Result<LaneId> {
        let known = self
            .central
            .store
            .provider(TenantId::DEFAULT, &domain::ProviderId::new(id))
            .await?;
        if let Some(known) = known {
            return Ok(known.lane);
        }
        let draft = ProviderDraft {
            id: Some(id.to_owned()),
            kind: kind.to_owned(),
            settings: settings.as_object().cloned().unwrap_or_else(Map::new),
            limits: Some(Limits {
                concurrency,
                per_second: None,
            }),
            ..ProviderDraft::default()
        };
        let stored = self
            .central
            .providers
            .create(TenantId::DEFAULT, draft, &Actor::system())
            .await;
        Ok(stored.with_context(|| format!("cannot set up {id}"))?.lane)
    }

    /// The provider that does nothing.
    pub async fn noop(&self) -> anyhow::Result<LaneId> {
        self.provider("noop", "noop", Value::Null, 1024).await
    }

    pub fn dispatcher(&self) -> Dispatcher {
        self.central.dispatcher()
    }

    /// Starts the loops, as `serve` does.
    pub fn start(&mut self) {
        let stop = CancellationToken::new();
        let tasks = self.central.start(&stop);
        self.running = Some((stop, tasks));
    }

    pub async fn close(mut self) {
        if let Some((stop, tasks)) = self.running.take() {
            stop.cancel();
            tasks.wait().await;
        }
        self.central.store.close().await;
    }
}
