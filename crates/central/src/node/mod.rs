//! One node of central: everything wired together, started and stopped as a whole.

mod made;

use crate::{
    background,
    changes::Changes,
    chores::Chores,
    directory::Directory,
    dispatcher::{DispatchSettings, Dispatcher},
    events::{EventService, EventSettings, Lookups},
    failover::FailoverService,
    ingest::Ingest,
    jobs::JobService,
    keys::Keys,
    lanes::{self, LaneNow},
    lists::ListService,
    operator::OperatorService,
    providers::ProviderService,
    receipts::ReceiptService,
    secrets::Sealer,
    sites::SiteService,
    suppressions::SuppressionService,
    templates::TemplateService,
    unsubscribe::Unsubscribing,
    users::UserService,
    wake::Wake,
    watched_counts::WatchedCounts,
    watched_kpis::WatchedKpis,
};
use delivery::Registry;
use domain::{Clock, TenantId, Tracer, template::MissingPlaceholder};
use made::Made;
use std::{sync::Arc, time::Duration};
use store::{Store, loops::Loops, maintenance::Retention, query::KpiAsk, signals::Signal};
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
    /// What stands in a message where its template names a value that there is not.
    pub missing_placeholder: MissingPlaceholder,
    /// Where the outside reaches this installation (`server.public_url`): what callback addresses and unsubscribe links begin
    /// with.
    pub public_url: Option<String>,
    /// Whoever discards or cancels a notification has to say why.
    pub discard_needs_reason: bool,
    pub events: EventSettings,
    /// The longest lease a machine of a site's pair is given.
    pub site_lease: Duration,
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
                events: 365 * day,
                transcripts: 7 * day,
            },
            purge_interval: day,
            kpi: KpiAsk {
                stuck_after: Duration::from_secs(600),
                delivered_window: Duration::from_secs(60),
            },
            missing_placeholder: MissingPlaceholder::default(),
            public_url: None,
            discard_needs_reason: false,
            events: EventSettings::default(),
            site_lease: domain::pair::lease::LONGEST_LEASE,
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
    pub operator: OperatorService,
    pub providers: ProviderService,
    pub lists: ListService,
    pub templates: TemplateService,
    pub events: EventService,
    pub suppressions: SuppressionService,
    pub unsubscribing: Unsubscribing,
    pub keys: Keys,
    pub users: UserService,
    pub jobs: JobService,
    pub sites: SiteService,
    pub receipts: ReceiptService,
    pub failover: FailoverService,
    /// What runs in the background. Whoever runs the node ends the process when a part is gone.
    pub loops: Loops,
    pub changes: Changes,
    pub wake: Arc<Wake>,
    /// The figures for whoever watches them.
    pub watched_kpis: WatchedKpis,
    pub watched_counts: WatchedCounts,
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
        let chores: Arc<Chores> = Arc::default();
        let wake = Arc::new(Wake::default());
        let directory = Directory::new(store.clone(), store.clone(), store.clone(), registry, sealer);
        let made = Made {
            lookups: Lookups::of(&settings.events),
            directory: Arc::new(directory.reached_at(settings.public_url.clone())),
            store,
            clock,
            wake,
            changes,
            chores,
        };
        let ingest = made.ingest(&settings);
        let operator = made.operator(&ingest);
        let templates = made.templates(&ingest, &settings);
        let sites = made.sites(&ingest, &settings);
        let events = made.events(&templates, &operator, &ingest, &settings);
        let Made { store, clock, .. } = &made;
        let each = || store.clone();
        let directory = || made.directory.clone();
        Self {
            providers: made.providers(),
            lists: ListService::new(each(), each(), directory(), made.wake.clone()),
            jobs: JobService::new(
                each(),
                each(),
                operator.clone(),
                sites.clone(),
                events.clone(),
                settings.node.clone(),
            ),
            events,
            templates,
            unsubscribing: Unsubscribing::new(
                made.directory.sealer().clone(),
                settings.public_url.as_deref(),
            ),
            suppressions: SuppressionService::new(each(), each(), directory()),
            keys: Keys::new(each(), clock.clone()),
            users: UserService::new(each(), clock.clone()),
            sites,
            receipts: made.receipts(),
            failover: made.failover(),
            loops: Loops::new(clock.clone()),
            watched_kpis: WatchedKpis::new(each(), settings.kpi),
            watched_counts: WatchedCounts::new(each()),
            settings: Arc::new(settings),
            ingest,
            operator,
            store: made.store,
            clock: made.clock,
            directory: made.directory,
            changes: made.changes,
            wake: made.wake,
            chores: made.chores,
        }
    }

    /// What the lanes of a tenant are doing.
    pub async fn lanes(&self, tenant: TenantId) -> store::Result<Vec<LaneNow>> {
        let store = &*self.store;
        lanes::now(store, store, &self.directory, tenant, self.clock.now()).await
    }

    /// A dispatcher over this node's parts. One per node: two would only take rows from each other.
    pub fn dispatcher(&self) -> Dispatcher {
        Dispatcher::new(self)
    }

    /// Starts the loops. Cancelling `stop` ends them; the tracker then empties once in-flight sends are over or
    /// the grace period is. A part that ends otherwise is told of by `loops`.
    pub fn start(&self, stop: &CancellationToken) -> TaskTracker {
        let tasks = self.start_listening(stop);
        tasks.reopen();
        self.keep(&tasks, stop, "dispatching", self.dispatcher().run(stop.clone()));
        background::start(self, &tasks, stop);
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
        tasks.spawn(self.loops.watch_until(part, stop.clone(), work));
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
                Ok(Signal::Events) => self.events.wake(),
                Ok(Signal::Relays) => self.sites.answer_relays().await,
                Ok(Signal::Watching) => self.changes.watched_elsewhere(),
                Ok(Signal::Changes { changes, missed }) => self.changes.heard(changes, missed),
                Ok(Signal::Directory | Signal::LookAgain) => self.look_again(),
                Ok(Signal::ListensAgain) | Err(RecvError::Lagged(_)) => {
                    self.look_again();
                    self.changes.was_deaf();
                }
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn look_again(&self) {
        // A tenant may be gone, and its keys with it.
        self.keys.forget();
        self.wake.look();
    }
}
