//! The two machines of `plant-north`. One of them is switched off now and then, and the other takes over.

use crate::{
    config::{replication::Replication, site::Site as Config},
    wiring::machine,
};
use ::site::pair::LeaseState;
use anyhow::Context;
use client::site::{Pair, Site};
use domain::{SystemClock, Tracer};
use simulator::HeldPort;
use std::{
    net::SocketAddr,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    sync::mpsc,
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

/// As short as it may be: nobody wants to watch a demo wait.
pub const LEASE: Duration = Duration::from_secs(1);
const TAKEOVER_TIMEOUT: Duration = Duration::from_secs(180);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Both machines.
pub struct North {
    machines: [Machine; 2],
    /// Where the machines hear each other and are asked, and come back to after each turn.
    _ports: [HeldPort; 4],
}

struct Machine {
    config: Config,
    site: Site,
    running: Option<(CancellationToken, JoinHandle<anyhow::Result<()>>)>,
}

impl North {
    /// Both are there and the first is active when this returns.
    pub async fn start(config: Config, folder: &Path) -> anyhow::Result<Self> {
        let ports = [
            HeldPort::find()?,
            HeldPort::find()?,
            HeldPort::find()?,
            HeldPort::find()?,
        ];
        let [a, b, listen_a, listen_b] = ports.each_ref().map(HeldPort::address);
        let north = Self {
            machines: [
                Machine::start(one_of_two(&config, folder, "a", listen_a, [a, b])).await?,
                Machine::start(one_of_two(&config, folder, "b", listen_b, [b, a])).await?,
            ],
            _ports: ports,
        };
        north.machines[0].site.promote(false).await?;
        north
            .until("plant-north to be active", &[0], |pair| pair.role == "Active")
            .await?;
        Ok(north)
    }

    /// What a program uses that knows both machines.
    pub fn site(&self) -> Site {
        let [first, second] = &self.machines;
        first.site.clone().or(second.site.clone())
    }

    pub fn urls(&self) -> [&str; 2] {
        [self.machines[0].site.url(), self.machines[1].site.url()]
    }

    /// Switches the active machine off, once the other has everything it has, and waits until that one has taken over: its name,
    /// itself, and how long it took.
    pub async fn fail_over(&mut self) -> anyhow::Result<(String, Site, Duration)> {
        // Whichever is active by then: where this process stood still for a while, they may have taken turns by themselves.
        let active = self
            .until("the standby to follow", &[0, 1], |pair| {
                let follows = pair.lease_by.as_deref() == Some("Standby") && pair.behind == Some(0);
                pair.role == "Active" && follows
            })
            .await?;
        let other = 1 - active;
        let off = Instant::now();
        self.machines[active].stop().await?;
        self.until("the standby to take over", &[other], |pair| {
            pair.role == "Active" && pair.lease_by.is_some()
        })
        .await?;
        let other = &self.machines[other];
        Ok((other.name(), other.site.clone(), off.elapsed()))
    }

    /// Switches the machine on again that was switched off. It follows the other.
    pub async fn switch_on(&mut self) -> anyhow::Result<()> {
        for machine in &mut self.machines {
            if machine.running.is_none() {
                *machine = Machine::start(machine.config.clone()).await?;
            }
        }
        Ok(())
    }

    /// The first of these machines of which it is so.
    async fn until(&self, what: &str, of: &[usize], is_so: impl Fn(&Pair) -> bool) -> anyhow::Result<usize> {
        let look = async {
            loop {
                for n in of {
                    // While it starts anew it does not answer.
                    if self.machines[*n].site.pair().await.is_ok_and(|pair| is_so(&pair)) {
                        return *n;
                    }
                }
                sleep(LOOK_AGAIN).await;
            }
        };
        timeout(TAKEOVER_TIMEOUT, look)
            .await
            .with_context(|| format!("waited in vain for {what}"))
    }

    pub async fn stop(mut self) {
        for machine in &mut self.machines {
            if let Err(error) = machine.stop().await {
                tracing::warn!(
                    error = format!("{error:#}"),
                    "a machine of the demo did not end well"
                );
            }
        }
    }
}

impl Machine {
    async fn start(config: Config) -> anyhow::Result<Self> {
        let stop = CancellationToken::new();
        let (started, mut starts) = mpsc::unbounded_channel();
        let machine = machine::Machine {
            config: config.clone(),
            metrics: None,
            tracer: Tracer::default(),
            // Nothing was promised before in a folder that is new; one that comes back has been away for longer than a lease.
            leases: LeaseState::new(LEASE, Arc::new(SystemClock)),
        };
        let running = tokio::spawn(machine.run(stop.clone(), move |running| {
            let _ = started.send(running.address);
            Ok(())
        }));
        let Some(address) = starts.recv().await else {
            running.await??;
            anyhow::bail!("a machine of plant-north ended before it had begun");
        };
        Ok(Self {
            site: Site::new(&format!("http://{address}"), "")?,
            running: Some((stop, running)),
            config,
        })
    }

    fn name(&self) -> String {
        self.config.node.clone().unwrap_or_default()
    }

    async fn stop(&mut self) -> anyhow::Result<()> {
        match self.running.take() {
            None => Ok(()),
            Some((stop, running)) => {
                stop.cancel();
                running.await?
            }
        }
    }
}

fn one_of_two(
    config: &Config,
    folder: &Path,
    letter: &str,
    listen: SocketAddr,
    [here, there]: [SocketAddr; 2],
) -> Config {
    let name = format!("plant-north-{letter}");
    Config {
        database: folder.join(format!("{name}.db")),
        node: Some(name),
        listen,
        replication: Replication {
            listen: Some(here),
            peer: Some(format!("http://{there}")),
            lease: LEASE,
            ..Replication::default()
        },
        ..config.clone()
    }
}
