//! The background loops of a node. A new one is a paragraph here: its name, what it is for, how often it runs, what
//! wakes it and what a sweep does; console, API, `doctor` and metrics show it.
//!
//! Leaves to others: running them and what becomes of a panic (`store::loops`), the dispatcher and its leases.

use crate::{
    Central,
    events::{materializer::Materializer, pull::Puller},
    expiry, figures,
    jobs::Worked,
    purge, sites,
};
use async_trait::async_trait;
use domain::chain;
use std::{future::pending, time::Duration};
use store::loops::{About, Loop, Swept, Work};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// How often receipts are looked for that came in at another node, or wait for something.
const RECEIPTS_INTERVAL: Duration = Duration::from_secs(10);
/// How often schedules are looked for that are due: what waits for a civil time waits to the second.
const SCHEDULES_INTERVAL: Duration = Duration::from_secs(1);

/// What a loop that does one thing says of a sweep.
fn counted<N: TryInto<u64>>(
    did: &str,
    (n, one, many): (N, &'static str, &'static str),
    nothing: &str,
) -> Work {
    let n = n.try_into().unwrap_or(u64::MAX);
    Work::of(did, &[(n, one, many)], nothing)
}

fn of_jobs(worked: Worked) -> Work {
    let counts = [
        (worked.rows, "row handled", "rows handled"),
        (
            worked.beside,
            "bulk action at a site or of events is under way",
            "bulk actions at sites or of events are under way",
        ),
    ];
    Work::of("", &counts, "no bulk action is under way")
}

/// Starts them all.
pub(crate) fn start(central: &Central, tasks: &TaskTracker, stop: &CancellationToken) {
    let start = Start { central, tasks, stop };
    let looks = central.settings.dispatch.interval;
    let every = central.settings.purge_interval;
    start.by_the_clock(
        About::every("purge", "deletes what is past its time", every),
        |central| async move {
            let purged = purge::purge(&*central.store, &central.settings.retention, |_| {}).await;
            let purged = purged.inspect(purge::log);
            purged.map(|purged| purge::work(&purged)).into()
        },
    );
    start.woken(
        About::when_woken("jobs", "works on bulk actions", looks),
        |central| async move {
            tokio::select! {
                () = central.jobs.woken() => {}
                () = central.chores.jobs() => {}
            }
        },
        |central| async move {
            let worked = central.jobs.sweep().await;
            worked.map(of_jobs).into()
        },
    );
    start_moving(&start);
    start.woken(
        About::every(
            "receipts",
            "works on what providers tell later",
            RECEIPTS_INTERVAL,
        ),
        |central| async move { central.receipts.came_in().await },
        |central| async move {
            let done = central.receipts.sweep().await;
            done.map(|n| counted("worked on", (n, "receipt", "receipts"), "no receipts came in"))
                .into()
        },
    );
    start.woken(
        About::every(
            "unproven receipts",
            "asks providers about receipts that nobody signed",
            RECEIPTS_INTERVAL,
        ),
        |central| async move { central.receipts.unproven().await },
        |central| async move {
            let asked = central.receipts.ask().await;
            asked
                .map(|n| {
                    counted(
                        "asked about",
                        (n, "receipt", "receipts"),
                        "no receipt has to be asked about",
                    )
                })
                .into()
        },
    );
    start_events(central, tasks, stop);
    start.by_the_clock(
        About::every(
            "schedules",
            "sends what events put off, and looks whether its time has moved",
            SCHEDULES_INTERVAL,
        ),
        |central| async move {
            let looked = central.events.sweep_schedules().await;
            looked
                .map(|n| counted("worked on", (n, "schedule", "schedules"), "no schedule is due"))
                .into()
        },
    );
    start_upkeep(&start);
}

/// What takes waiting notifications to where they belong.
fn start_moving(start: &Start<'_>) {
    let looks = start.central.settings.dispatch.interval;
    start.woken(
        About::when_woken("expiry", "parks what waits past its time", looks),
        |central| async move { central.chores.expired().await },
        |central| async move {
            let parked = expiry::sweep(&*central.store, &central.changes).await;
            parked
                .map(|n| {
                    counted(
                        "parked",
                        (n, "notification", "notifications"),
                        "nothing waits past its time",
                    )
                })
                .into()
        },
    );
    start.woken(
        About::when_woken(
            "failover",
            "takes what waits for a provider in trouble on to the next one of its channel",
            looks,
        ),
        |central| async move { central.chores.failover().await },
        |central| async move {
            let moved = central.failover.sweep().await;
            moved
                .map(|n| {
                    counted(
                        "moved",
                        (n, "notification", "notifications"),
                        "nothing waits for a provider in trouble",
                    )
                })
                .into()
        },
    );
}

