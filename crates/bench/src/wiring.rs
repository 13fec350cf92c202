//! What the binary lends: its own wiring, so that what is measured is what `serve` and `site` run.

use central::Central;
use site::Site;
use std::{io, net::SocketAddr, path::PathBuf, sync::Arc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

#[async_trait::async_trait]
pub trait Wiring: Sync {
    /// Begins to count as `serve` does, for that costs time too.
    fn count(&self) -> anyhow::Result<()>;

    /// An agent as `waypost site` starts it, until `stop`.
    async fn site(&self, place: &SitePlace, stop: CancellationToken) -> anyhow::Result<Box<dyn RunningSite>>;

    /// The other machine of the site as `waypost site` runs it, until `stop`. It begins empty and keeps a copy.
    fn standby(&self, place: &SitePlace, stop: CancellationToken) -> JoinHandle<anyhow::Result<()>>;

    /// Lets sites in as `serve` does, until `stop`.
    async fn links(
        &self,
        listen: SocketAddr,
        central: &Central,
        stop: CancellationToken,
    ) -> anyhow::Result<JoinHandle<io::Result<()>>>;
}

/// Who an agent is, where it looks for central and where it keeps its messages.
#[derive(Debug)]
pub struct SitePlace {
    pub id: &'static str,
    pub central: SocketAddr,
    pub key: String,
    pub database: PathBuf,
    /// Where this machine and the other one of the site answer each other, if it has two.
    pub pair: Option<[SocketAddr; 2]>,
}

#[async_trait::async_trait]
pub trait RunningSite: Send + Sync {
    fn site(&self) -> &Arc<Site>;

    /// Where its local API listens.
    fn address(&self) -> SocketAddr;

    /// After the stop: everything under way has ended.
    async fn finished(self: Box<Self>) -> anyhow::Result<()>;
}
