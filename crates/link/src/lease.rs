//! The question for a lease, between the wire and the plain types; and what a site's report says of its pair.

use crate::wire::{
    cut,
    v1::{self, ask_lease::Wanted as WantedOnWire, lease_answer::Is},
};
use domain::{
    Timestamp,
    pair::{HIGHEST_COUNTER, LeaseAnswer, LeaseAsk, NotGiven, Rank, Wanted, history, lease::LONGEST_LEASE},
    submission::limit,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use uuid::Uuid;

/// What the words begin with in which a machine says that it has no right to act: the other one of its pair may have.
pub const NOT_HOLDER: &str = "NotHolder";

/// Differences of a pair's machines that central keeps.
const MOST_DIFFERENCES: usize = 50;

/// The pair of a site, as its active machine reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PairReport {
    /// `Active` or `Standby`.
    pub role: String,
    /// How often the active one has changed.
    pub turn: u64,
    /// Who gave the lease that is held.
    pub lease_by: Option<String>,
    pub lease_ms: u64,
    /// Why calls and writes that both machines know are not attempted.
    pub held: Option<String>,
    /// Messages that the other machine has never been shown, counted up to 10,000.
    pub own: Option<u64>,
    /// Changes that the copy lacks.
    pub behind: Option<u64>,
    pub behind_ms: Option<u64>,
    pub caught_up: bool,
    /// What the other machine is called.
    pub other: Option<String>,
    pub other_role: Option<String>,
    pub last_contact: Option<Timestamp>,
    /// Why the other machine cannot be asked.
    pub trouble: Option<String>,
    /// What differs between the two machines, and what leads to the machine itself, in words.
    pub differences: Vec<String>,
}

/// A machine was asked as the one that is active in a turn, and is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotHolder {
    /// The turn it is active in, if it is.
    pub turn: Option<Rank>,
}

impl std::fmt::Display for NotHolder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.turn {
            Some((counter, _)) => write!(
                f,
                "{NOT_HOLDER}: this machine is active in another turn ({counter})"
            ),
            None => write!(f, "{NOT_HOLDER}: this machine is the standby"),
        }
    }
}

impl PairReport {
    /// How much of the lease was left, the second that had begun included; none where none is held or needed.
    pub fn lease_seconds(&self) -> Option<u64> {
        let needed = self.lease_by.is_some() && u128::from(self.lease_ms) <= LONGEST_LEASE.as_millis();
        needed.then_some(self.lease_ms.div_ceil(1000))
    }
}

impl From<PairReport> for v1::Pair {
    fn from(pair: PairReport) -> Self {
        Self {
            role: pair.role,
            turn: pair.turn,
            lease_by: pair.lease_by,
            lease_ms: pair.lease_ms,
            held: pair.held,
            own: pair.own,
            behind: pair.behind,
            behind_ms: pair.behind_ms,
            caught_up: pair.caught_up,
            other: pair.other,
            other_role: pair.other_role,
            last_contact: pair.last_contact.map(Timestamp::as_millis),
            trouble: pair.trouble,
            differences: pair.differences,
        }
    }
}

impl From<v1::Pair> for PairReport {
    fn from(pair: v1::Pair) -> Self {
        let name = |text: String| cut(text, limit::NAME);
        let words = |text: String| cut(text, limit::ERROR);
        Self {
            role: name(pair.role),
            turn: pair.turn,
            lease_by: pair.lease_by.map(name),
            lease_ms: pair.lease_ms,
            held: pair.held.map(words),
            own: pair.own,
            behind: pair.behind,
            behind_ms: pair.behind_ms,
            caught_up: pair.caught_up,
            other: pair.other.map(name),
            other_role: pair.other_role.map(name),
            last_contact: pair.last_contact.map(crate::wire::moment),
            trouble: pair.trouble.map(words),
            differences: pair
                .differences
                .into_iter()
                .take(MOST_DIFFERENCES)
                .map(words)
                .collect(),
        }
    }
}

impl From<Rank> for v1::Turn {
    fn from((counter, id): Rank) -> Self {
        Self {
            counter,
            id: id.as_bytes().to_vec(),
        }
    }
}

