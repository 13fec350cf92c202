//! What follows when the two machines of a site meet: who is active, and how the other gets a whole copy.

use super::{Fork, History, Role};
use uuid::Uuid;

/// A machine, as it shows itself to the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Of its file: one with a lost disk comes back as another.
    pub id: Uuid,
    pub role: Role,
    pub history: History,
    /// The last change in its file.
    pub position: i64,
    /// Changes up to here are not in its log (any more).
    pub floor: i64,
    /// Somebody else may have attempted what is in its file, in a turn it has not seen.
    pub stale: bool,
    /// Its file began empty under this id, and nobody has vouched for it yet.
    pub joined: Option<Uuid>,
    /// As the active one: central has confirmed its turn since the other machine joined under this id.
    pub vouches: Option<Uuid>,
}

/// What this machine does about the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meeting {
    /// The other is its standby.
    Lead,
    /// The other is active.
    Follow(Plan),
    /// The other was made active after this one: this one stops sending, and then follows.
    StepDown,
    /// Neither is active: somebody has to say who shall be.
    NobodyIsActive,
    /// The file there is this one, or a copy of it.
    SameFile,
}

/// How a standby gets what the active has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plan {
    /// What changed after this is enough.
    Changes { after: i64 },
    /// A whole copy is needed: the log of the active does not go back far enough.
    Copy,
    /// This file has messages that the active has never seen, from this place on, and knows what became of others after this
    /// change. Both are handed in, then as above.
    HandInAndCopy { first_message: i64, after: i64 },
}

impl Node {
    /// What this machine does now that it has met the other.
    pub fn meets(&self, other: &Self) -> Meeting {
        if self.id == other.id {
            return Meeting::SameFile;
        }
        let below = self.history.rank() < other.history.rank();
        match (self.role, other.role) {
            (Role::Active, _) if below => Meeting::StepDown,
            (Role::Active, _) => Meeting::Lead,
            (Role::Standby, Role::Standby) => Meeting::NobodyIsActive,
            // It will step down when it meets this one.
            (Role::Standby, Role::Active) if self.history.rank() > other.history.rank() => {
                Meeting::NobodyIsActive
            }
            (Role::Standby, Role::Active) => Meeting::Follow(self.plan(other)),
        }
    }

    /// Whether the other brings what this machine may have missed: it has a past in common with this one and has not merely copied
    /// the turn that this one is in. A machine that lost its disk brings nothing, also once it has copied an earlier turn; neither
    /// does one that misses something itself; and what this machine made before it lost its own disk, nobody can bring.
    pub fn learns_from(&self, other: &Self) -> bool {
        let ours = self.history.rank();
        let copied = other.history.epochs().iter().any(|epoch| epoch.rank() == ours);
        let lost = self.joined.is_some() || other.joined.is_some();
        !copied && !lost && !other.stale && self.history.fork(&other.history) != Fork::Strangers
    }

    /// Under which id this machine joined an active one of this history; none where it never did, or that one vouches for it. A file
    /// without a past in common joins now: what its machine did with an earlier file, no file tells.
    pub fn joins(&self, active: &History, vouches: Option<Uuid>) -> Option<Uuid> {
        let stranger = self.history.fork(active) == Fork::Strangers;
        let joined = self.joined.or(stranger.then_some(self.id));
        joined.filter(|id| self.role == Role::Standby && vouches != Some(*id))
    }

