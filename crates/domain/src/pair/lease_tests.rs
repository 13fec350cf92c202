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
fn a_machine_whose_lease_was_made_shorter_is_quiet_for_as_long_as_it_may_have_promised_before() {
    let mut leases = Leases::started(Terms::of(LEASE));
    leases.follows_runs_of(Duration::from_secs(40));
    assert_eq!(leases.quiet(), Duration::from_secs(47));
    leases.follows_runs_of(Duration::from_secs(1));
    assert_eq!(leases.quiet(), Duration::from_secs(47), "never shorter");
    leases.follows_runs_of(Duration::MAX);
    assert_eq!(leases.quiet(), Duration::from_secs(69), "no lease is longer");
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
fn a_question_whose_asker_has_ended_keeps_nobody_from_asking() {
    let mut leases = quiet_over();
    let left_open = leases.ask(Giver::Standby).unwrap();
    assert_eq!(leases.ask(Giver::Witness), None);
    leases.gave_up_all();
    let next = leases.ask(Giver::Witness).unwrap();
    assert!(!leases.granted(left_open, LEASE) && leases.held().is_none());
    assert!(leases.granted(next, LEASE));
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
