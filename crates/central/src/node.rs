//! One node of central: everything wired together, started and stopped as a whole.

use crate::{
    changes::Changes,
    chores::Chores,
    directory::Directory,
    dispatcher::{DispatchSettings, Dispatcher},
    expiry, figures,
    ingest::Ingest,
    jobs::JobDesk,
    keys::Keys,
    lists::ListDesk,
    loops::Loops,
    operator::OperatorDesk,
    providers::ProviderDesk,
    purge,
    secrets::Sealer,
    sites::{self, SiteDesk},
    users::UserDesk,
    wake::Wake,
    watched_kpis::WatchedKpis,
};
use delivery::Registry;
use domain::{Clock, Tracer};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use store::{Store, maintenance::Retention, outbox::Signal, query::KpiAsk, vital::Vitals};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// What a node is told by its configuration.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Tells this node from the others; unique per process.
    pub node: String,
    pub dispatch: DispatchSettings,
    pub retention: Retention,
    pub purge_interval: Duration,
    pub kpi: KpiAsk,
    /// Where the steps of a notification are told; nowhere unless the configuration says.
    pub tracer: Tracer,
}

impl Settings {
    pub fn named(node: impl Into<String>) -> Self {
        let day = Duration::from_secs(86_400);
        Self {
            node: node.into(),
            dispatch: DispatchSettings::default(),
            retention: Retention {
                terminal: 365 * day,
                audit: 365 * day,
                spent_keys: None,
                stats: domain::kpi::STATS_KEPT,
            },
            purge_interval: day,
            kpi: KpiAsk {
                stuck_after: Duration::from_secs(600),
                delivered_window: Duration::from_secs(60),
            },
            tracer: Tracer::default(),
        }
    }
}

/// A node. Cheap to clone; all clones are the same node.
#[derive(Clone)]
pub struct Central {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub settings: Arc<Settings>,
    pub directory: Arc<Directory>,
    pub ingest: Ingest,
    pub operator: OperatorDesk,
    pub providers: ProviderDesk,
    pub lists: ListDesk,
    pub keys: Keys,
    pub users: UserDesk,
    pub jobs: JobDesk,
    pub sites: SiteDesk,
    pub loops: Loops,
    pub changes: Changes,
    pub wake: Arc<Wake>,
    /// What this node cannot do without. Whoever runs it ends the process when a part is gone.
    pub vitals: Vitals,
    /// The figures for whoever watches them.
    pub watched_kpis: WatchedKpis,
    pub(crate) chores: Arc<Chores>,
}

impl std::fmt::Debug for Central {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Central({})", self.settings.node)
    }
}

impl Central {
    pub fn new(
        store: Arc<dyn Store>,
        registry: Registry,
        sealer: Sealer,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Self {
        let changes = Changes::default();
        let wake = Arc::new(Wake::default());
        let directory = Arc::new(Directory::new(store.clone(), registry, sealer));
        let ingest = Ingest::new(
            store.clone(),
            directory.clone(),
            wake.clone(),
            changes.clone(),
            settings.tracer.clone(),
        );
        let operator = OperatorDesk::new(
            store.clone(),
            directory.clone(),
            ingest.clone(),
            wake.clone(),
            changes.clone(),
        );
        let sites = SiteDesk::new(
            store.clone(),
            ingest.clone(),
            clock.clone(),
            settings.node.clone(),
        );
        Self {
            providers: ProviderDesk::new(store.clone(), directory.clone(), clock.clone(), wake.clone()),
            lists: ListDesk::new(store.clone(), directory.clone(), wake.clone()),
            keys: Keys::new(store.clone(), clock.clone()),
            users: UserDesk::new(store.clone(), clock.clone()),
            jobs: JobDesk::new(
                store.clone(),
                operator.clone(),
                sites.clone(),
                settings.node.clone(),
            ),
            sites,
            loops: Loops::default(),
            watched_kpis: WatchedKpis::new(store.clone(), settings.kpi),
            settings: Arc::new(settings),
            store,
            clock,
            directory,
            ingest,
            operator,
            changes,
            wake,
            vitals: Vitals::default(),
            chores: Arc::default(),
        }
    }

    /// A dispatcher over this node's parts. One per node: two would only take rows from each other.
    pub fn dispatcher(&self) -> Dispatcher {
        Dispatcher::new(self)
    }

    /// Starts the loops. Cancelling `stop` ends them; the tracker then empties once in-flight sends are over or
    /// the grace period is. A loop that ends otherwise is told of by `vitals`.
    pub fn start(&self, stop: &CancellationToken) -> TaskTracker {
        let tasks = self.start_listening(stop);
        tasks.reopen();
        self.keep(&tasks, stop, "dispatching", self.dispatcher().run(stop.clone()));
        self.keep(&tasks, stop, "purging", self.clone().purge_loop(stop.clone()));
        self.keep(&tasks, stop, "bulk actions", self.clone().job_loop(stop.clone()));
        self.keep(&tasks, stop, "expiry", self.clone().expiry_loop(stop.clone()));
        self.keep(&tasks, stop, "figures", self.clone().figures_loop(stop.clone()));
        self.keep(&tasks, stop, "sites", self.clone().site_loop(stop.clone()));
        tasks.close();
        tasks
    }

    /// Starts only what hears other nodes and tells them of changes; nothing is sent out by this.
    pub fn start_listening(&self, stop: &CancellationToken) -> TaskTracker {
        let tasks = TaskTracker::new();
        self.keep(&tasks, stop, "listening", self.clone().listen(stop.clone()));
        let telling = self.changes.clone().run(self.store.clone(), stop.clone());
        self.keep(&tasks, stop, "live changes", telling);
        tasks.close();
        tasks
    }

    fn keep<F>(&self, tasks: &TaskTracker, stop: &CancellationToken, part: &'static str, work: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        tasks.spawn(self.vitals.watch_until(part, stop.clone(), work));
    }

    /// Passes on what other nodes tell.
    async fn listen(self, stop: CancellationToken) {
        let mut signals = self.store.subscribe();
        loop {
            let signal = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                signal = signals.recv() => signal,
            };
            match signal {
                Ok(Signal::Lanes(lanes)) => self.wake.lanes(lanes),
                Ok(Signal::Relays) => self.sites.answer_relays().await,
                Ok(Signal::Watching) => self.changes.watched_elsewhere(),
                Ok(Signal::Changes { changes, missed }) => self.changes.heard(changes, missed),
                Ok(Signal::Directory | Signal::LookAgain) | Err(RecvError::Lagged(_)) => self.wake.look(),
                Err(RecvError::Closed) => return,
            }
        }
    }

