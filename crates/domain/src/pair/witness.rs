//! What central answers a machine that wants the lease of its site. One row for each site says whose turn was last known and
//! for how long nobody else gets a lease.
//!
//! Leaves to others: the row and the time (`store`), who may ask (`central::sites`).
//! Always true: no two machines are given a lease at once; whoever is told that it is fresh has seen every turn in which
//! anything was attempted; a row from before its database was put back is taken for nothing but a lower bound; no question, however
//! damaged the file it comes from, makes later turns impossible.

use super::{
    Rank,
    history::HIGHEST_COUNTER,
    lease::{LONGEST_LEASE, Terms},
};
use std::{fmt, time::Duration};
use uuid::Uuid;

/// Turns that may pass without central hearing of them. Whoever is further ahead has a damaged file.
const MOST_UNHEARD_TURNS: u64 = 1_000;

/// What a machine wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// To go on in the turn it has from here. The other machine does not follow it in this one.
    Renewal,
    /// A turn of its own: it takes over, or goes on without its standby, which is left behind by that.
    NewTurn,
    /// No lease: it holds one from its standby, or needs none because a person said so, and its turn is to be known here.
    Known,
    /// Nothing: whether there is an answer.
    Look,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LeaseAsk {
    /// The machine, by its file.
    pub node: Uuid,
    /// Of the turn it is in, or follows.
    pub rank: Rank,
    /// The turns its file has lived through. A counter alone proves nothing: two that are cut off from each other raise it both.
    pub seen: Vec<Rank>,
    pub lease: Duration,
    /// It holds a lease as it asks, or needs none because nobody else has anything of it or a person said so.
    pub holds: bool,
    /// It is active, or nothing was missing in its copy.
    pub caught_up: bool,
    /// Names the question, and the turn that is given for it. The same one as long as no answer has come to it and the machine is where
    /// it was; nil where the machine does not say.
    pub question: Uuid,
    pub wanted: Wanted,
}

/// An answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LeaseAnswer {
    Granted {
        /// The turn it is given for.
        rank: Rank,
        lease: Duration,
        /// Somebody else may have attempted what this machine knows: it leaves that alone until it has met them.
        stale: bool,
    },
    /// Nothing is given; the turn is known.
    Known,
    Refused {
        why: NotGiven,
        /// How long that lasts at most.
        left: Duration,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotGiven {
    /// The other machine may hold one.
    Taken,
    /// Central's database is new, or was put back: leases it knows nothing of may be running.
    Quiet,
    /// The machine says that it is in a turn far above every one that is known of.
    FarAhead,
}

impl NotGiven {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Taken => "Taken",
            Self::Quiet => "Quiet",
            Self::FarAhead => "FarAhead",
        }
    }
}

impl fmt::Display for NotGiven {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Taken => "the other machine may hold the lease",
            Self::Quiet => {
                "central's database is new to this site, or was restored, and leases of before may be running"
            }
            Self::FarAhead => {
                "this machine's turn is far above every one that central knows of: its file may be damaged"
            }
        })
    }
}

/// The row of a site.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WitnessRow {
    /// The last turn that is known of.
    pub rank: Rank,
    /// Who was given the last lease.
    pub holder: Option<Uuid>,
    /// How long nobody else is given one.
    pub left: Duration,
    /// Which database this was written to.
    pub database: String,
    /// A turn that is not known here may have been given before the database was put back.
    pub doubt: bool,
}

