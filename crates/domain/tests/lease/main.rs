//! Every order of events that a bounded world allows, for the lease of a pair: two machines, central, clocks that differ by a
//! tenth, messages that come late, in another order or never, crashes, lost disks, and a witness whose database is put back.

mod world;

use stateright::{Checker, HasDiscoveries, Model, Property};
use world::{Event, Limits, Rules, World};

const OVERLAP: &str = "no two machines hold a lease at once";
const UNSEEN: &str = "nobody attempts what was attempted in a turn it has not seen";
const TAKES_OVER: &str = "the standby takes over and attempts what both know";
const GOES_ON: &str = "an active one that lost its standby goes on by the witness";

#[derive(Debug, Clone)]
struct Pair {
    rules: Rules,
    limits: Limits,
}

impl Model for Pair {
    type State = World;
    type Action = Event;

    fn init_states(&self) -> Vec<World> {
        World::begun(self.rules, self.limits)
    }

    fn actions(&self, world: &World, events: &mut Vec<Event>) {
        world.events(events);
    }

    fn next_state(&self, world: &World, event: Event) -> Option<World> {
        let mut next = world.clone();
        next.happens(self.rules, event).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(OVERLAP, |_, world: &World| !world.leases_overlap()),
            Property::always(UNSEEN, |_, world: &World| !world.attempted_unseen),
            Property::sometimes(TAKES_OVER, |_, world: &World| world.attempted_by(1)),
            Property::sometimes(GOES_ON, |_, world: &World| world.attempted_alone(0)),
        ]
    }
}

fn check(rules: Rules, limits: Limits) -> impl Checker<Pair> {
    let wrong = HasDiscoveries::AnyFailures;
    let checker = Pair { rules, limits }.checker().threads(2).finish_when(wrong);
    checker.spawn_bfs().join()
}

/// What each world may contain besides time and questions. Together they cover each fault and each pair of them that the rules
/// speak of; all at once would take hours.
fn worlds() -> Vec<Limits> {
    let calm = Limits::default();
    let leaps_only = Limits { steps: 0, ..calm };
    vec![
        calm,
        Limits {
            handovers: 1,
            questions: 2,
            ..leaps_only
        },
        Limits {
            crashes: 1,
            ..leaps_only
        },
        Limits {
            lost_disks: 1,
            ..leaps_only
        },
        Limits {
            restores: 1,
            ..leaps_only
        },
        Limits {
            crashes: 1,
            restores: 1,
            questions: 2,
            ..leaps_only
        },
    ]
}

#[test]
fn leases_never_overlap_and_nobody_repeats_what_it_has_not_seen() {
    for limits in worlds() {
        let checker = check(Rules::ALL, limits);
        for property in [OVERLAP, UNSEEN] {
            if let Some(path) = checker.discovery(property) {
                panic!("{limits:?}, {property}: {:#?}", path.into_actions());
            }
        }
        assert!(checker.discovery(TAKES_OVER).is_some(), "{limits:?}");
        assert!(checker.discovery(GOES_ON).is_some(), "{limits:?}");
        println!("{limits:?}: {} states", checker.unique_state_count());
    }
}

fn breaks(rules: Rules, limits: Limits, property: &'static str) {
    let checker = check(rules, limits);
    let path = checker.discovery(property).map(|path| path.into_actions());
    assert!(path.is_some(), "{rules:?} should not be enough for: {property}");
}

#[test]
fn a_giver_that_counts_no_longer_than_the_holder_is_not_enough() {
    let rules = Rules {
        margin: false,
        ..Rules::ALL
    };
    breaks(rules, Limits::default(), OVERLAP);
}

#[test]
fn a_machine_that_asks_and_promises_right_after_its_start_is_not_enough() {
    let rules = Rules {
        quiet: false,
        ..Rules::ALL
    };
    let limits = Limits {
        crashes: 1,
        ..Limits::default()
    };
    breaks(rules, limits, OVERLAP);
}

#[test]
fn a_witness_that_does_not_notice_that_its_database_was_put_back_is_not_enough() {
    let rules = Rules {
        notices_restore: false,
        ..Rules::ALL
    };
    let limits = Limits {
        restores: 1,
        ..Limits::default()
    };
    breaks(rules, limits, OVERLAP);
}

#[test]
fn a_stale_machine_that_attempts_what_it_inherited_is_not_enough() {
    let rules = Rules {
        stale: false,
        ..Rules::ALL
    };
    breaks(rules, Limits::default(), UNSEEN);
}
