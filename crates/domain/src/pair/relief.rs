//! When an active machine hands over by itself: it cannot take messages in, or lacks central while its standby has it.
//!
//! Leaves to others: handing over (`site::pair`), which is the planned one: nothing is lost and nothing sent twice.
//! Always true: between two changes of roles that nobody asked for lies a rest, so that the two do not pass the site to and fro; the one
//! who is to take over has what the other lacks.

use super::Role;
use std::{fmt, time::Duration};

/// Why an active machine wants to hand over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relief {
    /// There is no room on its disk: it takes nothing in.
    NoRoom,
    /// It cannot reach central.
    NoCentral,
}

impl Relief {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoRoom => "NoRoom",
            Self::NoCentral => "NoCentral",
        }
    }
}

impl fmt::Display for Relief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoRoom => "there is no room on its disk",
            Self::NoCentral => "it does not reach central",
        })
    }
}

/// How long trouble lasts before a machine hands over, and how often that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReliefTerms {
    pub no_room_for: Duration,
    pub no_central_for: Duration,
    /// Since the roles changed last, whoever changed them.
    pub rest: Duration,
    /// Since the other machine last said no.
    pub again_after: Duration,
}

impl Default for ReliefTerms {
    fn default() -> Self {
        Self {
            no_room_for: Duration::from_secs(10),
            no_central_for: Duration::from_secs(30),
            rest: Duration::from_secs(600),
            again_after: Duration::from_secs(60),
        }
    }
}

/// A machine that may want to hand over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plight {
    pub role: Role,
    pub no_room_for: Option<Duration>,
    pub no_central_for: Option<Duration>,
    /// The other fetches what changes here.
    pub followed: bool,
    /// How long ago the roles changed, as far as this process knows.
    pub changed_ago: Option<Duration>,
    /// How long ago the other said no.
    pub refused_ago: Option<Duration>,
}

/// Why this machine asks the other to take over now, if it does.
pub fn wants_relief(terms: &ReliefTerms, plight: &Plight) -> Option<Relief> {
    let soon = |ago: Option<Duration>, rest: Duration| ago.is_some_and(|ago| ago < rest);
    if plight.role == Role::Standby
        || !plight.followed
        || soon(plight.changed_ago, terms.rest)
        || soon(plight.refused_ago, terms.again_after)
    {
        return None;
    }
    let lasts = |time: Option<Duration>, least: Duration| time.is_some_and(|time| time >= least);
    // Without room nothing is taken in; without central notifications wait.
    if lasts(plight.no_room_for, terms.no_room_for) {
        return Some(Relief::NoRoom);
    }
    lasts(plight.no_central_for, terms.no_central_for).then_some(Relief::NoCentral)
}

/// The standby that is asked to take over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reliever {
    /// Nothing was missing in its copy a moment ago, and nobody has to be met first.
    pub fresh: bool,
    pub has_room: bool,
    pub has_central: bool,
}

/// Why it does not take over, in words; nothing where it does.
pub fn refuses_relief(why: Relief, own: &Reliever) -> Option<&'static str> {
    match why {
        _ if !own.fresh => Some("its copy is not complete"),
        _ if !own.has_room => Some("there is no room on its disk either"),
        Relief::NoCentral if !own.has_central => Some("it does not reach central either"),
        Relief::NoRoom | Relief::NoCentral => None,
    }
}

#[cfg(test)]
#[path = "relief_tests.rs"]
mod tests;
