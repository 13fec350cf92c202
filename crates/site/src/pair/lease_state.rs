//! The lease of this machine in real time: what [`Leases`] says, driven by this process's clocks.
//!
//! Always true: it lives as long as the process, whichever of the two this machine is meanwhile: what was promised before a change
//! of roles is kept after it.

use domain::{
    Clock, Timestamp,
    lock::lock,
    pair::{Follower, Giver, Held, Leases, NoPromise, Rank, Terms},
};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use store::Buffer;
use tokio::time::Instant;

/// When a lease ends: by whichever of the two clocks is there first. One stands still while the machine sleeps, the other can be
/// set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Until {
    pub instant: Instant,
    pub wall: Timestamp,
}

/// What this machine holds and has promised.
#[derive(Debug)]
pub struct LeaseState {
    clock: Arc<dyn Clock>,
    now: Mutex<Now>,
    /// The other machine may have the turn of this one.
    followed: AtomicBool,
    /// When this machine last became the other of the two.
    roles_changed: Mutex<Option<Instant>>,
    /// When this machine last tried to hand over in vain.
    handover_failed: Mutex<Option<Instant>>,
    /// What earlier runs gave and asked for counts, and is still to be heard: see [`Self::join`].
    earlier_runs: AtomicBool,
}

#[derive(Debug)]
struct Now {
    leases: Leases,
    instant: Instant,
    wall: Timestamp,
}

impl LeaseState {
    /// Of a process that has just started.
    pub fn started(lease: Duration, clock: Arc<dyn Clock>) -> Arc<Self> {
        Self::of(Leases::started(Terms::of(lease)), true, clock)
    }

    /// Of one that is certain that nothing was promised before: it needs no quiet time.
    pub fn new(lease: Duration, clock: Arc<dyn Clock>) -> Arc<Self> {
        Self::of(
            Leases::after_quiet(Terms::of(lease), Duration::ZERO),
            false,
            clock,
        )
    }

    fn of(leases: Leases, earlier_runs: bool, clock: Arc<dyn Clock>) -> Arc<Self> {
        let now = Now {
            leases,
            instant: Instant::now(),
            wall: clock.now(),
        };
        Arc::new(Self {
            now: Mutex::new(now),
            clock,
            // A process that has just started cannot know.
            followed: AtomicBool::new(true),
            roles_changed: Mutex::default(),
            handover_failed: Mutex::default(),
            earlier_runs: AtomicBool::new(earlier_runs),
        })
    }

    /// The lease of this machine may be shorter than the one it had when it was last started: the quiet time lasts as long as one of
    /// those may, which stand in the file. Heard once, at the start of the process: later files are of this run.
    pub(super) async fn join(&self, buffer: &Buffer) -> store::Result<()> {
        let (kept, lease) = (buffer.longest_lease().await?, self.lease());
        if self.earlier_runs.swap(false, Ordering::SeqCst) {
            self.with(|leases| leases.follows_runs_of(kept));
        }
        match lease > kept {
            true => buffer.set_longest_lease(lease).await,
            false => Ok(()),
        }
    }

    /// What earlier runs gave is over: from here on only leases of this run can be running.
    pub(super) async fn outlives_earlier_runs(&self, buffer: &Buffer) -> store::Result<()> {
        let (quiet, lease) = (self.waits().0, self.lease());
        match quiet.is_zero() && buffer.longest_lease().await? > lease {
            true => buffer.set_longest_lease(lease).await,
            false => Ok(()),
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Leases) -> T) -> T {
        let mut now = lock(&self.now);
        let (instant, wall) = (Instant::now(), self.clock.now());
        let awake = instant.saturating_duration_since(now.instant);
        let time = wall.since(now.wall).max(awake);
        (now.instant, now.wall) = (instant, wall);
        now.leases.pass(time, awake);
        work(&mut now.leases)
    }

    pub(super) fn lease(&self) -> Duration {
        self.with(|leases| leases.terms().lease)
    }

    pub fn held(&self) -> Option<Held> {
        self.with(|leases| leases.held())
    }

    pub(super) fn until(&self) -> Option<Until> {
        let left = self.held()?.left;
        Some(Until {
            instant: Instant::now() + left,
            wall: self.clock.now() + left,
        })
    }

