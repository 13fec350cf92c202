//! Turns due notifications into delivery attempts.
//!
//! The story: lanes with something to do queue up (a new row, a timer, the poll). [`lanes`] plans how much may be
//! claimed from whom; one statement claims it ([`claim`]); each row becomes a task ([`attempt`]) that resolves whom
//! it is for and calls the adapter; [`conclude`] says what follows, and the [`recorder`] commits what has gathered;
//! its feedback frees places, and the next claim follows. [`leases`] keeps slow sends ours.
//!
//! Leaves to others: classifying replies (`delivery`), delays (`domain::retry`), SQL (`store`).
//! Always true: nothing is locked in the store while an adapter is on the network; no more rows are claimed than
//! can be started at once, or for a quick far end a moment later ([`gate`]); while results cannot be recorded, nothing
//! is claimed; an orderly stop counts nothing.

mod attempt;
mod claim;
mod clock;
mod conclude;
mod fault;
mod gate;
mod lane_history;
mod lanes;
mod leases;
pub(crate) mod pauses;
mod recorder;
mod sending;
mod sent;
mod settings;
mod suppressed;
mod tally;
mod tenants;
mod transcripts;

pub use tally::Tally;

use crate::{chores::Chores, node::Central, wake::Wake};
use attempt::{AttemptContext, Finished};
use claim::FIRST_WAIT;
use clock::StoreClock;
use conclude::Judge;
use lanes::Lanes;
use leases::{Leases, Renewing};
use pauses::Pauses;
use recorder::{Feedback, Recorder};
pub use settings::DispatchSettings;
use settings::next_look;
use std::{sync::Arc, time::Duration};
use store::{
    Outbox,
    loops::{About, Loops, Swept, Work},
};
use suppressed::SuppressionCheck;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, MissedTickBehavior},
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};
use transcripts::TranscriptBudget;

pub struct Dispatcher {
    store: Arc<dyn Outbox>,
    settings: DispatchSettings,
    node: String,
    wake: Arc<Wake>,
    chores: Arc<Chores>,
    loops: Loops,
    clock: Arc<StoreClock>,
    context: Arc<AttemptContext>,
    lanes: Lanes,
    leases: Arc<Leases>,
    pauses: Pauses,
    finished: mpsc::UnboundedSender<Finished>,
    feedback: mpsc::UnboundedReceiver<Feedback>,
    blocked: watch::Receiver<bool>,
    /// Claimed and not yet on record.
    unrecorded: usize,
    total: Tally,
    /// Do not ask the store before this: the last claim failed.
    claim_not_before: Option<Instant>,
    claim_wait: Duration,
    _renewing: DropGuard,
}

impl std::fmt::Debug for Dispatcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Dispatcher({})", self.node)
    }
}

