//! Every order of events that a bounded world allows, for the lease of a pair: two machines, central, clocks that differ by a
//! tenth, messages that come late, in another order or never, crashes, lost disks, and a witness whose database is put back.

mod rules;
mod world;

use rules::{Limits, Rules};
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::time::Instant;
use world::{Event, World};

const OVERLAP: &str = "no two machines hold a lease at once";
const UNDER_WAY: &str = "while an attempt is under way the other machine holds no lease";
const UNSEEN: &str = "nobody attempts what was attempted in a turn it has not seen";
const TAKES_OVER: &str = "the standby takes over and attempts what both know";
const GOES_ON: &str = "an active one that lost its standby goes on by the witness";
const COMES_BACK: &str = "who was off comes back while the other is forced and is given a turn";
const GIVES_AGAIN: &str = "a machine with a new disk gives the lease again";

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
            Property::always(UNDER_WAY, |_, world: &World| !world.attempts_overlap()),
            Property::always(UNSEEN, |_, world: &World| !world.attempted_unseen),
            Property::sometimes(TAKES_OVER, |_, world: &World| world.attempted_by(1)),
            Property::sometimes(GOES_ON, |_, world: &World| world.attempted_alone(0)),
            Property::sometimes(GIVES_AGAIN, |_, world: &World| world.new_disk_gives()),
            Property::sometimes(COMES_BACK, |_, world: &World| world.both_act()),
        ]
    }
}

fn check(rules: Rules, limits: Limits) -> impl Checker<Pair> {
    let wrong = HasDiscoveries::AnyFailures;
    let checker = Pair { rules, limits }.checker().threads(2).finish_when(wrong);
    checker.spawn_bfs().join()
}

/// What each world may contain besides time and questions. Together they cover each fault and each pair of them that the rules
/// speak of; all at once would take hours. `WAYPOST_TEST_SIZE=soak` goes through larger ones.
fn worlds() -> Vec<Limits> {
    let calm = Limits::default();
    let of = |questions, [handovers, crashes, lost_disks, restores]: [u8; 4]| Limits {
        steps: 0,
        questions,
        handovers,
        crashes,
        lost_disks,
        restores,
        ..calm
    };
    let mut worlds = vec![
        calm,
        of(3, [1, 0, 0, 0]),
        of(2, [2, 0, 0, 0]),
        of(3, [0, 1, 0, 0]),
        of(3, [0, 0, 1, 0]),
        of(2, [1, 0, 1, 0]),
        of(2, [0, 1, 1, 0]),
        of(3, [0, 0, 0, 1]),
        of(2, [0, 1, 0, 1]),
        of(2, [0, 0, 1, 1]),
        Limits {
            steps: 0,
            lags: 1,
            ..calm
        },
    ];
    if is_soak() {
        worlds.extend([
            of(3, [2, 0, 0, 0]),
            of(3, [1, 0, 1, 0]),
            of(2, [2, 0, 1, 0]),
            of(3, [0, 1, 1, 0]),
            of(3, [0, 0, 2, 0]),
            of(3, [0, 1, 0, 1]),
            of(3, [0, 0, 1, 1]),
            of(2, [1, 0, 0, 1]),
            of(2, [1, 1, 0, 0]),
            of(2, [1, 0, 1, 1]),
        ]);
    }
    worlds
}

fn is_soak() -> bool {
    std::env::var("WAYPOST_TEST_SIZE").is_ok_and(|size| size == "soak")
}