    fn plan(&self, active: &Self) -> Plan {
        let (number, first_message) = match self.history.fork(&active.history) {
            // Whatever it has, nobody else may have it.
            Fork::Strangers => {
                return Plan::HandInAndCopy {
                    first_message: 0,
                    after: 0,
                };
            }
            Fork::None => (i64::MAX, i64::MAX),
            Fork::After {
                number,
                first_message,
            } => (number, first_message),
        };
        if self.position > number {
            return Plan::HandInAndCopy {
                first_message,
                after: number,
            };
        }
        let has_all = (active.floor..=active.position).contains(&self.position);
        match has_all {
            true => Plan::Changes { after: self.position },
            false => Plan::Copy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Role::{Active, Standby};

    fn history(turns: &[(u128, i64)]) -> History {
        turns.iter().fold(History::default(), |history, (n, first)| {
            history.with_turn(Uuid::from_u128(*n), 0, *first, *first)
        })
    }

    fn node(id: u128, role: Role, turns: &[(u128, i64)], position: i64, floor: i64) -> Node {
        Node {
            id: Uuid::from_u128(id),
            role,
            history: history(turns),
            position,
            floor,
            stale: false,
            joined: None,
            vouches: None,
        }
    }

    #[test]
    fn a_standby_takes_up_where_it_was() {
        let active = node(1, Active, &[(1, 1)], 100, 0);
        let standby = node(2, Standby, &[(1, 1)], 60, 0);
        assert_eq!(active.meets(&standby), Meeting::Lead);
        assert_eq!(
            standby.meets(&active),
            Meeting::Follow(Plan::Changes { after: 60 })
        );
    }

    #[test]
    fn a_file_that_the_log_does_not_reach_back_to_is_copied_whole() {
        let active = node(1, Active, &[(1, 1)], 100, 70);
        for standby in [
            node(2, Standby, &[(1, 1)], 60, 0),
            // Further than the active, which came back from an older copy of its disk.
            node(2, Standby, &[(1, 1)], 140, 0),
        ] {
            assert_eq!(standby.meets(&active), Meeting::Follow(Plan::Copy), "{standby:?}");
        }
    }

    #[test]
    fn of_two_active_ones_exactly_one_steps_down_and_it_is_the_one_that_was_made_active_earlier() {
        let old = node(1, Active, &[(1, 1)], 100, 0);
        let new = node(2, Active, &[(1, 1), (2, 81)], 90, 80);
        assert_eq!(old.meets(&new), Meeting::StepDown);
        assert_eq!(new.meets(&old), Meeting::Lead);
        let (a, b) = (
            node(1, Active, &[(1, 1), (7, 90)], 100, 0),
            node(2, Active, &[(1, 1), (8, 81)], 90, 80),
        );
        assert_eq!(
            (a.meets(&b), b.meets(&a)),
            (Meeting::StepDown, Meeting::Lead),
            "the counters are equal, and the ids decide"
        );
    }

    #[test]
    fn what_only_the_one_who_stepped_down_has_is_handed_in_first() {
        let new = node(2, Active, &[(1, 1), (2, 81)], 90, 80);
        let old = |position| node(1, Standby, &[(1, 1)], position, 0);
        assert_eq!(
            old(100).meets(&new),
            Meeting::Follow(Plan::HandInAndCopy {
                first_message: 81,
                after: 80
            })
        );
        assert_eq!(
            old(80).meets(&new),
            Meeting::Follow(Plan::Changes { after: 80 }),
            "a planned handover leaves nothing behind and needs no copy"
        );
    }

    #[test]
    fn a_file_without_a_common_past_hands_in_whatever_it_has() {
        let active = node(1, Active, &[(1, 1)], 100, 70);
        for stranger in [node(2, Standby, &[], 0, 0), node(2, Standby, &[(9, 1)], 80, 0)] {
            let all = Plan::HandInAndCopy {
                first_message: 0,
                after: 0,
            };
            let meeting = match stranger.history.rank() < active.history.rank() {
                true => Meeting::Follow(all),
                false => Meeting::NobodyIsActive,
            };
            assert_eq!(stranger.meets(&active), meeting);
        }
    }

    #[test]
    fn without_an_active_one_somebody_has_to_say_who_it_is() {
        let (a, b) = (node(1, Standby, &[], 0, 0), node(2, Standby, &[(1, 1)], 60, 0));
        assert_eq!(a.meets(&b), Meeting::NobodyIsActive);
        assert_eq!(b.meets(&a), Meeting::NobodyIsActive);
        let behind = node(1, Active, &[(1, 1)], 70, 0);
        let ahead = node(2, Standby, &[(1, 1), (2, 50)], 60, 0);
        assert_eq!(behind.meets(&ahead), Meeting::StepDown);
        assert_eq!(ahead.meets(&behind), Meeting::NobodyIsActive);
    }

    #[test]
    fn a_machine_that_lost_its_disk_or_has_copied_this_one_tells_nothing_new() {
        let stale = node(2, Active, &[(1, 1), (3, 50)], 60, 0);
        let was_active = node(1, Standby, &[(1, 1), (2, 50)], 70, 0);
        let was_not = node(1, Standby, &[(1, 1)], 40, 0);
        assert!(stale.learns_from(&was_active) && stale.learns_from(&was_not));
        let empty = node(1, Standby, &[], 0, 0);
        let copied = node(1, Standby, &[(1, 1), (3, 50)], 60, 0);
        assert!(!stale.learns_from(&empty) && !stale.learns_from(&copied));
        let copied_before = Node {
            joined: Some(empty.id),
            ..was_not.clone()
        };
        let also_stale = Node {
            stale: true,
            ..was_active.clone()
        };
        assert!(!stale.learns_from(&copied_before) && !stale.learns_from(&also_stale));
        let lost_its_own = Node {
            joined: Some(Uuid::from_u128(9)),
            ..stale
        };
        assert!(!lost_its_own.learns_from(&was_active));
    }

    #[test]
    fn a_file_without_a_common_past_has_joined_until_the_active_one_vouches_for_it() {
        let (active, id) = (history(&[(1, 1)]), Uuid::from_u128);
        let empty = node(2, Standby, &[], 0, 0);
        assert_eq!(empty.joins(&active, None), Some(id(2)));
        assert_eq!(empty.joins(&active, Some(id(2))), None);
        // Its whole copy is another file, and has not joined anew.
        let copy = Node {
            joined: Some(id(2)),
            ..node(3, Standby, &[(1, 1)], 100, 0)
        };
        assert_eq!(copy.joins(&active, None), Some(id(2)));
        assert_eq!(
            copy.joins(&active, Some(id(9))),
            Some(id(2)),
            "another disk was meant"
        );
        assert_eq!(copy.joins(&active, Some(id(2))), None);
        let old = node(4, Standby, &[(1, 1)], 60, 0);
        assert_eq!(old.joins(&active, None), None, "it has had its file all along");
    }

    #[test]
    fn a_copy_of_the_same_file_is_no_second_machine() {
        let one = node(1, Active, &[(1, 1)], 100, 0);
        assert_eq!(one.meets(&one), Meeting::SameFile);
    }
}
