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
struct OpenQuestion {
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
    asked: Option<OpenQuestion>,
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

    /// Earlier runs gave and asked for leases as long as this: nothing is asked or promised until the last of them is over.
    pub fn follows_runs_of(&mut self, longest: Duration) {
        self.quiet = self.quiet.max(self.terms.kept(longest.min(LONGEST_LEASE)));
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
        self.asked = Some(OpenQuestion {
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

    /// Nobody waits for an answer any more, whichever was open: whoever asked has ended. One that still comes is not heard.
    pub fn gave_up_all(&mut self) {
        self.asked = None;
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
#[path = "lease_tests.rs"]
mod tests;