    async fn purge_loop(self, stop: CancellationToken) {
        let (loops, every, clock) = (
            self.loops.clone(),
            self.settings.purge_interval,
            self.clock.clone(),
        );
        let sweep = || async {
            let purged = purge::purge(&self.store, &self.settings.retention, |_| {}).await;
            let purged = purged.map_err(|e| crate::loops::chain(&e))?;
            purge::log(&purged);
            Ok(purge::in_words(&purged))
        };
        loops.run("purge", every, clock, stop, sweep).await;
    }

    async fn figures_loop(self, stop: CancellationToken) {
        let (loops, clock) = (self.loops.clone(), self.clock.clone());
        let sweep = || async {
            if !self.chores.take_counts() {
                return Ok("nothing was counted".to_owned());
            }
            let done = figures::sweep(&self.store, self.settings.kpi).await;
            done.map_err(|e| {
                self.chores.are_counts();
                crate::loops::chain(&e)
            })
        };
        loops.run("figures", figures::EVERY, clock, stop, sweep).await;
    }

    async fn site_loop(self, stop: CancellationToken) {
        let (loops, clock) = (self.loops.clone(), self.clock.clone());
        let sweep = || self.sites.sweep();
        loops.run("sites", sites::SWEEP, clock, stop, sweep).await;
    }

    async fn expiry_loop(self, stop: CancellationToken) {
        let every = self.settings.dispatch.interval;
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = self.chores.expired() => {}
            }
            let (at, start) = (self.clock.now(), Instant::now());
            let result = expiry::sweep(&self.store, &self.changes).await;
            let result = result.map(|n| format!("parked {n} notifications whose time had passed"));
            if let Err(error) = &result {
                let error = error as &dyn std::error::Error;
                tracing::warn!(
                    error,
                    "what waits past its time could not be parked; the next look finds it again"
                );
            }
            let result = result.map_err(|e| crate::loops::chain(&e));
            self.loops.report("expiry", at, start.elapsed(), every, result);
        }
    }

    async fn job_loop(self, stop: CancellationToken) {
        let every = self.settings.dispatch.interval;
        // What an earlier run left behind.
        let mut there_may_be_one = true;
        loop {
            let (at, start) = (self.clock.now(), Instant::now());
            let result = match there_may_be_one {
                true => self.jobs.sweep().await.map(|n| format!("{n} rows")),
                false => Ok("no bulk action waits".to_owned()),
            };
            there_may_be_one = result.is_err();
            let result = result.map_err(|e| crate::loops::chain(&e));
            self.loops.report("jobs", at, start.elapsed(), every, result);
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = self.jobs.woken() => there_may_be_one = true,
                () = self.chores.jobs() => there_may_be_one = true,
                () = tokio::time::sleep(every) => {}
            }
        }
    }
}
