//! A site beside a [`Rig`], wired as `waypost site` wires it, and the port of central it dials, plugged in or not.

use super::{
    context::Bench,
    halves::Share,
    rig::Rig,
    wiring::{RunningSite, SitePlace},
};
use anyhow::Context;
use domain::{Actor, SiteId, TenantId};
use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const ID: &str = "bench";

/// Where a site keeps its messages, and where it looks for central.
pub struct SiteRig {
    folder: TempDir,
    pub central: SocketAddr,
    pub key: String,
    /// Where its two machines answer each other, if it has two.
    pair: Option<[SocketAddr; 2]>,
}

/// The other machine of a site, in this process as well, on processors of its own or on threads that get what the others leave: what it
/// does by itself is done by another processor in earnest. What it asks of the active one is done on the active's own threads.
pub struct Standby {
    runs: thread::JoinHandle<anyhow::Result<()>>,
    stop: CancellationToken,
}

/// A site at work in this process.
pub struct Running {
    site: Box<dyn RunningSite>,
    stop: CancellationToken,
}

/// Central's end of the link.
pub struct Plug {
    links: JoinHandle<io::Result<()>>,
    stop: CancellationToken,
}

impl SiteRig {
    /// A site that does not know central; its messages stay.
    pub fn alone(folder: TempDir) -> anyhow::Result<Self> {
        Ok(Self {
            folder,
            central: closed_port()?,
            key: "wps_none".into(),
            pair: None,
        })
    }

    /// From its next start on this machine is one of two. It has to hold something, or it waits for somebody to make it the active one.
    pub fn with_two_machines(self) -> anyhow::Result<Self> {
        // Held together, so that they differ.
        let free = [listener()?, listener()?];
        Ok(Self {
            pair: Some([free[0].local_addr()?, free[1].local_addr()?]),
            ..self
        })
    }

    /// A site that central knows. Its link is down until [`SiteRig::plug_in`].
    pub async fn of(rig: &Rig, folder: TempDir) -> anyhow::Result<Self> {
        let (id, actor) = (SiteId::new(ID), Actor::system());
        let made = rig.central.sites.register(TenantId::DEFAULT, &id, &actor).await?;
        Ok(Self {
            key: made.key,
            ..Self::alone(folder)?
        })
    }

    pub async fn start(&self, bench: &Bench) -> anyhow::Result<Running> {
        let stop = CancellationToken::new();
        let place = self.place(self.database(), self.pair);
        Ok(Running {
            site: bench.wiring.site(&place, stop.clone()).await?,
            stop,
        })
    }

    /// Starts the other machine, with an empty file.
    pub fn start_standby(&self, bench: &Bench, share: Share) -> anyhow::Result<Standby> {
        let stop = CancellationToken::new();
        let there = self.pair.map(|[listen, peer]| [peer, listen]);
        let place = self.place(self.folder.path().join("standby.db"), there);
        let (wiring, until) = (bench.wiring, stop.clone());
        let runs = thread::Builder::new().name("standby".into()).spawn(move || {
            // Threads that are started from here on have it as well.
            match share {
                Share::All => take_what_is_left(),
                half => half.bind()?,
            }
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(async { wiring.standby(&place, until).await? })
        })?;
        Ok(Standby { runs, stop })
    }

    fn place(&self, database: PathBuf, pair: Option<[SocketAddr; 2]>) -> SitePlace {
        SitePlace {
            id: ID,
            central: self.central,
            key: self.key.clone(),
            database,
            pair,
        }
    }

    pub async fn plug_in(&self, bench: &Bench, rig: &Rig) -> anyhow::Result<Plug> {
        let stop = CancellationToken::new();
        let links = bench.wiring.links(self.central, &rig.central, stop.clone());
        Ok(Plug {
            links: links.await?,
            stop,
        })
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn database(&self) -> PathBuf {
        self.folder.path().join("store-and-forward.db")
    }

    /// How many of its messages central has not got yet, as central was told last; none until it was.
    pub async fn waiting_as_told(rig: &Rig) -> anyhow::Result<Option<u64>> {
        let site = rig.central.sites.get(TenantId::DEFAULT, &SiteId::new(ID)).await?;
        let report = site.context("central does not know the site")?.report;
        Ok(report.map(|report| report.backlog.values().sum()))
    }
}

impl Running {
    pub fn site(&self) -> &Arc<site::Site> {
        self.site.site()
    }

    /// Where scripts post what they send.
    pub fn notify_url(&self) -> String {
        format!("http://{}/notify", self.site.address())
    }

    pub async fn stop(self) -> anyhow::Result<()> {
        self.stop.cancel();
        self.site.finished().await
    }
}

impl Standby {
    pub async fn stop(self) -> anyhow::Result<()> {
        self.stop.cancel();
        let ended = tokio::task::spawn_blocking(move || self.runs.join());
        ended
            .await?
            .map_err(|_| anyhow::anyhow!("the standby panicked"))?
    }
}

impl Plug {
    pub async fn pull(self) -> anyhow::Result<()> {
        self.stop.cancel();
        Ok(self.links.await??)
    }
}

/// The lowest priority for this thread, where there are priorities of threads.
fn take_what_is_left() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::warn!(%error, "the standby has the same priority as what is measured");
    }
}

/// A port on which nobody listens just now.
fn closed_port() -> std::io::Result<SocketAddr> {
    listener()?.local_addr()
}

fn listener() -> std::io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
}