/// What nothing that is sent waits for.
fn start_upkeep(start: &Start<'_>) {
    let looks = start.central.settings.dispatch.interval;
    start.by_the_clock(
        About::every(
            "figures",
            "keeps the figures of the charts small and fresh",
            figures::INTERVAL,
        ),
        |central| async move {
            if !central.chores.take_counts() {
                return Swept::idle("nothing was counted since the last run");
            }
            let done = figures::sweep(&*central.store, central.settings.kpi).await;
            done.inspect_err(|_| central.chores.are_counts()).into()
        },
    );
    start.woken(
        About::when_woken(
            "compact",
            "frees the queue of rows that are gone while somebody's open transaction keeps the database from it",
            looks,
        ),
        |central| async move { central.chores.compact().await },
        |central| async move {
            match central.store.compact_queue().await {
                Ok(()) => Swept::did("compacted the queue"),
                Err(error) => Swept::failed(format!(
                    "the queue holds many rows that are gone and could not be compacted now: {}",
                    chain(&error)
                )),
            }
            .until_woken()
        },
    );
    start.by_the_clock(
        About::every(
            "sites",
            "writes down which sites are connected, and sends away whose key was revoked",
            sites::SWEEP_INTERVAL,
        ),
        |central| async move { central.sites.sweep().await.into() },
    );
}

/// Events, which keep their place from one look to the next.
fn start_events(central: &Central, tasks: &TaskTracker, stop: &CancellationToken) {
    let longest = central.settings.events.poll_interval;
    let events = Materializing {
        about: About::every(
            "events",
            "turns what applications tell into notifications",
            longest,
        ),
        materializer: Materializer::new(central.events.clone()),
    };
    central.loops.start(tasks, stop, events);
    let mut sources = central.settings.events.sources.clone();
    sources.retain(|source| source.has_outbox());
    if !sources.is_empty() {
        let sources = Pulling {
            about: About::every(
                "event sources",
                "brings events from applications' own databases",
                longest,
            ),
            puller: Puller::new(central.events.clone(), &sources),
        };
        central.loops.start(tasks, stop, sources);
    }
}

struct Pulling {
    about: About,
    puller: Puller,
}

#[async_trait]
impl Loop for Pulling {
    fn about(&self) -> About {
        self.about
    }

    async fn sweep(&mut self) -> Swept {
        self.puller.sweep().await
    }
}

struct Materializing {
    about: About,
    materializer: Materializer,
}

#[async_trait]
impl Loop for Materializing {
    fn about(&self) -> About {
        self.about
    }

    async fn woken(&mut self) {
        self.materializer.woken().await;
    }

    async fn sweep(&mut self) -> Swept {
        self.materializer.sweep().await
    }
}

struct Start<'a> {
    central: &'a Central,
    tasks: &'a TaskTracker,
    stop: &'a CancellationToken,
}

impl Start<'_> {
    fn by_the_clock<S>(&self, about: About, sweep: fn(Central) -> S)
    where
        S: Future<Output = Swept> + Send + 'static,
    {
        self.woken(about, |_| pending(), sweep);
    }

    fn woken<W, S>(&self, about: About, woken: fn(Central) -> W, sweep: fn(Central) -> S)
    where
        W: Future<Output = ()> + Send + 'static,
        S: Future<Output = Swept> + Send + 'static,
    {
        let of_a_node = OfANode {
            central: self.central.clone(),
            about,
            woken,
            sweep,
        };
        self.central.loops.start(self.tasks, self.stop, of_a_node);
    }
}

/// A loop that keeps everything it needs in the node.
struct OfANode<W, S> {
    central: Central,
    about: About,
    woken: fn(Central) -> W,
    sweep: fn(Central) -> S,
}

#[async_trait]
impl<W, S> Loop for OfANode<W, S>
where
    W: Future<Output = ()> + Send + 'static,
    S: Future<Output = Swept> + Send + 'static,
{
    fn about(&self) -> About {
        self.about
    }

    async fn woken(&mut self) {
        (self.woken)(self.central.clone()).await
    }

    async fn sweep(&mut self) -> Swept {
        (self.sweep)(self.central.clone()).await
    }
}
