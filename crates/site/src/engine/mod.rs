//! Tries what waits: calls and writes, target by target, each target in its own lane, so that a dead one delays
//! nobody else.
//!
//! Leaves to others: what is taken in (`intake`), notifications (`forwarder`), delays and budgets (`domain::retry`).
//! Always true: a lane runs once at a time; an attempt is in the file before its network call, and its result
//! names it; a message without a handler stays where it is; a target that does not answer is asked by one message
//! at a time.

#[cfg(test)]
mod a_message;
mod attempt;
mod health;
mod try_now;
mod verdict;

pub use attempt::Tried;
pub use health::Down;
pub use try_now::TriedNow;
pub use verdict::{interrupted, step, words};

use crate::{handler::Handlers, pair::Pair, settings::Settings};
use domain::{Clock, Timestamp, lock::lock, site::Category};
use futures_util::stream::{FuturesUnordered, StreamExt};
use health::Health;
use std::{
    collections::{BTreeMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, OnceLock},
};
use store::{
    Buffer, Result,
    buffer::{Attempted, Recorded, TargetDue},
};
use tokio::task::JoinHandle;
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};
use tracing::{error, warn};

/// Cheap to clone; all clones are one engine.
#[derive(Debug, Clone)]
pub struct Engine {
    pub(crate) buffer: Arc<Buffer>,
    pub(crate) handlers: Arc<Handlers>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) clock: Arc<dyn Clock>,
    /// The other machine of the site: what both know is attempted with the lease alone.
    pair: Arc<OnceLock<Arc<Pair>>>,
    lanes: Arc<Mutex<Lanes>>,
    tasks: TaskTracker,
    /// Nothing new is begun.
    soft: CancellationToken,
    /// What is under way is let go.
    hard: CancellationToken,
}

#[derive(Debug, Default)]
struct Lanes {
    running: HashSet<Target>,
    /// Messages that nobody delivers, by target.
    without_handler: BTreeMap<Target, u64>,
    /// Targets whose last attempt failed; as many as are configured at most.
    health: BTreeMap<Target, Health>,
}

type Target = (Category, String);

/// What a sweep came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    pub delivered: u64,
    pub retried: u64,
    pub parked: u64,
    /// Somebody else acted on the message first.
    pub lost: u64,
}

impl Engine {
    pub fn new(buffer: Arc<Buffer>, handlers: Handlers, settings: Settings, clock: Arc<dyn Clock>) -> Self {
        Self {
            buffer,
            handlers: Arc::new(handlers),
            settings: Arc::new(settings),
            clock,
            pair: Arc::default(),
            lanes: Arc::default(),
            tasks: TaskTracker::new(),
            soft: CancellationToken::new(),
            hard: CancellationToken::new(),
        }
    }

    /// From here on what both machines know needs the lease.
    pub(crate) fn join(&self, pair: Arc<Pair>) {
        let _ = self.pair.set(pair);
    }

    /// Attempts that the last process began and never ended: counted as interrupted, and due again.
    pub async fn resume(&self) -> Result<u64> {
        let now = self.clock.now();
        let ended: Vec<_> = self
            .buffer
            .interrupted()
            .await?
            .iter()
            .map(|message| Attempted {
                ticket: message.ticket(),
                step: interrupted(message, now.since(message.created_at)),
                started_at: message.last_attempt_at.unwrap_or(now),
                took: std::time::Duration::ZERO,
                http_status: None,
            })
            .collect();
        let n = ended.len() as u64;
        self.buffer.record(ended).await?;
        Ok(n)
    }

    /// Tries everything that is due and waits until that is done. Lanes that run already are not started twice.
    pub async fn sweep(&self) -> Result<Swept> {
        let mut swept = Swept::default();
        for lane in self.start_due().await? {
            if let Ok(of_lane) = lane.await {
                swept.delivered += of_lane.delivered;
                swept.retried += of_lane.retried;
                swept.parked += of_lane.parked;
                swept.lost += of_lane.lost;
            }
        }
        Ok(swept)
    }

