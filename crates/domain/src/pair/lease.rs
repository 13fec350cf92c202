//! The lease, as one machine of a pair has and gives it: the right to attempt calls and writes that both machines know.
//!
//! Leaves to others: what central answers ([`super::witness`]), who is asked when (`site::pair`).
//! Always true: no clock is read here: whoever drives this says how much time has passed, on a clock that runs while the
//! machine sleeps. Who holds a lease counts from before it asked; who gives one counts from after, and longer. Nothing is
//! asked and nothing promised so soon after a start that a promise of the last run could still be running.

use super::Rank;
use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

/// The longest lease there is.
pub const LONGEST_LEASE: Duration = Duration::from_secs(60);
/// Added to what a giver waits. More than a question and its answer may take.
pub const LEASE_MARGIN: Duration = Duration::from_secs(3);
/// How long a question about a lease, or its answer, may take.
pub const LEASE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a lease lasts for the one who holds it, and for the one who gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Terms {
    pub lease: Duration,
    pub margin: Duration,
    /// How much faster one clock may run than the other, in percent.
    pub drift: u32,
}

impl Terms {
    pub fn of(lease: Duration) -> Self {
        Self {
            lease: lease.min(LONGEST_LEASE),
            margin: LEASE_MARGIN,
            drift: 10,
        }
    }

    /// How long the giver of a lease counts it.
    pub fn kept(&self, lease: Duration) -> Duration {
        lease
            .saturating_add(lease.saturating_mul(self.drift) / 100)
            .saturating_add(self.margin)
    }
}

/// Who gives leases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Giver {
    /// The other machine, which follows this one: it promises not to take over meanwhile.
    Standby,
    /// Central.
    Witness,
}

impl Giver {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Standby => "Standby",
            Self::Witness => "Witness",
        }
    }
}

/// A lease that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Held {
    pub left: Duration,
    pub by: Giver,
}

/// Why a machine promises nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NoPromise {
    /// It has just started, and may have promised something to somebody else before.
    JustStarted,
    /// It follows another turn, or none.
    OtherTurn,
    /// Its copy is not whole.
    Behind,
    /// Its file began empty, and central has not confirmed the turn it follows since: what the machine made with the disk it
    /// lost, in a turn that the active one may not know of, is not in any file.
    NotConfirmed,
    /// It is active itself, or about to become it.
    TakesOver,
}

impl fmt::Display for NoPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::JustStarted => "it has just started",
            Self::OtherTurn => "it does not follow this turn",
            Self::Behind => "its copy is not complete",
            Self::NotConfirmed => "its disk is new, and central has not confirmed this turn since",
            Self::TakesOver => "it is about to take over, or has",
        })
    }
}

/// A machine as its standby is asked for a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Follower {
    /// It follows, and is not active itself.
    pub follows: bool,
    /// Of the turn it follows.
    pub rank: Rank,
    /// Nothing was missing in its copy when it last looked.
    pub caught_up: bool,
    /// Central has confirmed the turn since this machine joined with an empty file, or it never did that.
    pub confirmed: bool,
}

/// A question that has not been answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Asked {
    number: u64,
    of: Giver,
    ago: Duration,
}

/// What one machine holds and has promised. Lives as long as its process: a new one has to begin with a quiet time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Leases {
    terms: Terms,
    quiet: Duration,
    promised: Duration,
    held: Option<Held>,
    asked: Option<Asked>,
    numbers: u64,
}

impl Leases {
    /// Of a process that has just started.
    pub fn started(terms: Terms) -> Self {
        Self::after_quiet(terms, terms.kept(terms.lease))
    }

    /// The same with another quiet time: none where it is certain that nothing was promised before.
    pub fn after_quiet(terms: Terms, quiet: Duration) -> Self {
        Self {
            terms,
            quiet,
            promised: Duration::ZERO,
            held: None,
            asked: None,
            numbers: 0,
        }
    }

    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// So much time has passed since this was last said, and so much of it on a clock that may stand still while the machine
    /// sleeps but is never set. What is held ends by the first, what is given by the second: both err on the safe side.
    pub fn pass(&mut self, time: Duration, awake: Duration) {
        self.quiet = self.quiet.saturating_sub(awake);
        self.promised = self.promised.saturating_sub(awake);
        if let Some(asked) = &mut self.asked {
            asked.ago = asked.ago.saturating_add(time);
        }
        if let Some(held) = &mut self.held {
            held.left = held.left.saturating_sub(time);
        }
        self.held = self.held.filter(|held| !held.left.is_zero());
    }

