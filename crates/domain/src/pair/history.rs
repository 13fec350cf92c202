//! Who was active from which change on, as far as a file knows. Two histories tell up to where two files are the same.

use super::Rank;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Turns that are kept. Files whose histories have nothing in common any more are brought together by a whole copy.
pub const KEPT: usize = 64;
/// No turn has a higher counter: changes are numbered by turns, and their numbers have an end. More than a turn each second for three
/// months.
pub const HIGHEST_COUNTER: u64 = (1 << 23) - 1;

/// One turn of being active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// Raised by whoever becomes active. Two who are cut off from each other may both raise it to the same.
    pub counter: u64,
    /// Tells those two apart.
    pub id: Uuid,
    /// The first change of this turn.
    pub first: i64,
    /// The place of the first message that was taken in during it: every message before was taken in by somebody before.
    pub first_message: i64,
}

impl Epoch {
    /// Of two that were active at once the higher one stays it.
    pub fn rank(&self) -> (u64, Uuid) {
        (self.counter, self.id)
    }
}

/// The turns, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct History(Vec<Epoch>);

/// Up to where two files have lived through the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fork {
    /// They know nothing of each other.
    Strangers,
    /// The same turns: the one is where the other was, or will be.
    None,
    /// The same up to this change; messages from this place on were taken in afterwards.
    After { number: i64, first_message: i64 },
}

impl History {
    /// From what another machine said; the newest are kept.
    pub fn of(mut epochs: Vec<Epoch>) -> Self {
        if epochs.len() > KEPT {
            epochs.drain(..epochs.len() - KEPT);
        }
        Self(epochs)
    }

    pub fn epochs(&self) -> &[Epoch] {
        &self.0
    }

    pub fn last(&self) -> Option<&Epoch> {
        self.0.last()
    }

    /// That of somebody who has never followed or been active is below every other.
    pub fn rank(&self) -> (u64, Uuid) {
        self.last().map_or((0, Uuid::nil()), Epoch::rank)
    }

    /// With another turn, above every counter that is known of.
    #[must_use]
    pub fn with_turn(&self, id: Uuid, known: u64, first: i64, first_message: i64) -> Self {
        let next = self.rank().0.max(known).saturating_add(1);
        self.with_given_turn((next.min(HIGHEST_COUNTER), id), first, first_message)
    }

    /// With a turn that somebody else gave.
    #[must_use]
    pub fn with_given_turn(&self, (counter, id): Rank, first: i64, first_message: i64) -> Self {
        let mut epochs = self.0.clone();
        epochs.push(Epoch {
            counter,
            id,
            first,
            first_message,
        });
        Self::of(epochs)
    }

    pub fn fork(&self, other: &Self) -> Fork {
        let place = |epoch: &Epoch| other.0.iter().position(|theirs| theirs.rank() == epoch.rank());
        let common = self.0.iter().enumerate().rev();
        let Some((ours, theirs)) = common.filter_map(|(i, e)| Some((i, place(e)?))).next() else {
            return Fork::Strangers;
        };
        let next = [self.0.get(ours + 1), other.0.get(theirs + 1)];
        match next.into_iter().flatten().min_by_key(|epoch| epoch.first) {
            None => Fork::None,
            Some(epoch) => Fork::After {
                number: epoch.first.saturating_sub(1),
                first_message: epoch.first_message,
            },
        }
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
