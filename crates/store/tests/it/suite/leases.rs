//! The lease of a site's pair.

use crate::harness::*;
use domain::{
    Actor, SiteId,
    pair::{LeaseAnswer, LeaseAsk, NotGiven, Wanted},
};
use std::time::Duration;
use store::{Error, sites::LeaseQuestion};
use uuid::Uuid;

const LEASE: Duration = Duration::from_secs(15);
/// A lease of 15 s, as who gave it counts it.
const KEPT: Duration = Duration::from_millis(19_500);
/// The same of the longest one.
const QUIET: Duration = Duration::from_secs(69);

fn ask(node: u128, counter: u64, wanted: Wanted) -> LeaseQuestion {
    LeaseQuestion {
        tenant: TENANT,
        site: SiteId::new("north"),
        longest: Duration::from_secs(60),
        ask: LeaseAsk {
            node: Uuid::from_u128(node),
            rank: (counter, Uuid::from_u128(counter.into())),
            seen: vec![],
            lease: LEASE,
            holds: false,
            caught_up: true,
            question: Uuid::nil(),
            wanted,
        },
    }
}

async fn registered(t: &TestStore) {
    let (site, actor) = (SiteId::new("north"), Actor::new("cli"));
    t.store
        .register_site(TENANT, &site, &[7; 32], &actor)
        .await
        .unwrap();
}

fn granted(answer: LeaseAnswer) -> (domain::pair::Rank, bool) {
    match answer {
        LeaseAnswer::Granted { rank, lease, stale } => {
            assert_eq!(lease, LEASE);
            (rank, stale)
        }
        other => panic!("{other:?}"),
    }
}

fn refused(answer: LeaseAnswer) -> (NotGiven, Duration) {
    match answer {
        LeaseAnswer::Refused { why, left } => (why, left),
        other => panic!("{other:?}"),
    }
}

pub async fn a_lease_is_given_to_one_machine_until_the_database_says_that_it_is_over(t: &TestStore) {
    registered(t).await;
    let asks = |question| async { t.store.ask_lease(question).await.unwrap() };
    let first = refused(asks(ask(1, 4, Wanted::NewTurn)).await);
    assert_eq!(
        first,
        (NotGiven::Quiet, QUIET),
        "leases of before could be running"
    );
    t.clock.advance(QUIET - SECOND);
    assert_eq!(
        refused(asks(ask(2, 4, Wanted::NewTurn)).await),
        (NotGiven::Quiet, SECOND)
    );
    t.clock.advance(SECOND);
    let (first, _) = granted(asks(ask(1, 4, Wanted::NewTurn)).await);
    assert_eq!(first.0, 5);
    assert_eq!(
        refused(asks(ask(2, 4, Wanted::NewTurn)).await),
        (NotGiven::Taken, KEPT)
    );
    t.clock.advance(LEASE);
    let renewal = LeaseQuestion {
        ask: LeaseAsk {
            rank: first,
            ..ask(1, 0, Wanted::Renewal).ask
        },
        ..ask(1, 0, Wanted::Renewal)
    };
    assert_eq!(granted(asks(renewal).await), (first, false));
    t.clock.advance(KEPT);
    let (second, stale) = granted(asks(ask(2, 4, Wanted::NewTurn)).await);
    assert_eq!((second.0, stale), (6, true), "it was left behind in turn 5");
    assert_ne!(second.1, first.1);
}

pub async fn a_damaged_counter_is_refused_and_leaves_the_site_its_turns(t: &TestStore) {
    registered(t).await;
    let asks = |question| async { t.store.ask_lease(question).await.unwrap() };
    asks(ask(1, 4, Wanted::NewTurn)).await;
    t.clock.advance(QUIET);
    for counter in [5_000, u64::MAX] {
        let (why, _) = refused(asks(ask(2, counter, Wanted::NewTurn)).await);
        assert_eq!(why, NotGiven::FarAhead);
    }
    let (given, _) = granted(asks(ask(1, 4, Wanted::NewTurn)).await);
    assert_eq!(given.0, 5);
}

pub async fn a_lease_of_a_site_that_nobody_registered_is_refused(t: &TestStore) {
    let answer = t.store.ask_lease(ask(1, 1, Wanted::NewTurn)).await;
    assert!(matches!(answer, Err(Error::Refused(_))), "{answer:?}");
}

pub async fn of_two_machines_that_ask_at_once_one_gets_the_lease(t: &TestStore) {
    registered(t).await;
    t.store.ask_lease(ask(1, 4, Wanted::NewTurn)).await.unwrap();
    t.clock.advance(QUIET);
    let (a, b) = tokio::join!(
        t.store.ask_lease(ask(1, 4, Wanted::NewTurn)),
        t.store.ask_lease(ask(2, 4, Wanted::NewTurn))
    );
    let given = [a.unwrap(), b.unwrap()]
        .into_iter()
        .filter(|answer| matches!(answer, LeaseAnswer::Granted { .. }));
    assert_eq!(given.count(), 1);
}

pub async fn a_turn_that_is_known_is_not_written_again(t: &TestStore) {
    registered(t).await;
    let known = |counter| {
        let mut question = ask(1, counter, Wanted::Known);
        question.ask.holds = true;
        question
    };
    assert_eq!(
        refused(t.store.ask_lease(known(4)).await.unwrap()).0,
        NotGiven::Quiet
    );
    t.clock.advance(QUIET);
    for counter in [4, 6, 6] {
        let answer = t.store.ask_lease(known(counter)).await.unwrap();
        assert_eq!(answer, LeaseAnswer::Known, "{counter}");
    }
    let (rank, stale) = granted(t.store.ask_lease(ask(2, 6, Wanted::NewTurn)).await.unwrap());
    assert_eq!((rank.0, stale), (7, false), "it has seen everything");
}