    pub fn held(&self) -> Option<Held> {
        self.held
    }

    /// How long nothing is asked or promised yet.
    pub fn quiet(&self) -> Duration {
        self.quiet
    }

    /// How long somebody else may still rely on a promise.
    pub fn promised(&self) -> Duration {
        self.promised
    }

    /// A question is about to be sent: its number. None where it must not be asked, or another is open.
    pub fn ask(&mut self, of: Giver) -> Option<u64> {
        let bound = of == Giver::Witness && !self.promised.is_zero();
        if !self.quiet.is_zero() || bound || self.asked.is_some() {
            return None;
        }
        self.numbers += 1;
        self.asked = Some(Asked {
            number: self.numbers,
            of,
            ago: Duration::ZERO,
        });
        Some(self.numbers)
    }

    /// The answer to that question is a lease; false where nobody waits for it any more. It has lasted since the question.
    pub fn granted(&mut self, number: u64, lease: Duration) -> bool {
        let Some(asked) = self.asked.filter(|asked| asked.number == number) else {
            return false;
        };
        self.asked = None;
        let left = lease.min(self.terms.lease).saturating_sub(asked.ago);
        if left > self.held.map_or(Duration::ZERO, |held| held.left) {
            self.held = Some(Held { left, by: asked.of });
        }
        !left.is_zero()
    }

    /// The answer is no, or none came: whatever comes later is not listened to.
    pub fn gave_up(&mut self, number: u64) {
        self.asked = self.asked.filter(|asked| asked.number != number);
    }

    /// The active one asks for a lease. What is promised here is not to ask the witness for longer than the lease lasts.
    pub fn promise(&mut self, asked: Rank, lease: Duration, own: Follower) -> Result<Duration, NoPromise> {
        let takes_over = self.asked.is_some_and(|asked| asked.of == Giver::Witness);
        if takes_over || self.held.is_some() || !own.follows {
            return Err(NoPromise::TakesOver);
        }
        if !self.quiet.is_zero() {
            return Err(NoPromise::JustStarted);
        }
        if asked != own.rank {
            return Err(NoPromise::OtherTurn);
        }
        if !own.caught_up {
            return Err(NoPromise::Behind);
        }
        if !own.confirmed {
            return Err(NoPromise::NotConfirmed);
        }
        let lease = lease.min(self.terms.lease);
        self.promised = self.promised.max(self.terms.kept(lease));
        Ok(lease)
    }

    /// This machine attempts nothing that both know from here on, and says so.
    pub fn renounce(&mut self) {
        (self.held, self.asked) = (None, None);
    }

