//! One site: its buffer, who delivers what, and the link to central once there is one.

use crate::{engine::Engine, forwarder::ACK_MEMORY, handler::Handlers, pair::Pair, settings::Settings};
use domain::{Clock, Timestamp, pair::Role, site::Category};
use link::{LinkState, SiteDamage, SiteEvent, SiteReport, Uplink};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock},
};
use store::Buffer;

/// Everything about a site that is not a loop. Shared by the local API, the link and the loops.
pub struct Site {
    pub settings: Arc<Settings>,
    pub buffer: Arc<Buffer>,
    pub engine: Engine,
    pub clock: Arc<dyn Clock>,
    uplink: OnceLock<Arc<dyn Uplink>>,
    pair: OnceLock<Arc<Pair>>,
    /// The last things central said about notifications, for when it cannot be asked.
    pub(crate) heard: Mutex<crate::status::LastAnswers>,
    pub(crate) last_steps: tokio::sync::Mutex<crate::bulk::LastSteps>,
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Site({})", self.settings.id)
    }
}

/// Events a report carries.
const REPORTED_EVENTS: u32 = 20;
/// Entries of damage a report carries.
const REPORTED_DAMAGE: usize = 20;

impl Site {
    pub fn new(
        settings: Settings,
        buffer: Arc<Buffer>,
        handlers: Handlers,
        clock: Arc<dyn Clock>,
    ) -> Arc<Self> {
        Arc::new(Self {
            engine: Engine::new(buffer.clone(), handlers, settings.clone(), clock.clone()),
            settings: Arc::new(settings),
            buffer,
            clock,
            uplink: OnceLock::new(),
            pair: OnceLock::new(),
            heard: Mutex::default(),
            last_steps: tokio::sync::Mutex::default(),
        })
    }

    /// The way to central. Made after the site, because central may ask the site things; set once.
    pub fn connect(&self, uplink: Arc<dyn Uplink>) {
        let _ = self.uplink.set(uplink);
    }

    pub fn uplink(&self) -> Option<&Arc<dyn Uplink>> {
        self.uplink.get()
    }

    /// The other machine of this site. Set once, before the agent starts.
    pub fn join(&self, pair: Arc<Pair>) {
        self.engine.join(pair.clone());
        let _ = self.pair.set(pair);
    }

    pub fn pair(&self) -> Option<&Arc<Pair>> {
        self.pair.get()
    }

    /// Whether this machine keeps a copy and sends nothing.
    pub fn is_standby(&self) -> bool {
        self.pair().is_some_and(|pair| pair.role() == Role::Standby)
    }

    /// Whether central can be reached, as far as the link knows; none where no central is configured.
    pub fn link(&self) -> Option<LinkState> {
        self.uplink().map(|uplink| uplink.state().borrow().clone())
    }

    /// Messages that nobody delivers: their category has no handler, or their target is not configured.
    pub fn without_handler(&self) -> u64 {
        let no_central = match self.uplink() {
            Some(_) => 0,
            None => self
                .buffer
                .depth()
                .pending
                .get(&Category::Notification)
                .copied()
                .unwrap_or(0),
        };
        no_central + self.engine.without_handler().values().sum::<u64>()
    }

    /// How the site is doing, as central and the status page see it.
    pub async fn report(&self) -> SiteReport {
        let depth = self.buffer.depth();
        let oldest: Option<Timestamp> = self.buffer.oldest_waiting().await.ok().flatten();
        let mut events = self
            .buffer
            .events(None, REPORTED_EVENTS)
            .await
            .unwrap_or_default();
        events.reverse();
        let pair = match self.pair() {
            Some(pair) => Some(pair.report().await),
            None => None,
        };
        SiteReport {
            pair,
            node: self.settings.node.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            parked: depth.all_parked(),
            oldest_waiting: oldest,
            without_handler: self.without_handler(),
            buffer_bytes: depth.bytes,
            refusing: self.buffer.refusing(),
            backlog: depth
                .pending
                .into_iter()
                .filter(|(_, n)| *n > 0)
                .collect::<BTreeMap<_, _>>(),
            events: events.into_iter().map(told).collect(),
            damage: self.damage().await,
            forgotten_until: self.shorter_memory(),
        }
    }

    /// What was found damaged here and nobody has acknowledged, as much as fits a report.
    async fn damage(&self) -> Vec<SiteDamage> {
        let found = self.buffer.damage().await.unwrap_or_default();
        let told = found.into_iter().take(REPORTED_DAMAGE).map(|damage| SiteDamage {
            at: damage.at,
            what: damage.what,
            file: damage.file,
            recovered: damage.recovered,
            lost: damage.lost,
        });
        told.collect()
    }

    /// Up to when acknowledged notifications were forgotten before their time, while that time lasts.
    pub fn shorter_memory(&self) -> Option<Timestamp> {
        let until = self.buffer.forgotten_until()?;
        (self.clock.now().since(until) < ACK_MEMORY).then_some(until)
    }
}

/// An event as it travels: the message's id where it is about one, and the rest in words.
fn told(event: store::buffer::SiteEvent) -> SiteEvent {
    let mut words = match event.category {
        Some(category) => format!("{category} to {}", event.target),
        None => event.target,
    };
    if event.message.is_none() {
        words = format!("{} × {words}", event.n);
    }
    if let Some(actor) = event.actor {
        words = format!("{words}, by {actor}");
    }
    if let Some(detail) = event.detail {
        words = format!("{words}: {detail}");
    }
    SiteEvent {
        at: event.at,
        what: event.what.as_str().to_owned(),
        message: event.message.map(|id| id.to_string()).unwrap_or_default(),
        detail: Some(words),
    }
}
