//! A site at work: the loops around a [`Site`], started and stopped together.

use crate::{forwarder::Forwarder, gauges, site::Site, telemetry::Reporter};
use domain::{ClockJump, ClockWatch, Timestamp, chain, retry};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use store::{Result, vital::Vitals};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{error, info, warn};

/// How often what is past its time goes.
const PURGE: Duration = Duration::from_secs(24 * 3600);

/// How the last sweep went. Shown, not only logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SweepReport {
    pub at: Timestamp,
    pub error: Option<String>,
}

/// A running site.
#[derive(Debug)]
pub struct Agent {
    pub site: Arc<Site>,
    last_sweep: Arc<Mutex<Option<SweepReport>>>,
    loops: TaskTracker,
    stop: CancellationToken,
    /// The loops that this agent cannot do without.
    pub vitals: Vitals,
}

impl Agent {
    /// Takes up what the last process left, and starts the loops. Notifications are forwarded if the site is
    /// connected ([`Site::connect`]).
    pub async fn start(site: Arc<Site>) -> Result<Self> {
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
        let agent = Self {
            site,
            last_sweep: Arc::default(),
            loops: TaskTracker::new(),
            stop: CancellationToken::new(),
            vitals: Vitals::default(),
        };
        agent.start_loops();
        Ok(agent)
    }

    fn start_loops(&self) {
        let site = &self.site;
        let forwarder = site.uplink().map(|uplink| {
            Arc::new(Forwarder {
                buffer: site.buffer.clone(),
                uplink: uplink.clone(),
                settings: site.settings.clone(),
                clock: site.clock.clone(),
            })
        });
        if let (Some(forwarder), Some(uplink)) = (&forwarder, site.uplink()) {
            let reporter = Reporter {
                buffer: site.buffer.clone(),
                uplink: uplink.clone(),
            };
            let (forwarder, stop) = (forwarder.clone(), self.stop.clone());
            self.keep(
                "forwarding notifications",
                async move { forwarder.run(stop).await },
            );
            let stop = self.stop.clone();
            self.keep("telling central", async move { reporter.run(stop).await });
        } else {
            warn!("no central is configured: notifications stay in the buffer");
        }
        let sweeps = Sweeps {
            site: site.clone(),
            forwarder,
            last: self.last_sweep.clone(),
        };
        let stop = self.stop.clone();
        self.keep("trying what is due", async move { sweeps.run(stop).await });
        let (site, stop) = (site.clone(), self.stop.clone());
        self.keep("purging", async move { purges(&site, stop).await });
    }

    /// A loop that ends before the stop is told of by `vitals`.
    fn keep(&self, part: &'static str, work: impl Future<Output = ()> + Send + 'static) {
        let watched = self.vitals.watch_until(part, self.stop.clone(), work);
        self.loops.spawn(watched);
    }

    pub fn last_sweep(&self) -> Option<SweepReport> {
        self.last_sweep
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Begins nothing new, waits for attempts under way, and closes the buffer.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.loops.close();
        self.site.engine.stop().await;
        self.loops.wait().await;
        self.site.buffer.close().await;
        info!(site.id = %self.site.settings.id, "the site agent has stopped");
    }
}

struct Sweeps {
    site: Arc<Site>,
    forwarder: Option<Arc<Forwarder>>,
    last: Arc<Mutex<Option<SweepReport>>>,
}

impl Sweeps {
    async fn run(&self, stop: CancellationToken) {
        let site = &self.site;
        let mut watch = ClockWatch::new(site.clock.now(), Instant::now().into_std());
        let mut wait = Duration::ZERO;
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = site.buffer.wake().due() => {}
                () = tokio::time::sleep(wait) => {}
            }
            let at = site.clock.now();
            if let Some(jump) = watch.look(at, Instant::now().into_std()) {
                self.clock_jumped(jump).await;
            }
            let error = self.sweep().await.err().map(|e| chain(&e));
            if let Some(why) = &error {
                warn!(error = why, "a sweep failed; the next one comes in its time");
            }
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(SweepReport { at, error });
            gauges::set(site);
            wait = self.wait(at).await;
        }
    }

    /// Until the next message is due; the timer is the net for what was not foreseen.
    async fn wait(&self, swept_at: Timestamp) -> Duration {
        let (site, timer) = (&self.site, self.site.settings.timer);
        // From here on whatever is due earlier than what is aimed at rings.
        site.buffer.wake().aim(None);
        let Ok(mut next) = site.engine.next_due(swept_at).await else {
            return timer;
        };
        if let Some(forwarder) = &self.forwarder
            && let Ok(counted) = forwarder.next_try(swept_at).await
        {
            next = next.into_iter().chain(counted).min();
        }
        site.buffer.wake().aim(next);
        next.map_or(timer, |at| at.since(site.clock.now()).min(timer))
    }

    async fn clock_jumped(&self, jump: ClockJump) {
        match jump {
            ClockJump::Ahead(by) => warn!(
                clock.jump = retry::human(whole_seconds(by)),
                "the clock of this machine went ahead, or the machine slept; what has become due is tried"
            ),
            ClockJump::Back(by) => {
                let pulled_in = self.site.engine.clock_went_back().await;
                warn!(
                    clock.jump = retry::human(whole_seconds(by)),
                    n = pulled_in.as_ref().copied().unwrap_or_default(),
                    error = pulled_in.err().map(|e| chain(&e)),
                    "the clock of this machine went back; messages that were due later than their interval allows are tried sooner"
                );
            }
        }
    }

    /// Starts what is due; lanes go on by themselves, so that a slow target holds up no sweep.
    async fn sweep(&self) -> Result<()> {
        // Whether or not there is: what takes messages out has its reserve.
        let room = self.site.buffer.look_for_room().await;
        drop(self.site.engine.start_due().await?);
        if let Some(forwarder) = &self.forwarder {
            forwarder.count_tries().await?;
        }
        room
    }
}

fn whole_seconds(duration: Duration) -> Duration {
    Duration::from_secs(duration.as_secs())
}

async fn purges(site: &Site, stop: CancellationToken) {
    let mut tick = tokio::time::interval(PURGE);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! { biased; () = stop.cancelled() => return, _ = tick.tick() => {} }
        match site.buffer.purge(site.settings.tracking_retention).await {
            Ok(purged) if purged == store::buffer::Purged::default() => {}
            Ok(purged) => {
                if purged.telemetry > 0 {
                    warn!(
                        n = purged.telemetry,
                        "too much news waits for central; the oldest was dropped"
                    );
                }
                info!(
                    tracking = purged.tracking,
                    events = purged.events,
                    tombstones = purged.tombstones,
                    "purged what is past its time"
                );
            }
            Err(e) => warn!(
                error = chain(&e),
                "a purge failed; the next one comes in its time"
            ),
        }
    }
}