    /// Starts a lane for every target with something due, unless it runs already.
    pub async fn start_due(&self) -> Result<Vec<JoinHandle<Swept>>> {
        let now = self.clock.now();
        let targets = self.buffer.targets_due().await?;
        self.look_for_handlers(&targets).await?;
        let mut lanes = vec![];
        for due in targets {
            let served = self.handlers.get(due.category, &due.target).is_some();
            if due.category.is_forwarded() || due.due_at > now || !served || self.soft.is_cancelled() {
                continue;
            }
            let target = (due.category, due.target);
            let mut all = self.lock();
            if all.width(&target, self.full_width(), now) > 0 && all.running.insert(target.clone()) {
                drop(all);
                let engine = self.clone();
                lanes.push(self.tasks.spawn(async move { engine.lane(target).await }));
            }
        }
        Ok(lanes)
    }

    /// When the next message is due that a sweep at this time could not start. What runs rings when it ends.
    pub async fn next_due(&self, swept_at: Timestamp) -> Result<Option<Timestamp>> {
        let targets = self.buffer.targets_due().await?;
        let lanes = self.lock();
        let due = targets.into_iter().filter_map(|due| {
            let served = self.handlers.get(due.category, &due.target).is_some();
            let target = (due.category, due.target);
            if !served || due.category.is_forwarded() || lanes.running.contains(&target) {
                return None;
            }
            let probe = lanes.health.get(&target).and_then(Health::down);
            Some(probe.map_or(due.due_at, |down| down.next_try_at.max(due.due_at)))
        });
        Ok(due.filter(|at| *at > swept_at).min())
    }

    /// Targets that do not answer.
    pub fn down(&self) -> BTreeMap<(Category, String), Down> {
        let lanes = self.lock();
        let down = |(target, health): (&Target, &Health)| Some((target.clone(), health.down()?.clone()));
        lanes.health.iter().filter_map(down).collect()
    }

    /// Every target that has failed since the agent started, and whether it is down.
    pub fn targets(&self) -> BTreeMap<(Category, String), bool> {
        let lanes = self.lock();
        let each = lanes.health.iter();
        each.map(|(target, health)| (target.clone(), health.down().is_some()))
            .collect()
    }

    /// The clock was set back: nothing stays further ahead than its interval. How many messages that was about.
    pub async fn clock_went_back(&self) -> Result<u64> {
        let now = self.clock.now();
        for health in self.lock().health.values_mut() {
            health.clock_went_back(now);
        }
        self.buffer.pull_due_in().await
    }

    /// Begins nothing new, waits for what is under way, and lets go of the rest uncounted. Everything that was
    /// begun has been written down when this returns.
    pub async fn stop(&self) {
        self.soft.cancel();
        self.tasks.close();
        let patient = tokio::time::timeout(self.settings.shutdown_wait, self.tasks.wait()).await;
        if patient.is_err() {
            warn!("attempts were still under way when the agent had to stop; they are not counted");
            self.hard.cancel();
            // Letting go is one write.
            let _ = tokio::time::timeout(self.settings.shutdown_wait, self.tasks.wait()).await;
        }
    }

    pub fn is_stopping(&self) -> bool {
        self.soft.is_cancelled()
    }

    /// Something begins that [`stop`](Self::stop) waits for; none where nothing begins any more. Taken before it is looked: a stop
    /// that is not seen here sees what was taken.
    pub(crate) fn begin(&self) -> Option<TaskTrackerToken> {
        let begun = self.tasks.token();
        (!self.is_stopping()).then_some(begun)
    }

    /// Messages that stay because nobody delivers their category or knows their target.
    pub fn without_handler(&self) -> BTreeMap<(Category, String), u64> {
        self.lock().without_handler.clone()
    }

