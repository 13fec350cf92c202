//! `waypost bench`: lends the benchmarks the wiring of `serve` and `site`.

use crate::{
    config::{secret::Secret, server::Server, site::Site as Config},
    wiring::{links, metrics, site as wired},
};
pub use bench::Args;
use bench::wiring::{RunningSite, SitePlace, Wiring};
use central::Central;
use domain::Tracer;
use site::Site;
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
        let config = Config {
            id: Some(place.id.into()),
            central: vec![format!("http://{}", place.central)],
            key: Some(Secret::new(place.key.clone())),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            database: place.database.clone(),
            ..Config::default()
        };
        let site = wired::start(&config, None, Tracer::default(), stop).await?;
        Ok(Box::new(site))
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

#[async_trait::async_trait]
impl RunningSite for wired::RunningSite {
    fn site(&self) -> &Arc<Site> {
        &self.agent.site
    }

    async fn finished(self: Box<Self>) -> anyhow::Result<()> {
        wired::RunningSite::finished(*self).await.map(drop)
    }
}
