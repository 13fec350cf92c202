//! What may be attempted now. Calls and writes that both machines know need the lease; those that only this one has ever had do
//! not, and neither does anything where no other machine has a copy.

use super::{Pair, lease_state::Until, own_attempts::OwnAttempt};
use domain::{lock::lock, pair::Role};
use link::peer::FOLLOWED_WITHIN;
use std::{sync::atomic::Ordering, time::Duration};
use tokio::time::{Instant, sleep_until, timeout};

/// How many messages a lane may take from which place on.
const ALL: i64 = 0;

impl Pair {
    /// The place from which on messages may be attempted: all of them, or those that the other machine has never been shown.
    pub(crate) fn attempts_from(&self) -> i64 {
        match self.is_covered() {
            true => ALL,
            false => self.own_attempts.first(),
        }
    }

    /// Whether the message at this place may be attempted now.
    pub(crate) fn may_attempt(&self, seq: i64) -> bool {
        seq >= self.attempts_from()
    }

    /// Begins an attempt on the message at this place, if it may be made now. Looked at directly before the network is; kept as long
    /// as the attempt is there.
    pub(crate) fn begin_attempt(&self, seq: i64) -> Option<Attempting<'_>> {
        let own = self.own_attempts.begin(seq);
        (own.is_some() || self.is_covered()).then_some(Attempting { _own: own })
    }

    /// Whether an attempt on the message at this place that is under way may go on.
    pub(crate) fn may_go_on(&self, seq: i64) -> bool {
        self.is_covered() || self.own_attempts.goes_on(seq)
    }

    /// Completes when the message at this place must not be attempted any more.
    pub(crate) async fn attempt_must_end(&self, seq: i64) {
        let mut until = self.until.subscribe();
        while self.may_go_on(seq) {
            let (lease, now) = (*until.borrow_and_update(), Instant::now());
            // What may be attempted without a lease is looked at now and then: it may be shown to the other machine meanwhile.
            let again = now + RECHECK;
            let ends = lease.map(|until| until.instant).filter(|ends| *ends > now);
            tokio::select! {
                () = sleep_until(ends.map_or(again, |ends| ends.min(again))) => {}
                changed = until.changed() => if changed.is_err() { return },
            }
        }
    }

    /// Why calls and writes that both machines know are not attempted; none where they are.
    pub fn held(&self) -> Option<String> {
        if self.role() == Role::Standby || self.is_free() || self.has_lease() {
            return None;
        }
        if self.standing().stale {
            return Some(
                "the other machine may have attempted them: they wait until it has come with its disk, or `waypost site promote --force`"
                    .into(),
            );
        }
        let (quiet, _) = self.leases()?.waits();
        if !quiet.is_zero() {
            return Some(format!(
                "this machine has just started and asks for the lease in {} s",
                quiet.as_secs() + 1
            ));
        }
        let why = lock(&self.no_lease).clone();
        Some(why.unwrap_or_else(|| "the lease has not been asked for yet".into()))
    }

    /// Everything may be attempted.
    fn is_covered(&self) -> bool {
        self.is_free() || self.has_lease()
    }

    async fn becomes_covered(&self) {
        let mut until = self.until.subscribe();
        while !self.is_covered() && until.changed().await.is_ok() {}
    }

    /// Nobody else can have anything of it, or a person decides.
    fn is_free(&self) -> bool {
        self.leases().is_none() || self.sole.load(Ordering::SeqCst)
    }

    fn has_lease(&self) -> bool {
        let until: Option<Until> = *self.until.borrow();
        !self.stale.load(Ordering::SeqCst)
            && until.is_some_and(|until| Instant::now() < until.instant && self.clock.now() < until.wall)
    }

    /// Whether the standby fetched what changed a moment ago, and had got what it fetched before.
    pub(super) fn is_fetched_from(&self, lease: Duration) -> bool {
        let fetched = *lock(&self.fetched_at);
        fetched.is_some_and(|at| at.elapsed() < lease.max(FOLLOWED_WITHIN))
    }

    /// The standby asks for what comes after this place, and the last change is `head`. One that asks for the same again and again
    /// does not follow.
    pub(super) fn is_fetched(&self, after: i64, head: i64) {
        if after >= head || after > self.standby_has() {
            self.is_copied();
        }
    }

    /// The standby makes a whole copy.
    pub(super) fn is_copied(&self) {
        *lock(&self.fetched_at) = Some(Instant::now());
    }

    /// Everything up to here is about to be shown to the other machine. When this returns, no attempt on any of it is under way
    /// without the lease: each was let end, or, where that took too long, cut off.
    pub(super) async fn shows_up_to(&self, seq: i64) {
        self.own_attempts.show(seq);
        if let Some(leases) = self.leases() {
            leases.set_followed(true);
        }
        if !self.is_covered() {
            let ended = async {
                tokio::select! {
                    () = self.own_attempts.ended() => {}
                    () = self.becomes_covered() => {}
                }
            };
            let _ = timeout(self.longest_show_wait(), ended).await;
        }
        self.own_attempts.cut();
        if !self.is_covered() {
            self.own_attempts.ended().await;
        }
    }

    /// Less than the standby may lack something and still count as one that follows, and than it waits for an answer.
    fn longest_show_wait(&self) -> Duration {
        (self.lease_time() * 3 / 4).min(LONGEST_SHOW_WAIT)
    }

    /// What the lease and the file say now, for those who look often.
    pub(super) fn look_at_lease(&self) {
        let standing = self.standing();
        self.sole.store(standing.sole, Ordering::SeqCst);
        self.stale.store(standing.stale, Ordering::SeqCst);
        let until = self.leases().and_then(|leases| leases.until());
        let (had, has) = (self.has_lease(), until.is_some());
        self.until.send_replace(until);
        if has && !had {
            // What was held is due.
            self.buffer.wake().look_again();
        }
    }
}

/// An attempt, as long as it is on the network.
#[derive(Debug)]
pub(crate) struct Attempting<'a> {
    _own: Option<OwnAttempt<'a>>,
}

/// How long at most the standby waits for a row whose attempt is under way without the lease.
const LONGEST_SHOW_WAIT: Duration = Duration::from_secs(20);
/// How often a running attempt looks whether the wall clock has gone past the end of its lease.
const RECHECK: Duration = Duration::from_millis(500);