    /// The one it had promised to has renounced.
    pub fn released(&mut self) {
        self.promised = Duration::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const LEASE: Duration = Duration::from_secs(10);
    const KEPT: Duration = Duration::from_secs(14);

    fn quiet_over() -> Leases {
        Leases::after_quiet(Terms::of(LEASE), Duration::ZERO)
    }

    fn rank(counter: u64) -> Rank {
        (counter, Uuid::nil())
    }

    fn passes(leases: &mut Leases, time: Duration) {
        leases.pass(time, time);
    }

    fn follower(counter: u64) -> Follower {
        Follower {
            follows: true,
            rank: rank(counter),
            caught_up: true,
            confirmed: true,
        }
    }

    #[test]
    fn a_machine_that_has_just_started_neither_asks_nor_promises_for_as_long_as_a_promise_lasts() {
        let mut leases = Leases::started(Terms::of(LEASE));
        assert_eq!(leases.quiet(), KEPT);
        passes(&mut leases, KEPT - Duration::from_millis(1));
        assert_eq!(leases.ask(Giver::Standby), None);
        assert_eq!(leases.ask(Giver::Witness), None);
        assert_eq!(
            leases.promise(rank(1), LEASE, follower(1)),
            Err(NoPromise::JustStarted)
        );
        passes(&mut leases, Duration::from_millis(1));
        assert_eq!(leases.promise(rank(1), LEASE, follower(1)), Ok(LEASE));
    }

    #[test]
    fn a_lease_counts_from_the_question_and_a_promise_longer_than_the_lease() {
        let (mut active, mut standby) = (quiet_over(), quiet_over());
        let number = active.ask(Giver::Standby).unwrap();
        passes(&mut active, Duration::from_secs(1));
        let lease = standby.promise(rank(1), LEASE, follower(1)).unwrap();
        assert!(active.granted(number, lease));
        assert_eq!(active.held().unwrap().left, Duration::from_secs(9));
        assert_eq!(standby.promised(), KEPT);
        passes(&mut standby, KEPT - Duration::from_millis(1));
        assert_eq!(standby.ask(Giver::Witness), None, "it has promised");
        passes(&mut standby, Duration::from_millis(1));
        assert!(standby.ask(Giver::Witness).is_some());
        passes(&mut active, Duration::from_secs(9));
        assert_eq!(active.held(), None);
    }

    #[test]
    fn an_answer_to_a_question_that_was_given_up_is_not_listened_to() {
        let mut leases = quiet_over();
        let first = leases.ask(Giver::Witness).unwrap();
        assert_eq!(leases.ask(Giver::Standby), None, "one question at a time");
        leases.gave_up(first);
        assert!(!leases.granted(first, LEASE));
        let second = leases.ask(Giver::Witness).unwrap();
        leases.renounce();
        assert!(!leases.granted(second, LEASE));
        assert_eq!(leases.held(), None);
    }

    #[test]
    fn who_is_about_to_take_over_promises_nothing() {
        let mut leases = quiet_over();
        let number = leases.ask(Giver::Witness).unwrap();
        assert_eq!(
            leases.promise(rank(1), LEASE, follower(1)),
            Err(NoPromise::TakesOver)
        );
        leases.gave_up(number);
        let behind = Follower {
            caught_up: false,
            ..follower(1)
        };
        assert_eq!(leases.promise(rank(1), LEASE, behind), Err(NoPromise::Behind));
        assert_eq!(
            leases.promise(rank(2), LEASE, follower(1)),
            Err(NoPromise::OtherTurn)
        );
        assert_eq!(leases.promised(), Duration::ZERO, "a refusal binds nobody");
    }

    #[test]
    fn a_machine_with_a_new_disk_promises_nothing_until_central_has_confirmed_the_turn() {
        let mut leases = quiet_over();
        let new = Follower {
            confirmed: false,
            ..follower(1)
        };
        assert_eq!(leases.promise(rank(1), LEASE, new), Err(NoPromise::NotConfirmed));
        assert_eq!(leases.promised(), Duration::ZERO);
        assert_eq!(leases.promise(rank(1), LEASE, follower(1)), Ok(LEASE));
    }

    #[test]
    fn a_machine_that_slept_holds_nothing_and_still_keeps_its_promise() {
        let mut leases = quiet_over();
        leases.promise(rank(1), LEASE, follower(1)).unwrap();
        leases.pass(KEPT, Duration::ZERO);
        assert_eq!(leases.promised(), KEPT);
        let mut leases = quiet_over();
        let number = leases.ask(Giver::Standby).unwrap();
        assert!(leases.granted(number, LEASE));
        leases.pass(LEASE, Duration::ZERO);
        assert_eq!(leases.held(), None);
    }

    #[test]
    fn nobody_gets_more_than_the_longest_lease() {
        let terms = Terms::of(Duration::MAX);
        assert_eq!(terms.lease, LONGEST_LEASE);
        let mut leases = Leases::after_quiet(terms, Duration::ZERO);
        let number = leases.ask(Giver::Witness).unwrap();
        assert!(leases.granted(number, Duration::MAX));
        assert_eq!(leases.held().unwrap().left, LONGEST_LEASE);
        assert_eq!(terms.kept(Duration::MAX), Duration::MAX, "it saturates");
    }
}