pub(crate) fn rank_in(turn: Option<v1::Turn>) -> Result<Rank, String> {
    let turn = turn.unwrap_or_default();
    if turn.counter > HIGHEST_COUNTER {
        return Err(format!("there is no turn {}", turn.counter));
    }
    let id = Uuid::from_slice(&turn.id).map_err(|_| "the id of a turn has 16 bytes".to_owned())?;
    Ok((turn.counter, id))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

pub(crate) fn ask_out(site: &str, key: &str, ask: &LeaseAsk) -> v1::AskLease {
    let wanted = match ask.wanted {
        Wanted::Renewal => WantedOnWire::Renewal,
        Wanted::NewTurn => WantedOnWire::NewTurn,
        Wanted::Known => WantedOnWire::Known,
        Wanted::Look => WantedOnWire::Look,
    };
    v1::AskLease {
        site: site.to_owned(),
        key: key.to_owned(),
        buffer: ask.node.as_bytes().to_vec(),
        turn: Some(ask.rank.into()),
        lease_ms: millis(ask.lease),
        holds: ask.holds,
        caught_up: ask.caught_up,
        wanted: wanted.into(),
        question: ask.question.as_bytes().to_vec(),
        seen: ask.seen.iter().map(|turn| (*turn).into()).collect(),
    }
}

pub(crate) fn ask_in(ask: v1::AskLease) -> Result<LeaseAsk, String> {
    let wanted = match ask.wanted() {
        WantedOnWire::Renewal => Wanted::Renewal,
        WantedOnWire::NewTurn => Wanted::NewTurn,
        WantedOnWire::Known => Wanted::Known,
        WantedOnWire::Look => Wanted::Look,
        WantedOnWire::Nothing => return Err("nothing that this central knows is wanted".into()),
    };
    if ask.seen.len() > history::KEPT {
        return Err(format!("a history of {} turns", ask.seen.len()));
    }
    let seen = ask.seen.into_iter().map(|turn| rank_in(Some(turn)));
    Ok(LeaseAsk {
        seen: seen.collect::<Result<_, _>>()?,
        // An older agent names none.
        question: Uuid::from_slice(&ask.question).unwrap_or_default(),
        node: Uuid::from_slice(&ask.buffer).map_err(|_| "the id of a buffer has 16 bytes".to_owned())?,
        lease: Duration::from_millis(ask.lease_ms),
        holds: ask.holds,
        caught_up: ask.caught_up,
        wanted,
        rank: rank_in(ask.turn)?,
    })
}

impl From<LeaseAnswer> for v1::LeaseAnswer {
    fn from(answer: LeaseAnswer) -> Self {
        let is = match answer {
            LeaseAnswer::Granted { rank, lease, stale } => Is::Granted(v1::LeaseGranted {
                turn: Some(rank.into()),
                lease_ms: millis(lease),
                stale,
            }),
            LeaseAnswer::Refused { why, left } => Is::Refused(v1::LeaseRefused {
                quiet: why == NotGiven::Quiet,
                far_ahead: why == NotGiven::FarAhead,
                left_ms: millis(left),
            }),
            LeaseAnswer::Known => Is::Known(v1::TurnKnown {}),
        };
        Self { is: Some(is) }
    }
}

pub(crate) fn answer_in(answer: v1::LeaseAnswer) -> Result<LeaseAnswer, String> {
    match answer.is {
        Some(Is::Granted(granted)) => Ok(LeaseAnswer::Granted {
            lease: Duration::from_millis(granted.lease_ms),
            stale: granted.stale,
            rank: rank_in(granted.turn)?,
        }),
        Some(Is::Refused(refused)) => Ok(LeaseAnswer::Refused {
            why: match (refused.far_ahead, refused.quiet) {
                (true, _) => NotGiven::FarAhead,
                (false, true) => NotGiven::Quiet,
                (false, false) => NotGiven::Taken,
            },
            left: Duration::from_millis(refused.left_ms),
        }),
        Some(Is::Known(_)) => Ok(LeaseAnswer::Known),
        None => Err("central's answer does not fit the question".into()),
    }
}
