//! A site at work: the loops around a [`Site`], started and stopped together.

use crate::{
    background::{Due, Purge},
    forwarder::{Forwarder, Forwarding},
    pair::{OwnForwarding, OwnRows, Renewing, Watch},
    site::Site,
    telemetry::Reporter,
};
use std::sync::Arc;
use store::{
    Result,
    loops::{Loop, Loops},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{error, info, warn};

/// A running site.
#[derive(Debug)]
pub struct Agent {
    pub site: Arc<Site>,
    /// What runs in the background, and how it is doing.
    pub loops: Loops,
    tasks: TaskTracker,
    stop: CancellationToken,
    /// The lease is asked for until the last attempt has ended.
    stop_leasing: CancellationToken,
}

impl Agent {
    /// Takes up what the last process left, and starts the loops. Notifications are forwarded if the site is
    /// connected ([`Site::connect`]). A standby only keeps its copy up to date.
    pub async fn start(site: Arc<Site>) -> Result<Self> {
        if site.pair().is_none() {
            site.buffer.leave_pair().await?;
        }
        if site.is_standby() {
            info!(site.id = %site.settings.id, "the site agent runs as the standby: it keeps a copy and sends nothing");
            return Ok(Self::with_loops(site, Self::start_standby));
        }
        match site.pair() {
            Some(pair) => pair.takes_its_own().await?,
            None => {
                let (settings, clock) = (&site.settings, site.clock.clone());
                let own = OwnRows::beside(&site.buffer, &settings.node, clock);
                own.take_into(&site.buffer).await.map(drop)?
            }
        }
        for damage in site.buffer.damage().await? {
            error!(
                file = damage.file,
                what = damage.what,
                "damage nobody has acknowledged"
            );
        }
        let interrupted = site.engine.resume().await?;
        if interrupted > 0 {
            warn!(
                n = interrupted,
                "attempts were interrupted when the agent ended; they are made again"
            );
        }
        // The clock may have been set while nobody looked.
        let pulled_in = site.engine.clock_went_back().await?;
        if pulled_in > 0 {
            warn!(
                n = pulled_in,
                "messages were due later than their interval allows; the clock was set back, and they are tried sooner"
            );
        }
        let depth = site.buffer.depth();
        info!(
            site.id = %site.settings.id,
            waiting = depth.waiting(),
            parked = depth.all_parked(),
            "the site agent runs"
        );
        Ok(Self::with_loops(site, Self::start_loops))
    }

    fn with_loops(site: Arc<Site>, start: fn(&Self)) -> Self {
        let agent = Self {
            loops: Loops::new(site.clock.clone()),
            site,
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            stop_leasing: CancellationToken::new(),
        };
        start(&agent);
        agent
    }

    fn start_standby(&self) {
        self.start_watch();
        let pair = self.site.pair().cloned();
        if let Some(forwarding) = pair.and_then(|pair| OwnForwarding::new(pair, self.stop.clone())) {
            self.keep(forwarding);
        }
    }

    fn start_watch(&self) {
        if let Some(pair) = self.site.pair() {
            self.keep(Watch::new(pair.clone(), self.stop.clone()));
            if let Some(renewing) = Renewing::new(pair.clone(), self.stop_leasing.clone()) {
                self.loops.start(&self.tasks, &self.stop_leasing, renewing);
            }
        }
    }

    fn start_loops(&self) {
        let site = &self.site;
        let forwarder = site.uplink().map(|uplink| {
            Arc::new(Forwarder {
                buffer: site.buffer.clone(),
                uplink: uplink.clone(),
                settings: site.settings.clone(),
                clock: site.clock.clone(),
                of_pair: site.pair().is_some(),
            })
        });
        if let (Some(forwarder), Some(uplink)) = (&forwarder, site.uplink()) {
            self.keep(Forwarding::new(forwarder.clone(), self.stop.clone()));
            self.keep(Reporter::new(
                site.buffer.clone(),
                uplink.clone(),
                self.stop.clone(),
            ));
        } else {
            warn!("no central is configured: notifications stay in the buffer");
        }
        self.keep(Due::new(site.clone(), forwarder));
        self.keep(Purge { site: site.clone() });
        self.start_watch();
    }

    fn keep(&self, work: impl Loop) {
        self.loops.start(&self.tasks, &self.stop, work);
    }

    /// Begins nothing new and waits for attempts under way.
    pub async fn rest(&self) {
        self.stop.cancel();
        self.tasks.close();
        if self.site.is_standby() {
            self.stop_leasing.cancel();
        }
        self.site.engine.stop().await;
        self.stop_leasing.cancel();
        self.tasks.wait().await;
    }

    /// The same, and lets the standby fetch how everything ended: one that takes over makes nothing of it again. To be called while
    /// the standby is still answered.
    pub async fn finish(&self) {
        self.rest().await;
        if let Some(pair) = self.site.pair() {
            pair.lets_standby_catch_up().await;
        }
    }

    /// Rests, and closes the buffer.
    pub async fn stop(&self) {
        self.rest().await;
        if let Some(pair) = self.site.pair() {
            pair.own.close().await;
        }
        self.site.buffer.close().await;
        info!(site.id = %self.site.settings.id, "the site agent has stopped");
    }
}