/// What is written down, if anything, and what is answered. `terms` are those of the longest lease that is given here;
/// `new` is an id that nobody has used.
pub fn answer(
    terms: Terms,
    row: Option<&WitnessRow>,
    database: &str,
    ask: &LeaseAsk,
    new: Uuid,
) -> (Option<WitnessRow>, LeaseAnswer) {
    if ask.wanted == Wanted::Look {
        return (None, LeaseAnswer::Known);
    }
    // No lease is longer: central's clock was ahead when this was written down, and has been put right.
    let capped = row.map(|row| WitnessRow {
        left: row.left.min(terms.kept(LONGEST_LEASE)),
        ..row.clone()
    });
    let row = capped.as_ref();
    if is_far_ahead(row, ask) {
        let (why, left) = (NotGiven::FarAhead, Duration::ZERO);
        return (None, LeaseAnswer::Refused { why, left });
    }
    let Some(row) = row.filter(|row| row.database == database) else {
        return first_word(terms, row, database, ask);
    };
    let others = row.holder != Some(ask.node);
    if !row.left.is_zero() && others {
        let why = match row.holder {
            Some(_) => NotGiven::Taken,
            None => NotGiven::Quiet,
        };
        // Who holds a lease, or has a person's word instead, is in the last turn there is, also while none is given: the holder of
        // the one that still runs here has to have seen that turn when it comes back.
        let certain = ask.holds && (row.doubt || row.rank < ask.rank);
        let known = certain.then(|| WitnessRow {
            rank: row.rank.max(ask.rank),
            doubt: false,
            ..row.clone()
        });
        return (known, LeaseAnswer::Refused { why, left: row.left });
    }
    let certain = ask.holds || !row.doubt;
    match ask.wanted {
        Wanted::Known if row.rank == ask.rank && !row.doubt => (None, LeaseAnswer::Known),
        Wanted::Known if row.rank.0 < ask.rank.0 && ask.holds => {
            // One that still runs is its own, and counts again when it needs one.
            let known = WitnessRow {
                rank: ask.rank,
                holder: row.holder.filter(|_| !row.left.is_zero()),
                doubt: false,
                ..row.clone()
            };
            (Some(known), LeaseAnswer::Known)
        }
        Wanted::Renewal if row.rank == ask.rank && !others && certain => {
            give(terms, row, ask, ask.rank, false)
        }
        Wanted::Renewal | Wanted::NewTurn | Wanted::Known | Wanted::Look => {
            let again = !others && row.rank.1 == turn_id(ask.question, new, false);
            let seen = again || ask.has_seen(row.rank);
            let fresh = ask.holds || (ask.caught_up && seen && !row.doubt);
            let counter = row.rank.0.max(ask.rank.0).saturating_add(u64::from(!again));
            let id = turn_id(ask.question, new, !fresh);
            give(terms, row, ask, (counter.min(HIGHEST_COUNTER), id), !fresh)
        }
    }
}

/// The id of the turn that is given for this question. Its last bit says that it was given to a stale machine: an answer that was lost
/// is known by it, and given again as it was. In that turn nothing was attempted: only this machine could have begun it, and it
/// asks because it has not.
fn turn_id(question: Uuid, new: Uuid, stale: bool) -> Uuid {
    match question.is_nil() {
        true => new,
        false => Uuid::from_u128(question.as_u128() & !1 | u128::from(stale)),
    }
}

/// A turn that nobody can be in, or above which there is none. Where nothing is known of the site, half of all turns are left.
fn is_far_ahead(row: Option<&WitnessRow>, ask: &LeaseAsk) -> bool {
    let highest = match row {
        Some(row) => row.rank.0.saturating_add(MOST_UNHEARD_TURNS),
        None => HIGHEST_COUNTER / 2,
    };
    ask.rank.0 > highest || ask.rank.0 >= HIGHEST_COUNTER
}

impl LeaseAsk {
    /// Whether the machine has lived through this turn; of a site of which none is known, nothing is to be seen.
    fn has_seen(&self, turn: Rank) -> bool {
        turn.0 == 0 || self.rank == turn || self.seen.contains(&turn)
    }
}

/// Of a site that is not known in this database, or was known in it before it was put back. Nobody is given anything for as long as
/// a lease lasts that was given before, but who holds one: then nobody else does.
fn first_word(
    terms: Terms,
    row: Option<&WitnessRow>,
    database: &str,
    ask: &LeaseAsk,
) -> (Option<WitnessRow>, LeaseAnswer) {
    let known = row.map_or((0, Uuid::nil()), |row| row.rank);
    // Longer ones may have been given here before than are given now.
    let given = row.map_or(Duration::ZERO, |row| row.left);
    let begun = WitnessRow {
        rank: known.max(ask.rank),
        holder: None,
        left: terms.kept(terms.lease).max(given),
        database: database.to_owned(),
        doubt: !ask.holds,
    };
    if ask.holds && ask.wanted == Wanted::Renewal && known <= ask.rank {
        return give(terms, &begun, ask, ask.rank, false);
    }
    let refused = LeaseAnswer::Refused {
        why: NotGiven::Quiet,
        left: begun.left,
    };
    (Some(begun), refused)
}

fn give(
    terms: Terms,
    row: &WitnessRow,
    ask: &LeaseAsk,
    rank: Rank,
    stale: bool,
) -> (Option<WitnessRow>, LeaseAnswer) {
    let lease = ask.lease.min(terms.lease);
    // Whoever holds a longer one than it asks for now keeps that.
    let before = match row.holder == Some(ask.node) {
        true => row.left,
        false => Duration::ZERO,
    };
    let given = WitnessRow {
        rank,
        holder: Some(ask.node),
        left: terms.kept(lease).max(before),
        database: row.database.clone(),
        doubt: false,
    };
    (Some(given), LeaseAnswer::Granted { rank, lease, stale })
}

#[cfg(test)]
#[path = "witness_tests.rs"]
mod tests;