impl Dispatcher {
    /// Must be called inside a runtime: the recorder and the renewing of leases start here.
    pub(crate) fn new(central: &Central) -> Self {
        let settings = central.settings.dispatch.clone();
        let clock = Arc::new(StoreClock::new(central.clock.clone()));
        let leases = Arc::new(Leases::default());
        let (finished, finished_rx) = mpsc::unbounded_channel();
        let (feedback_tx, feedback) = mpsc::unbounded_channel();
        let (blocked_tx, blocked) = watch::channel(false);
        let recorder = Arc::new(Recorder {
            store: central.store.clone(),
            signals: central.store.clone(),
            suppressions: central.store.clone(),
            clock: clock.clone(),
            changes: central.changes.clone(),
            leases: leases.clone(),
            feedback: feedback_tx.clone(),
            blocked: blocked_tx,
            judge: Judge::new(clock.clone()),
            tracer: central.settings.tracer.clone(),
        });
        let (concluded_tx, concluded) = mpsc::unbounded_channel();
        let loops = &central.loops;
        let concluding = recorder.clone().conclude(finished_rx, concluded_tx);
        tokio::spawn(loops.watch("drawing conclusions from attempts", concluding));
        tokio::spawn(loops.watch("recording attempts", recorder.run(concluded)));
        let renewing = CancellationToken::new();
        let renew = Renewing {
            store: central.store.clone(),
            leases: leases.clone(),
            lease: settings.lease,
        };
        loops.start(&TaskTracker::new(), &renewing, renew);
        Self {
            store: central.store.clone(),
            node: central.settings.node.clone(),
            wake: central.wake.clone(),
            chores: central.chores.clone(),
            loops: loops.clone(),
            context: Arc::new(AttemptContext {
                directory: central.directory.clone(),
                suppressions: SuppressionCheck::new(central.store.clone()),
                unsubscribing: central.unsubscribing.clone(),
                store: central.store.clone(),
                feedback: feedback_tx,
                timeout: settings.attempt_timeout,
                abandon: CancellationToken::new(),
                tracer: central.settings.tracer.clone(),
                transcripts: TranscriptBudget::new(
                    central.settings.retention.transcripts,
                    central.settings.purge_interval,
                    Instant::now(),
                ),
            }),
            lanes: Lanes::new(settings.permits),
            settings,
            clock,
            leases,
            pauses: Pauses::new(central.store.clone()),
            finished,
            feedback,
            blocked,
            unrecorded: 0,
            total: Tally::default(),
            claim_not_before: None,
            claim_wait: FIRST_WAIT,
            _renewing: renewing.drop_guard(),
        }
    }

    /// Delivers everything that is due now and returns when all of it is on record.
    pub async fn sweep(&mut self) -> store::Result<Tally> {
        let before = self.total;
        self.look().await?;
        loop {
            self.take_news().await?;
            self.lanes.fire_timers(self.clock.now());
            let claimed = self.claim().await?;
            self.take_feedback();
            if claimed > 0 {
                continue;
            }
            if self.unrecorded > 0 {
                if let Some(feedback) = self.feedback.recv().await {
                    self.on_feedback(feedback);
                }
            } else if !self.lanes.anything_ready() {
                break;
            }
        }
        Ok(self.total.since(&before))
    }

