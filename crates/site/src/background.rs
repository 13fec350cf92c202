//! The loops of an agent that are not about the link: trying what is due, and purging. A new loop of an agent is a
//! `Loop` here and a line in `Agent::start_loops`; the agent's health, page and metrics show it.

use crate::{forwarder::Forwarder, gauges, site::Site};
use async_trait::async_trait;
use domain::{ClockJump, ClockWatch, Timestamp, chain, retry};
use std::{sync::Arc, time::Duration};
use store::{
    Result,
    buffer::Purged,
    loops::{About, Loop, Swept, Work},
};
use tokio::time::Instant;
use tracing::{info, warn};

/// How often what is past its time goes.
const PURGE_EVERY: Duration = Duration::from_secs(24 * 3600);

/// Tries what is due: when it is, when something new is, and by the timer, the net for what was not foreseen.
pub(crate) struct Due {
    site: Arc<Site>,
    forwarder: Option<Arc<Forwarder>>,
    watch: ClockWatch,
}

#[async_trait]
impl Loop for Due {
    fn about(&self) -> About {
        About::every(
            "due",
            "tries calls and writes that are due",
            self.site.settings.timer,
        )
    }

    async fn woken(&mut self) {
        self.site.buffer.wake().due().await;
    }

    async fn sweep(&mut self) -> Swept {
        let at = self.site.clock.now();
        if let Some(jump) = self.watch.look(at, Instant::now().into_std()) {
            self.clock_jumped(jump).await;
        }
        let swept: Swept = self.start_due().await.into();
        gauges::set(&self.site);
        swept.within(self.wait(at).await)
    }
}

impl Due {
    pub fn new(site: Arc<Site>, forwarder: Option<Arc<Forwarder>>) -> Self {
        Self {
            watch: ClockWatch::new(site.clock.now(), Instant::now().into_std()),
            site,
            forwarder,
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
    async fn start_due(&self) -> Result<Work> {
        // Whether or not there is: what takes messages out has its reserve.
        let room = self.site.buffer.look_for_room().await;
        let lanes = self.site.engine.start_due().await?.len();
        if let Some(forwarder) = &self.forwarder {
            forwarder.count_tries().await?;
        }
        let counts = [(lanes as u64, "target", "targets")];
        room.map(|()| Work::of("tried what was due for", &counts, "nothing was due"))
    }
}

fn whole_seconds(duration: Duration) -> Duration {
    Duration::from_secs(duration.as_secs())
}

/// Deletes what is past its time.
pub(crate) struct Purge {
    pub site: Arc<Site>,
}

#[async_trait]
impl Loop for Purge {
    fn about(&self) -> About {
        About::every("purge", "deletes what is past its time", PURGE_EVERY)
    }

    async fn sweep(&mut self) -> Swept {
        let retention = self.site.settings.tracking_retention;
        let retention = match self.site.pair() {
            Some(pair) => pair.remembers_for(retention),
            None => retention,
        };
        let purged = self.site.buffer.purge(retention).await;
        purged.inspect(log).map(|purged| work(&purged)).into()
    }
}

fn log(purged: &Purged) {
    if purged.telemetry > 0 {
        warn!(
            n = purged.telemetry,
            "too much news waits for central; the oldest was dropped"
        );
    }
    if *purged != Purged::default() {
        info!(
            tracking = purged.tracking,
            events = purged.events,
            tombstones = purged.tombstones,
            "purged what is past its time"
        );
    }
}

fn work(purged: &Purged) -> Work {
    let counts = [
        (purged.tracking, "tracked operation", "tracked operations"),
        (purged.events, "event", "events"),
        (purged.tombstones, "tombstone", "tombstones"),
        (purged.telemetry, "piece of news", "pieces of news"),
    ];
    Work::of("purged", &counts, "nothing was past its time")
}