    async fn look_for_handlers(&self, targets: &[TargetDue]) -> Result<()> {
        let mut without = BTreeMap::new();
        for due in targets {
            let served = self.handlers.get(due.category, &due.target).is_some();
            if served || due.category.is_forwarded() {
                continue;
            }
            let n = self.buffer.waiting_for(due.category, &due.target).await?;
            without.insert((due.category, due.target.clone()), n);
        }
        let mut lanes = self.lock();
        for ((category, target), n) in &without {
            if !lanes.without_handler.contains_key(&(*category, target.clone())) {
                warn!(
                    category = %category, target, n,
                    "nobody delivers these messages; they stay in the buffer until the target is configured again"
                );
            }
        }
        lanes.without_handler = without;
        Ok(())
    }

    /// Works off what is due for one target, a few at a time.
    async fn lane(&self, target: Target) -> Swept {
        let mut running = Running {
            engine: self,
            target: target.clone(),
            ring: true,
        };
        let (category, name) = &target;
        let mut attempts = FuturesUnordered::new();
        let mut swept = Swept::default();
        let mut more = true;
        loop {
            let width = self.begin_width(&target);
            if width == 0 && attempts.is_empty() {
                return swept;
            }
            let free = width.saturating_sub(attempts.len());
            // Half a lane at a time, so that a commit begins more than one attempt.
            if more && !self.soft.is_cancelled() && free > 0 && free * 2 >= width {
                let first = self.pair.get().map_or(0, |pair| pair.attempts_from());
                let claimed = self
                    .buffer
                    .claim_due_from(*category, name, free as u32, first)
                    .await;
                match claimed {
                    Ok(claimed) => {
                        more = claimed.len() == free;
                        // What is held is due and stays: it rings when there is a lease.
                        running.ring &= first == 0 || !claimed.is_empty();
                        attempts.extend(claimed.into_iter().map(|message| self.try_one(message)));
                    }
                    Err(e) => {
                        error!(
                            target = name,
                            error = &e as &dyn std::error::Error,
                            "the buffer cannot be written; this target is tried again later"
                        );
                        (more, running.ring) = (false, false);
                    }
                }
            }
            match attempts.next().await {
                Some(tried) => swept.count(&tried),
                None if more && !self.soft.is_cancelled() => {}
                None => return swept,
            }
        }
    }

    fn full_width(&self) -> usize {
        self.settings.parallel.max(1)
    }

    /// How many may be under way in a lane; where that is a probe, it begins with this.
    fn begin_width(&self, target: &Target) -> usize {
        let now = self.clock.now();
        let mut lanes = self.lock();
        let width = lanes.width(target, self.full_width(), now);
        if width > 0
            && let Some(health) = lanes.health.get_mut(target)
        {
            health.probing(now);
        }
        width
    }

    fn lock(&self) -> MutexGuard<'_, Lanes> {
        lock(&self.lanes)
    }
}

impl Lanes {
    fn width(&self, target: &Target, full: usize, now: Timestamp) -> usize {
        self.health
            .get(target)
            .map_or(full, |health| health.width(full, now))
    }
}

impl Swept {
    fn count(&mut self, tried: &Tried) {
        use store::buffer::Step;
        match (tried.recorded, &tried.step) {
            (Some(Recorded::Lost), _) => self.lost += 1,
            (_, Step::Delivered) => self.delivered += 1,
            (_, Step::Park { .. } | Step::Failed { .. }) => self.parked += 1,
            (_, Step::Retry { .. }) => self.retried += 1,
            (_, Step::Released) => {}
        }
    }
}

/// A lane that runs; however it ends, it runs no more.
struct Running<'a> {
    engine: &'a Engine,
    target: Target,
    /// Something may have become due behind its back: the sweep looks again. Not where the file is the trouble.
    ring: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.engine.lock().running.remove(&self.target);
        if self.ring {
            self.engine.buffer.wake().look_again();
        }
    }
}
