//! The sites of the demo. `plant-north` has two machines; the link of `plant-south` has a plug that is pulled now and then.

use super::{north::North, tour::TOUR_TIMEOUT, world::World};
use crate::{
    config::{server::Server, site::Site as Config, site_targets::System},
    wiring::{
        links::{self, Links},
        site::{self as wired, RunningSite},
    },
};
use central::Central;
use client::site::{Notify, Site};
use domain::{Actor, SiteId, TenantId, Tracer};
use simulator::{HeldPort, HttpReceiver};
use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Answers 503 twice, then takes what it is sent.
pub const ERP_PATH: &str = "/erp";

pub struct Sites {
    pub north: Site,
    pub south: Site,
    pub machines: North,
    running: RunningSite,
    central: Central,
    link: Links,
    stop: CancellationToken,
    plug: Plug,
}

/// Where `plant-south` connects, while it can.
struct Plug {
    /// It comes back to the same.
    port: HeldPort,
    stop: CancellationToken,
    server: Option<tokio::task::JoinHandle<std::io::Result<()>>>,
}

impl Sites {
    pub async fn start(central: &Central, folder: &Path, http: &HttpReceiver) -> anyhow::Result<Self> {
        let stop = CancellationToken::new();
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let link = links::start(&at(any_port), central, stop.clone()).await?;
        let plugged = CancellationToken::new();
        let port = HeldPort::find()?;
        let other = links::listen(&at(port.address()), central, plugged.clone())?;
        let mut configs = vec![];
        for (id, address) in [("plant-north", link.address), ("plant-south", other.address)] {
            let key = central
                .sites
                .register(TenantId::DEFAULT, &SiteId::new(id), &Actor::system())
                .await?
                .key;
            configs.push(config(id, address, key, folder, http));
        }
        let running = wired::start(&configs[1], None, Tracer::default(), stop.clone()).await?;
        let machines = North::start(configs.swap_remove(0), folder).await?;
        Ok(Self {
            north: machines.site(),
            south: Site::new(&format!("http://{}", running.address), "")?,
            machines,
            running,
            central: central.clone(),
            link,
            stop,
            plug: Plug {
                port,
                stop: plugged,
                server: Some(other.server),
            },
        })
    }

    /// `plant-south` loses its link.
    pub async fn unplug(&mut self) {
        self.plug.stop.cancel();
        if let Some(server) = self.plug.server.take() {
            let _ = server.await;
        }
    }

    /// And gets it back.
    pub fn plug_in(&mut self) -> anyhow::Result<()> {
        self.plug.stop = CancellationToken::new();
        let link = links::listen(
            &at(self.plug.port.address()),
            &self.central,
            self.plug.stop.clone(),
        )?;
        self.plug.server = Some(link.server);
        Ok(())
    }

    pub async fn stop(mut self) {
        self.stop.cancel();
        self.unplug().await;
        self.machines.stop().await;
        if let Err(error) = self.running.finished().await {
            tracing::warn!(
                error = format!("{error:#}"),
                "a site of the demo did not end well"
            );
        }
        let _ = self.link.server.await;
    }
}

fn at(link_listen: SocketAddr) -> Server {
    Server {
        link_listen,
        ..Server::default()
    }
}

fn config(id: &str, central: SocketAddr, key: String, folder: &Path, http: &HttpReceiver) -> Config {
    let erp = System::at("erp", http.url(ERP_PATH));
    Config {
        id: Some(id.into()),
        central: vec![format!("http://{central}")],
        key: Some(crate::config::secret::Secret::new(key)),
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        database: folder.join(format!("{id}.db")),
        default_retry_interval: Duration::from_secs(1),
        retry_timer_interval: Duration::from_millis(500),
        system: vec![erp],
        ..Config::default()
    }
}

/// What the tour shows of sites; whether it went as it should.
pub async fn tour(world: &mut World) -> anyhow::Result<bool> {
    let mut well = true;
    world.sites.unplug().await;
    let south = world.sites.south.clone();
    let id = Notify::to("ops")
        .send(&south, "Crane 7 is idle", "Sent by the demo.")
        .await?;
    let waits = south.status(id).await?;
    println!(
        "plant-south has lost its link and keeps a notification: {}.",
        waits.status
    );
    well &= waits.status == "Forwarding";
    let north = world.sites.north.clone();
    let call = north
        .call("erp")
        .post("/orders")
        .json(&serde_json::json!({"item": 7}))
        .send()
        .await?;
    println!(
        "plant-north calls a system that answers 503: {}.",
        call.last_error.as_deref().unwrap_or("delivered at once")
    );
    well &= call.was_buffered;
    let (name, north, took) = world.sites.machines.fail_over().await?;
    println!(
        "The active machine of plant-north was switched off: after {} s {name} had taken over, with the call and with central's leave.",
        took.as_secs()
    );
    world.sites.plug_in()?;
    let arrived = tokio::time::timeout(TOUR_TIMEOUT, async {
        while south.status(id).await?.status != "Delivered" {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        while north.tracking(call.tracked_operation_id).await?.status
            != domain::site::OperationStatus::Delivered
        {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Ok::<_, client::Error>(())
    })
    .await;
    match arrived {
        Ok(Ok(())) => println!("The link is back: the notification was delivered, and so was the call.\n"),
        Ok(Err(error)) => return Err(error.into()),
        Err(_) => {
            println!("The link is back, but not everything of the sites arrived within three minutes.\n");
            well = false;
        }
    }
    Ok(well)
}
