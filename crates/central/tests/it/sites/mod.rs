//! Sites at central: over a real link in memory, into a real store.

mod bulk;
mod conflict;
mod door;
mod handing_in;
mod pair;
mod pair_turns;
mod parked;
mod presence;
mod waiting;

use crate::world::{TENANT, World, somebody};
use central::sites::{Presence, SiteService};
use domain::{AuditKind, Clock, Jitter, SiteId};
use link::{
    LinkClient, LinkState, Options, Uplink,
    server::{self, Identity},
};
use std::sync::Arc;
use store::query::{AuditFilter, AuditRow, Page};
use testkit::{Network, eventually, site::ASite};
use tokio_util::sync::CancellationToken;

fn north() -> SiteId {
    SiteId::new("north")
}

struct Linked {
    world: World,
    network: Network,
    site: Arc<ASite>,
    link: LinkClient,
    stop_central: CancellationToken,
    stop_site: CancellationToken,
    key: String,
}

impl Linked {
    async fn new() -> Self {
        Self::over(World::new().await).await
    }

    async fn over(world: World) -> Self {
        let service = &world.central.sites;
        let key = service.register(TENANT, &north(), &somebody()).await.unwrap().key;
        let network = Network::default();
        let stop_central = CancellationToken::new();
        serve(&world, &network, &stop_central).await;
        let site = Arc::new(ASite::default());
        let link = LinkClient::new(options(&world, &network, "north", &key));
        let stop_site = CancellationToken::new();
        tokio::spawn(link.clone().run(site.clone(), stop_site.clone()));
        let linked = Self {
            world,
            network,
            site,
            link,
            stop_central,
            stop_site,
            key,
        };
        linked.up().await;
        linked
    }

    async fn up(&self) {
        self.link.state().wait_for(LinkState::is_up).await.unwrap();
    }

    async fn down(&self) -> String {
        let mut state = self.link.state();
        match &*state.wait_for(|s| !s.is_up()).await.unwrap() {
            LinkState::Down { why, .. } => why.clone(),
            LinkState::Up { .. } => unreachable!(),
        }
    }

    /// Central has noticed that the site is gone, and has written that down.
    async fn gone(&self) {
        self.network.cut();
        let store = &self.world.temp.store;
        eventually("central to see it gone", async || {
            let site = store.site(TENANT, &north()).await.unwrap().unwrap();
            let here = self.world.central.sites.registry().find(TENANT, &north());
            (here.is_none() && site.session.is_none()).then_some(())
        })
        .await;
    }

    /// The site's agent ends in order, and central has seen it.
    async fn leaves(&self) {
        self.stop_site.cancel();
        let registry = self.world.central.sites.registry();
        eventually("central to see it leave", async || {
            registry.find(TENANT, &north()).is_none().then_some(())
        })
        .await;
    }

    async fn presence(&self) -> Presence {
        let site = self.world.central.sites.get(TENANT, &north()).await.unwrap();
        site.unwrap().presence
    }

    async fn log(&self, kind: AuditKind) -> Vec<AuditRow> {
        let filter = AuditFilter {
            kind: Some(kind),
            ..AuditFilter::default()
        };
        self.world
            .central
            .store
            .audit(TENANT, &filter, everything())
            .await
            .unwrap()
            .rows
    }
}

fn everything() -> Page {
    Page {
        limit: 1_000,
        after: None,
    }
}

async fn serve(world: &World, network: &Network, stop: &CancellationToken) {
    serve_node(&world.central.sites, network, stop).await;
}

async fn serve_node(service: &SiteService, network: &Network, stop: &CancellationToken) {
    service.begin().await.unwrap();
    let identity = Identity {
        node: "node-1".into(),
        version: "0.1.0".into(),
    };
    tokio::spawn(server::serve(
        network.incoming(),
        identity,
        service.gateway(),
        stop.clone(),
    ));
}

fn options(world: &World, network: &Network, site: &str, key: &str) -> Options {
    let clock: Arc<dyn Clock> = world.temp.clock.clone();
    let central = vec!["http://127.0.0.1:7443".parse().unwrap()];
    Options {
        dial: Arc::new(network.clone()),
        clock,
        jitter: Arc::new(|| Jitter::NONE),
        node: "n1".into(),
        ..Options::new(SiteId::new(site), key.to_owned().into(), central)
    }
}

/// What a link to central says when it is not let in.
async fn refused(linked: &Linked, site: &str, key: &str) -> String {
    let link = LinkClient::new(options(&linked.world, &linked.network, site, key));
    let stop = CancellationToken::new();
    tokio::spawn(link.clone().run(linked.site.clone(), stop.clone()));
    let mut state = link.state();
    let answered = |s: &LinkState| !matches!(s, LinkState::Down { why, .. } if why == "not connected yet");
    let state = state.wait_for(answered).await.unwrap().clone();
    stop.cancel();
    match state {
        LinkState::Down { why, .. } => why,
        LinkState::Up { .. } => panic!("it was let in"),
    }
}
