//! `waypost bench`: lends the benchmarks the wiring of `serve` and `site`.

use crate::{
    config::{replication::Replication, secret::Secret, server::Server, site::Site as Config},
    wiring::{links, machine::Machine, metrics, site as wired},
};
pub use bench::Args;
use bench::wiring::{RunningSite, SitePlace, Wiring};
use central::Central;
use domain::{SystemClock, Tracer};
use site::{Site, pair::LeaseState};
use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub async fn run(args: Args) -> anyhow::Result<()> {
    bench::run(args, &AsServed).await
}

struct AsServed;

#[async_trait::async_trait]
impl Wiring for AsServed {
    fn count(&self) -> anyhow::Result<()> {
        metrics::install(&[]).map(drop)
    }

    async fn site(&self, place: &SitePlace, stop: CancellationToken) -> anyhow::Result<Box<dyn RunningSite>> {
        let site = wired::start(&of(place), None, Tracer::default(), stop).await?;
        Ok(Box::new(site))
    }

    fn standby(&self, place: &SitePlace, stop: CancellationToken) -> JoinHandle<anyhow::Result<()>> {
        let config = Config {
            // It is told who is active, and takes over from nobody.
            central: vec![],
            ..of(place)
        };
        let machine = Machine {
            leases: LeaseState::started(config.replication.lease, Arc::new(SystemClock)),
            config,
            metrics: None,
            tracer: Tracer::default(),
        };
        tokio::spawn(async move { machine.run(stop, |_| Ok(())).await })
    }

    async fn links(
        &self,
        listen: SocketAddr,
        central: &Central,
        stop: CancellationToken,
    ) -> anyhow::Result<JoinHandle<io::Result<()>>> {
        let server = Server {
            link_listen: listen,
            ..Server::default()
        };
        Ok(links::start(&server, central, stop).await?.server)
    }
}

fn of(place: &SitePlace) -> Config {
    let replication = place.pair.map(|[listen, peer]| Replication {
        listen: Some(listen),
        peer: Some(format!("http://{peer}")),
        ..Replication::default()
    });
    Config {
        id: Some(place.id.into()),
        central: vec![format!("http://{}", place.central)],
        key: Some(Secret::new(place.key.clone())),
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        database: place.database.clone(),
        replication: replication.unwrap_or_default(),
        ..Config::default()
    }
}

#[async_trait::async_trait]
impl RunningSite for wired::RunningSite {
    fn site(&self) -> &Arc<Site> {
        &self.agent.site
    }

    fn address(&self) -> SocketAddr {
        self.address
    }

    async fn finished(self: Box<Self>) -> anyhow::Result<()> {
        wired::RunningSite::finished(*self).await.map(drop)
    }
}
