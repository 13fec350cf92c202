//! A site and a central made of nothing but the link: what central was told is kept in memory.

use domain::{
    Clock, Jitter, ManualClock, NotificationId, SiteId, Status,
    site::{DatabaseIdentity, Telemetry},
};
use link::{
    Ack, Address, Forward, LinkClient, LinkState, Options, RemoteStatus, SiteReport, Uplink,
    client::Pace,
    server::{self, Gateway, Identity, Refusal, RemoteSite, SiteHello, SiteSession},
};
use secrecy::ExposeSecret;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};
use testkit::Network;
pub use testkit::site::{ASite, a_forward, a_full_forward, a_parked_message, a_telemetry, a_waiting_message};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub const KEY: &str = "wp_north";

/// Central: keeps ids in memory and answers as told.
pub struct Central {
    pub rows: Mutex<BTreeMap<NotificationId, Forward>>,
    pub heard: Mutex<BTreeSet<Uuid>>,
    pub reports: watch::Sender<Option<SiteReport>>,
    pub left: Mutex<Vec<String>>,
    pub site: Mutex<Option<RemoteSite>>,
    pub database: watch::Sender<DatabaseIdentity>,
    /// While false, batches are worked on and not finished.
    pub may_finish: watch::Sender<bool>,
    pub working: Notify,
    pub most_at_once: Mutex<(usize, usize)>,
}

pub fn a_database() -> DatabaseIdentity {
    DatabaseIdentity {
        id: Uuid::new_v4(),
        epoch: "1".into(),
    }
}

impl Default for Central {
    fn default() -> Self {
        Self {
            rows: Mutex::default(),
            heard: Mutex::default(),
            reports: watch::Sender::new(None),
            left: Mutex::default(),
            site: Mutex::default(),
            database: watch::Sender::new(a_database()),
            may_finish: watch::Sender::new(true),
            working: Notify::new(),
            most_at_once: Mutex::default(),
        }
    }
}

pub struct Admitting(pub Arc<Central>);

#[tonic::async_trait]
impl Gateway for Admitting {
    async fn admit(&self, hello: SiteHello, remote: RemoteSite) -> Result<Arc<dyn SiteSession>, Refusal> {
        if hello.key.expose_secret() != KEY || hello.site.as_str() != "north" {
            return Err(Refusal::Denied(format!(
                "the key is not the one of site {}",
                hello.site
            )));
        }
        *self.0.site.lock().unwrap() = Some(remote);
        Ok(Arc::new(Session(self.0.clone())))
    }
}

struct Session(Arc<Central>);

#[tonic::async_trait]
impl SiteSession for Session {
    fn database(&self) -> watch::Receiver<DatabaseIdentity> {
        self.0.database.subscribe()
    }

    async fn submit(&self, batch: Vec<Forward>) -> Vec<Ack> {
        {
            let mut at_once = self.0.most_at_once.lock().unwrap();
            at_once.0 += 1;
            at_once.1 = at_once.1.max(at_once.0);
        }
        self.0.working.notify_waiters();
        self.0.may_finish.subscribe().wait_for(|may| *may).await.ok();
        self.0.most_at_once.lock().unwrap().0 -= 1;
        let mut rows = self.0.rows.lock().unwrap();
        let store = |item: Forward| {
            if item.content.subject == "bad" {
                return Ack::Refused("subject must not be bad".into());
            }
            match rows.insert(item.id, item) {
                None => Ack::Accepted,
                Some(_) => Ack::Duplicate,
            }
        };
        batch.into_iter().map(store).collect()
    }

    async fn status(&self, id: NotificationId) -> Result<Option<RemoteStatus>, String> {
        let rows = self.0.rows.lock().unwrap();
        Ok(rows.get(&id).map(|row| RemoteStatus {
            status: Status::Retrying,
            retry_count: 2,
            last_error: Some("451".into()),
            enqueued_at: row.site_enqueued_at,
            delivered_at: None,
            receipt: None,
        }))
    }

    async fn telemetry(&self, batch: Vec<Telemetry>) -> Vec<bool> {
        let mut heard = self.0.heard.lock().unwrap();
        batch
            .into_iter()
            .map(|t| {
                heard.insert(t.id);
                true
            })
            .collect()
    }

    fn reported(&self, report: SiteReport) {
        self.0.reports.send_replace(Some(report));
    }

    async fn left(&self, why: &str) {
        self.0.left.lock().unwrap().push(why.into());
    }
}

pub struct World {
    pub network: Network,
    pub central: Arc<Central>,
    pub site: Arc<ASite>,
    pub clock: Arc<ManualClock>,
    pub stop_central: CancellationToken,
    pub stop_site: CancellationToken,
}

impl World {
    pub fn new() -> Self {
        let world = Self {
            network: Network::default(),
            central: Arc::default(),
            site: Arc::default(),
            clock: Arc::default(),
            stop_central: CancellationToken::new(),
            stop_site: CancellationToken::new(),
        };
        world.start_central(world.stop_central.clone());
        world
    }

    pub fn start_central(&self, stop: CancellationToken) -> tokio::task::JoinHandle<std::io::Result<()>> {
        let identity = Identity {
            node: "c1".into(),
            version: "0.1.0".into(),
        };
        let gateway = Arc::new(Admitting(self.central.clone()));
        tokio::spawn(server::serve(self.network.incoming(), identity, gateway, stop))
    }

    pub fn options(&self, addresses: &[&str]) -> Options {
        let clock: Arc<dyn Clock> = self.clock.clone();
        Options {
            dial: Arc::new(self.network.clone()),
            clock,
            jitter: Arc::new(|| Jitter::NONE),
            node: "n1".into(),
            insecure: true,
            ..Options::new(
                SiteId::new("north"),
                KEY.into(),
                addresses.iter().map(|a| a.parse::<Address>().unwrap()).collect(),
            )
        }
    }

    pub fn link(&self) -> LinkClient {
        self.link_with(self.options(&["http://central:7443"]))
    }

    pub fn link_with(&self, options: Options) -> LinkClient {
        let link = LinkClient::new(options);
        tokio::spawn(link.clone().run(self.site.clone(), self.stop_site.clone()));
        link
    }

    pub async fn connected(&self) -> LinkClient {
        let link = self.link();
        up(&link).await;
        link
    }
}

pub fn hasty() -> Pace {
    Pace {
        answer: Duration::from_secs(5),
        ..Pace::default()
    }
}

pub async fn up(link: &LinkClient) {
    link.state().wait_for(LinkState::is_up).await.unwrap();
}

pub async fn down(link: &LinkClient) -> String {
    match &*link.state().wait_for(|s| !s.is_up()).await.unwrap() {
        LinkState::Down { why, .. } => why.clone(),
        LinkState::Up { .. } => unreachable!(),
    }
}

/// Down, and for a reason that contains this.
pub async fn down_because(link: &LinkClient, part: &str) -> String {
    let mut state = link.state();
    let found = state.wait_for(|s| matches!(s, LinkState::Down { why, .. } if why.contains(part)));
    match &*found.await.unwrap() {
        LinkState::Down { why, .. } => why.clone(),
        LinkState::Up { .. } => unreachable!(),
    }
}