#[test]
fn leases_never_overlap_and_nobody_repeats_what_it_has_not_seen() {
    let mut wrong = vec![];
    for limits in worlds() {
        let began = Instant::now();
        let checker = check(Rules::ALL, limits);
        for property in [OVERLAP, UNSEEN] {
            if let Some(path) = checker.discovery(property) {
                wrong.push(format!("{limits:?}, {property}: {:?}", path.into_actions()));
            }
        }
        let gives_again = (limits.lost_disks > 0).then_some(GIVES_AGAIN);
        for property in [TAKES_OVER, GOES_ON].into_iter().chain(gives_again) {
            if checker.discovery(property).is_none() {
                wrong.push(format!("{limits:?}, never: {property}"));
            }
        }
        let (states, took) = (checker.unique_state_count(), began.elapsed());
        println!("{limits:?}: {states} states, {} s", took.as_secs());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Those in which a person has a machine go on while the other is switched off.
fn forced_worlds() -> Vec<Limits> {
    let of = |questions, [handovers, crashes, restores]: [u8; 3]| Limits {
        steps: 0,
        questions,
        handovers,
        crashes,
        restores,
        forces: 1,
        ..Limits::default()
    };
    let mut worlds = vec![of(3, [0, 0, 0]), of(2, [1, 0, 0]), of(2, [0, 0, 1])];
    if is_soak() {
        worlds.extend([
            of(4, [0, 0, 0]),
            of(3, [1, 0, 0]),
            of(3, [0, 1, 0]),
            of(3, [0, 0, 1]),
        ]);
    }
    worlds
}

#[test]
fn who_was_off_while_the_other_was_forced_repeats_nothing_once_central_has_heard_of_it() {
    for limits in forced_worlds() {
        let checker = check(Rules::ALL, limits);
        for property in [OVERLAP, UNSEEN] {
            let path = checker.discovery(property).map(|path| path.into_actions());
            assert!(path.is_none(), "{limits:?}, {property}: {path:?}");
        }
        let comes_back = checker.discovery(COMES_BACK);
        assert!(comes_back.is_some(), "{limits:?}, never: {COMES_BACK}");
        println!("{limits:?}: {} states", checker.unique_state_count());
    }
}

/// In which a person is wrong about the other machine.
const MISLED: Limits = Limits {
    steps: 0,
    leaps: 1,
    questions: 3,
    handovers: 0,
    crashes: 0,
    lost_disks: 0,
    restores: 0,
    lags: 0,
    forces: 0,
    wrong_words: 1,
    attempts: 0,
};

#[test]
fn leases_never_overlap_although_a_machine_is_forced_while_the_other_runs() {
    let checker = check(Rules::ALL, MISLED);
    let path = checker.discovery(OVERLAP).map(|path| path.into_actions());
    assert!(path.is_none(), "{path:?}");
    println!("{MISLED:?}: {} states", checker.unique_state_count());
}

#[test]
fn a_central_that_forgets_a_lease_when_its_holder_tells_of_a_later_turn_is_not_enough() {
    let rules = Rules {
        goes_on_counting: false,
        ..Rules::ALL
    };
    breaks(rules, MISLED, OVERLAP);
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

#[test]
fn a_machine_with_a_new_disk_that_gives_leases_at_once_is_not_enough() {
    let rules = Rules {
        confirmed: false,
        ..Rules::ALL
    };
    let limits = Limits {
        steps: 0,
        lost_disks: 1,
        ..Limits::default()
    };
    breaks(rules, limits, UNSEEN);
}

#[test]
fn a_meeting_with_a_machine_that_has_only_copied_is_not_enough_to_be_fresh_again() {
    let rules = Rules {
        brings_its_disk: false,
        ..Rules::ALL
    };
    let limits = Limits {
        steps: 0,
        lost_disks: 1,
        ..Limits::default()
    };
    breaks(rules, limits, UNSEEN);
}

#[test]
fn an_answer_that_is_taken_by_a_file_that_has_handed_over_since_is_not_enough() {
    let rules = Rules {
        same_as_asked: false,
        ..Rules::ALL
    };
    let limits = Limits {
        steps: 0,
        handovers: 1,
        ..Limits::default()
    };
    breaks(rules, limits, UNSEEN);
}

/// With an attempt that lasts.
const LASTING: Limits = Limits {
    steps: 0,
    leaps: 2,
    questions: 2,
    handovers: 0,
    crashes: 0,
    lost_disks: 0,
    restores: 0,
    lags: 0,
    forces: 0,
    wrong_words: 0,
    attempts: 1,
};

#[test]
fn an_attempt_that_lasts_is_never_under_way_while_the_other_machine_may_begin_one() {
    for handovers in [0, 1] {
        let checker = check(Rules::ALL, Limits { handovers, ..LASTING });
        for property in [OVERLAP, UNDER_WAY] {
            let path = checker.discovery(property).map(|path| path.into_actions());
            assert!(path.is_none(), "{property}: {path:?}");
        }
        assert!(checker.discovery(TAKES_OVER).is_some(), "never: {TAKES_OVER}");
    }
}

#[test]
fn an_attempt_that_goes_on_when_its_lease_has_ended_is_not_enough() {
    let rules = Rules {
        cuts: false,
        ..Rules::ALL
    };
    breaks(rules, LASTING, UNDER_WAY);
}

#[test]
fn a_machine_that_is_forced_to_go_on_in_the_turn_that_the_other_has_seen_is_not_enough() {
    let rules = Rules {
        forced_turn: false,
        ..Rules::ALL
    };
    let limits = Limits {
        steps: 0,
        forces: 1,
        ..Limits::default()
    };
    breaks(rules, limits, UNSEEN);
}

#[test]
fn a_standby_that_gives_no_lease_because_it_lags_and_forgets_that_is_not_enough() {
    let rules = Rules {
        marks_lag: false,
        ..Rules::ALL
    };
    let limits = Limits {
        steps: 0,
        lags: 1,
        ..Limits::default()
    };
    breaks(rules, limits, UNSEEN);
}
