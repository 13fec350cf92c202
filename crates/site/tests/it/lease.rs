//! The lease of a pair, between two machines that run here and a central that is a row in memory.

use crate::{
    pair_central::{a_waiting_call, automatic, automatic_for, has_lease, held, is_delivered, turn_of},
    pair_world::{a_pair, world},
    script::Reply,
    world::{secs, until},
};
use domain::{TrackedOperationId, pair::Role, site::OperationStatus};
use site::pair::LeaseBy;
use store::buffer::MessageId;

#[tokio::test]
async fn a_standby_that_hears_nothing_takes_over_with_centrals_leave_and_makes_what_waited() {
    let mut world = world();
    automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    world.systems.always(Reply::Transient);
    let id = a_waiting_call(&a).await;
    b.holds(1).await;
    let gone = a.end().await;
    world.systems.always(Reply::Delivered);
    b.becomes(Role::Active).await;
    has_lease(&b, LeaseBy::Witness).await;
    is_delivered(&b, id).await;
    // The other comes back, learns that it was replaced, and gives the lease.
    let a = gone.run();
    a.becomes(Role::Standby).await;
    has_lease(&b, LeaseBy::Standby).await;
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn without_a_lease_only_what_the_other_never_had_is_attempted() {
    let mut world = world();
    let central = automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    world.systems.always(Reply::Transient);
    let shared = a_waiting_call(&a).await;
    b.holds(1).await;
    central.goes(false);
    let standby = b.end().await;
    until("calls that both know are held because central is away", || {
        held(&a).is_some_and(|why| why.contains("connection refused"))
    })
    .await;
    world.systems.always(Reply::Delivered);
    let tried = world.systems.attempts();
    let own = a_waiting_call(&a).await;
    until("the call that only this machine has is made", || {
        world.systems.attempts() == tried + 1
    })
    .await;
    let buffer = a.agent().unwrap().site.buffer.clone();
    let of = |id: MessageId| {
        let buffer = buffer.clone();
        async move {
            buffer
                .tracking(TrackedOperationId(id.0))
                .await
                .unwrap()
                .unwrap()
                .status
        }
    };
    assert_eq!(of(own).await, OperationStatus::Delivered);
    assert_eq!(of(shared).await, OperationStatus::Retrying);
    let nobody = domain::Actor::new("somebody");
    let refused = a
        .agent()
        .unwrap()
        .site
        .discard(shared, &nobody)
        .await
        .unwrap_err();
    assert!(domain::chain(&refused).contains("NotHolder"), "{refused:?}");
    drop(buffer);
    central.goes(true);
    has_lease(&a, LeaseBy::Witness).await;
    is_delivered(&a, shared).await;
    assert_eq!(world.systems.attempts(), tried + 2);
    a.end().await;
    drop(standby);
}

#[tokio::test]
async fn who_was_left_behind_makes_nothing_that_it_inherited_until_it_has_met_the_other() {
    let mut world = world();
    automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    world.systems.always(Reply::Transient);
    let id = a_waiting_call(&a).await;
    b.holds(1).await;
    let turn = turn_of(&a);
    let left_behind = b.end().await;
    // For a moment it goes on in the turn that the other has seen; what it makes then is the copy's lag.
    until("it goes on in a turn of its own", || turn_of(&a) > turn).await;
    has_lease(&a, LeaseBy::Witness).await;
    world.systems.always(Reply::Delivered);
    is_delivered(&a, id).await;
    let made = world.systems.attempts();
    let a_gone = a.end().await;
    let b = left_behind.run();
    b.becomes(Role::Active).await;
    until("it holds what it inherited", || {
        held(&b).is_some_and(|why| why.contains("may have attempted"))
    })
    .await;
    assert_eq!(b.agent().unwrap().site.buffer.depth().waiting(), 1);
    assert_eq!(world.systems.attempts(), made);
    let a = a_gone.run();
    a.becomes(Role::Standby).await;
    is_delivered(&b, id).await;
    has_lease(&b, LeaseBy::Standby).await;
    until("nothing is held any more", || held(&b).is_none()).await;
    assert_eq!(world.systems.attempts(), made, "the other had made it");
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_machine_with_a_new_disk_gives_no_lease_until_central_has_confirmed_the_turn() {
    let mut world = world();
    let central = automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    central.goes(false);
    let gone = b.end().await;
    gone.loses_its_disk();
    let b = gone.run();
    until("the new disk is why calls are held", || {
        held(&a).is_some_and(|why| why.contains("its disk is new"))
    })
    .await;
    let standby = b.becomes(Role::Standby).await;
    let refused = standby.site.pair().unwrap().promote(false).await;
    let why = refused.unwrap_err().to_string();
    assert!(why.contains("new disk"), "{why}");
    drop(standby);
    central.goes(true);
    has_lease(&a, LeaseBy::Standby).await;
    until("nothing is held any more", || held(&a).is_none()).await;
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_machine_that_learns_as_it_starts_that_it_was_replaced_holds_no_lease_and_gives_one() {
    let mut world = world();
    automatic_for(&mut world, secs(60));
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    let gone = a.end().await;
    let leases = gone.automatic.clone().unwrap().leases;
    assert!(leases.held().is_some(), "the process goes on");
    let standby = b.becomes(Role::Standby).await;
    standby.site.pair().unwrap().promote(true).await.unwrap();
    drop(standby);
    b.becomes(Role::Active).await;
    let a = gone.run();
    a.becomes(Role::Standby).await;
    assert_eq!(leases.held(), None);
    has_lease(&b, LeaseBy::Standby).await;
    a.end().await;
    b.end().await;
}
