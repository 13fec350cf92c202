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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(n: u128) -> Uuid {
        Uuid::from_u128(n)
    }

    fn history(turns: &[(u128, i64)]) -> History {
        turns.iter().fold(History::default(), |history, (n, first)| {
            history.with_turn(id(*n), 0, *first, first * 10)
        })
    }

    #[test]
    fn a_file_that_only_lags_has_not_forked() {
        assert_eq!(
            history(&[(1, 1), (2, 50)]).fork(&history(&[(1, 1), (2, 50)])),
            Fork::None
        );
    }

    #[test]
    fn who_missed_a_change_of_turns_forked_where_the_turn_began() {
        let after = Fork::After {
            number: 49,
            first_message: 500,
        };
        assert_eq!(history(&[(1, 1)]).fork(&history(&[(1, 1), (2, 50)])), after);
        assert_eq!(history(&[(1, 1), (2, 50)]).fork(&history(&[(1, 1)])), after);
    }

    #[test]
    fn two_that_raised_the_counter_alone_forked_where_the_first_of_them_did() {
        let (a, b) = (history(&[(1, 1), (2, 80)]), history(&[(1, 1), (3, 50)]));
        assert_eq!(a.rank().0, b.rank().0, "counters alone prove nothing");
        let after = Fork::After {
            number: 49,
            first_message: 500,
        };
        assert_eq!(a.fork(&b), after);
    }

    #[test]
    fn files_without_a_common_turn_are_strangers() {
        assert_eq!(history(&[(1, 1)]).fork(&history(&[(2, 1)])), Fork::Strangers);
        assert_eq!(History::default().fork(&history(&[(1, 1)])), Fork::Strangers);
    }

    #[test]
    fn a_new_turn_is_above_every_counter_that_is_known_of() {
        let next = history(&[(1, 1)]).with_turn(id(9), 41, 5, 5);
        assert_eq!(next.rank(), (42, id(9)));
        let endless = History::default().with_turn(id(1), u64::MAX, 1, 1);
        assert_eq!(endless.rank().0, HIGHEST_COUNTER);
    }

    proptest! {
        #[test]
        fn both_sides_see_the_same_fork(
            common in prop::collection::vec(1i64..50, 0..6),
            ours in prop::collection::vec(50i64..99, 0..6),
            theirs in prop::collection::vec(50i64..99, 0..6),
        ) {
            let grow = |mut history: History, firsts: &[i64], side: u128| {
                let mut firsts = firsts.to_vec();
                firsts.sort_unstable();
                for (n, first) in firsts.iter().enumerate() {
                    history = history.with_turn(id(side + n as u128), 0, *first, *first);
                }
                history
            };
            let common = grow(History::default(), &common, 1_000);
            let (ours, theirs) = (grow(common.clone(), &ours, 2_000), grow(common, &theirs, 3_000));
            prop_assert_eq!(ours.fork(&theirs), theirs.fork(&ours));
        }

        #[test]
        fn however_long_it_lasts_a_history_stays_short(turns in 1usize..200) {
            let long = (0..turns).fold(History::default(), |h, n| h.with_turn(id(n as u128), 0, n as i64, n as i64));
            prop_assert!(long.epochs().len() <= KEPT);
            prop_assert_eq!(long.rank().0, turns as u64);
        }
    }
}