    /// How long this machine still neither asks nor promises, and how long it has promised not to take over.
    pub(super) fn waits(&self) -> (Duration, Duration) {
        self.with(|leases| (leases.quiet(), leases.promised()))
    }

    pub(super) fn roles_change(&self) {
        *lock(&self.roles_changed) = Some(Instant::now());
    }

    /// This machine tried to hand over, and goes on.
    pub(super) fn handover_failed(&self) {
        *lock(&self.handover_failed) = Some(Instant::now());
    }

    pub(super) fn handover_failed_ago(&self) -> Option<Duration> {
        lock(&self.handover_failed).map(|at| at.elapsed())
    }

    /// None where they have not since this process started.
    pub(super) fn roles_changed_ago(&self) -> Option<Duration> {
        lock(&self.roles_changed).map(|at| at.elapsed())
    }

    /// How long the machine that this one has handed over to is still left alone. It starts anew as the active one and cannot be
    /// asked meanwhile: whoever took that for its end would take back at once what a person had handed over.
    pub(super) fn handed_over(&self) -> Duration {
        let ago = self.roles_changed_ago();
        ago.map_or(Duration::ZERO, |ago| self.lease().saturating_sub(ago))
    }

    pub(super) fn set_followed(&self, followed: bool) {
        self.followed.store(followed, Ordering::SeqCst);
    }

    pub(super) fn is_followed(&self) -> bool {
        self.followed.load(Ordering::SeqCst)
    }

    pub(super) fn ask(&self, of: Giver) -> Option<u64> {
        self.with(|leases| leases.ask(of))
    }

    pub(super) fn granted(&self, number: u64, lease: Duration) -> bool {
        self.with(|leases| leases.granted(number, lease))
    }

    pub(super) fn gave_up(&self, number: u64) {
        self.with(|leases| leases.gave_up(number));
    }

    /// Of an earlier role of this process, or of a loop that broke: its question would stay open for ever, and nothing could be asked.
    pub(super) fn gave_up_all(&self) {
        self.with(Leases::gave_up_all);
    }

    pub(super) fn promise(&self, turn: Rank, lease: Duration, own: Follower) -> Result<Duration, NoPromise> {
        self.with(|leases| leases.promise(turn, lease, own))
    }

    pub(super) fn renounce(&self) {
        self.with(Leases::renounce);
    }

    pub(super) fn released(&self) {
        self.with(Leases::released);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ManualClock;
    use store::buffer::Options;

    #[tokio::test(start_paused = true)]
    async fn whoever_has_handed_over_leaves_the_other_alone_for_a_lease_and_no_longer() {
        let lease = Duration::from_secs(30);
        let leases = LeaseState::new(lease, Arc::new(ManualClock::default()));
        assert_eq!(leases.handed_over(), Duration::ZERO);
        leases.roles_change();
        assert_eq!(leases.handed_over(), lease);
        tokio::time::advance(lease / 3).await;
        assert_eq!(leases.handed_over(), lease * 2 / 3);
        tokio::time::advance(lease).await;
        assert_eq!(leases.handed_over(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_was_made_shorter_waits_for_those_of_the_run_before_and_then_forgets_them() {
        let [long, short] = [40, 10].map(Duration::from_secs);
        let (folder, clock) = (tempfile::tempdir().unwrap(), Arc::new(ManualClock::default()));
        let options = Options {
            inline: true,
            ..Options::at(folder.path().join("buffer.db"))
        };
        let buffer = Buffer::open(&options, clock.clone()).unwrap();
        LeaseState::started(long, clock.clone())
            .join(&buffer)
            .await
            .unwrap();
        let started = LeaseState::started(short, clock.clone());
        started.join(&buffer).await.unwrap();
        assert!(started.waits().0 > long);
        started.outlives_earlier_runs(&buffer).await.unwrap();
        assert_eq!(buffer.longest_lease().await.unwrap(), long, "they may still run");
        let over = LeaseState::new(short, clock);
        over.join(&buffer).await.unwrap();
        assert_eq!(over.waits().0, Duration::ZERO);
        over.outlives_earlier_runs(&buffer).await.unwrap();
        assert_eq!(buffer.longest_lease().await.unwrap(), short);
        buffer.close().await;
    }
}