    /// Delivers until stopped, then waits for what is under way, up to the grace period.
    pub async fn run(mut self, stop: CancellationToken) {
        if let Err(error) = self.store.void_stale_leases().await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(
                error,
                "claims of an earlier run could not be freed at once; their leases will end"
            );
        }
        let mut poll = tokio::time::interval(self.settings.interval);
        poll.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !stop.is_cancelled() {
            self.news_or_log().await;
            self.lanes.fire_timers(self.clock.now());
            if self.claim_if_allowed().await > 0 {
                self.take_feedback();
                if self.lanes.anything_ready() && self.lanes.has_room() {
                    // More is due: claim again as soon as finished sends have had their turn.
                    tokio::task::yield_now().await;
                    continue;
                }
            }
            let timer = self.next_wait();
            // Not biased: a steady stream of results must not keep the poll from its turn.
            tokio::select! {
                () = stop.cancelled() => break,
                Some(feedback) = self.feedback.recv() => {
                    self.on_feedback(feedback);
                    self.take_feedback();
                }
                () = self.wake.notified() => {}
                _ = poll.tick() => {
                    let next = self.poll().await;
                    poll.reset_after(next);
                }
                () = tokio::time::sleep(timer) => {}
                Ok(()) = self.blocked.changed() => {}
            }
        }
        self.finish().await;
    }

    fn next_wait(&self) -> Duration {
        let retry = self
            .claim_not_before
            .map(|at| at.saturating_duration_since(Instant::now()));
        let timer = self.lanes.next_timer().map(|at| at.since(self.clock.now()));
        let nearest = [retry, timer].into_iter().flatten().min();
        nearest
            .unwrap_or(self.settings.interval)
            .max(Duration::from_millis(1))
    }

    /// Answers when to come again.
    async fn poll(&mut self) -> Duration {
        let run = self.loops.begin(self.about());
        let delivered = self.total.delivered;
        let looked = self.look().await.map(|lanes| match lanes {
            0 => Work::nothing(format!("nothing waits; {delivered} delivered so far")),
            1 => Work::done(format!(
                "found 1 lane with notifications waiting; {delivered} delivered so far"
            )),
            n => Work::done(format!(
                "found {n} lanes with notifications waiting; {delivered} delivered so far"
            )),
        });
        let next = next_look(self.settings.interval, run.took());
        self.loops.over(&run, &Swept::from(looked).within(next));
        metrics::gauge!("waypost_sending").set(self.lanes.sending() as f64);
        next
    }

    fn about(&self) -> About {
        About::every(
            "dispatch",
            "looks for notifications that are due, besides being woken by new ones",
            self.settings.interval,
        )
    }

    /// Looks at every lane once. Answers how many have anything waiting.
    async fn look(&mut self) -> store::Result<usize> {
        let waiting = self.store.lanes_waiting().await?;
        self.clock.saw(waiting.now);
        self.saw_directory(waiting.directory_version);
        self.chores.found(waiting.chores);
        for lane in &waiting.lanes {
            self.lanes.seen(lane, waiting.now);
        }
        Ok(waiting.lanes.len())
    }

    fn saw_directory(&mut self, version: i64) {
        if self.context.directory.saw_version(version) {
            self.lanes.reconsider_skipped();
        }
    }

    async fn take_news(&mut self) -> store::Result<()> {
        let news = self.wake.take();
        self.chores
            .came_in(|| news.lanes.iter().any(|lane| self.lanes.is_held(*lane)));
        for lane in news.lanes {
            self.lanes.enqueue(lane);
        }
        if news.look {
            self.look().await?;
        }
        Ok(())
    }

    async fn news_or_log(&mut self) {
        if let Err(error) = self.take_news().await {
            // The poll looks again.
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "looking at the lanes failed"
            );
        }
    }

    fn take_feedback(&mut self) {
        while let Ok(feedback) = self.feedback.try_recv() {
            self.on_feedback(feedback);
        }
    }

    fn on_feedback(&mut self, feedback: Feedback) {
        match feedback {
            Feedback::Over(attempts) => {
                for (lane, behaviour) in attempts {
                    self.lanes.finished(lane, behaviour);
                }
            }
            Feedback::Probed {
                lane,
                held,
                next_probe,
            } => self.lanes.probe_over(lane, held, next_probe),
            Feedback::Held { lane, next_probe } => {
                self.lanes.held(lane, true, next_probe);
                self.chores.look_for_failover();
            }
            Feedback::Paused { lane, until } => self.lanes.paused(lane, until),
            Feedback::Requests { lane, more } => self.lanes.asks_more(lane, more),
            Feedback::Recorded { tally, again } => {
                lanes::take(&mut self.unrecorded, tally.rows() as usize);
                self.total.add(&tally);
                if tally.waiting + tally.released > 0 {
                    // Back in lanes that are held, most likely.
                    self.chores.look_for_failover();
                }
                for (lane, when) in again {
                    self.lanes.at(lane, when);
                }
            }
        }
    }

    /// Waits for what is under way; what outlasts the grace period is let go, uncounted.
    async fn finish(mut self) {
        self.lanes.close_gates();
        let deadline = Instant::now() + self.settings.grace;
        self.wait_recorded(deadline).await;
        if self.unrecorded > 0 {
            tracing::info!(
                sending = self.unrecorded,
                "letting go of what is still being sent"
            );
            self.context.abandon.cancel();
            self.wait_recorded(Instant::now() + Duration::from_secs(5)).await;
        }
    }

    async fn wait_recorded(&mut self, deadline: Instant) {
        while self.unrecorded > 0 {
            match tokio::time::timeout_at(deadline, self.feedback.recv()).await {
                Ok(Some(feedback)) => self.on_feedback(feedback),
                Ok(None) | Err(_) => return,
            }
        }
    }
}
