//! A machine that a person had go on without a lease, and the other one, which comes back when central has heard of it.

use crate::{
    pair_central::{Central, a_waiting_call, automatic, has_lease, held, is_delivered, turn_of},
    pair_world::{Live, World, a_pair, world},
    script::Reply,
    world::until,
};
use domain::pair::{Rank, Role};
use site::pair::LeaseBy;
use std::sync::Arc;
use store::buffer::{MessageId, What};
use uuid::Uuid;

async fn force(live: &Live) {
    let agent = live.agent().unwrap();
    agent.site.pair().unwrap().promote(true).await.unwrap();
}

/// A call that both machines have waits; central is away.
async fn a_call_waits_without_central() -> (World, Arc<Central>, [Live; 2], MessageId) {
    let mut world = world();
    let central = automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    world.systems.always(Reply::Transient);
    let call = a_waiting_call(&a).await;
    b.holds(1).await;
    let turn = turn_of(&a).unwrap();
    until("central knows the turn", || central.backup().rank.0 >= turn).await;
    central.goes(false);
    (world, central, [a, b], call)
}

/// It comes back alone, takes a turn by central's leave, and makes nothing of what the other may have made.
async fn makes_nothing_it_inherited(live: &Live, world: &World, made: usize) {
    live.becomes(Role::Active).await;
    until("it holds what it inherited", || {
        held(live).is_some_and(|why| why.contains("may have attempted"))
    })
    .await;
    assert_eq!(live.waiting(), 1);
    assert_eq!(world.systems.attempts(), made, "the other had made it");
}

#[tokio::test]
async fn what_a_forced_active_machine_made_is_not_made_again_by_the_standby_that_was_off() {
    let (world, central, [a, b], call) = a_call_waits_without_central().await;
    let off = b.end().await;
    until("calls that both know are held", || held(&a).is_some()).await;
    let turn = turn_of(&a).unwrap();
    world.systems.always(Reply::Delivered);
    force(&a).await;
    is_delivered(&a, call).await;
    assert!(turn_of(&a).unwrap() > turn, "it is another turn");
    let made = world.systems.attempts();
    central.goes(true);
    until("central hears of that turn", || central.backup().rank.0 > turn).await;
    has_lease(&a, LeaseBy::Nobody).await;
    let a_gone = a.end().await;
    let b = off.run();
    makes_nothing_it_inherited(&b, &world, made).await;
    let a = a_gone.run();
    a.becomes(Role::Standby).await;
    is_delivered(&b, call).await;
    assert_eq!(world.systems.attempts(), made);
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn what_a_forced_standby_made_is_not_made_again_by_the_old_active_machine() {
    let (world, central, [a, b], call) = a_call_waits_without_central().await;
    let turn = turn_of(&a).unwrap();
    let off = a.end().await;
    world.systems.always(Reply::Delivered);
    force(&b).await;
    b.becomes(Role::Active).await;
    is_delivered(&b, call).await;
    let made = world.systems.attempts();
    central.goes(true);
    until("central hears of that turn", || central.backup().rank.0 > turn).await;
    let b_gone = b.end().await;
    let a = off.run();
    makes_nothing_it_inherited(&a, &world, made).await;
    a.end().await;
    drop(b_gone);
}

#[tokio::test]
async fn who_is_forced_while_its_standby_is_attached_needs_the_lease_as_before() {
    let mut world = world();
    automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    let turn = turn_of(&a);
    force(&a).await;
    until("it is another turn", || turn_of(&a) > turn).await;
    has_lease(&a, LeaseBy::Standby).await;
    assert!(b.is(Role::Standby));
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_new_disk_that_is_attached_while_the_other_is_forced_gives_the_lease_without_central() {
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
    force(&a).await;
    has_lease(&a, LeaseBy::Standby).await;
    until("nothing is held any more", || held(&a).is_none()).await;
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn who_is_forced_while_the_other_is_active_needs_the_lease_although_it_cannot_ask_that_one() {
    let (_world, _central, [a, b], _) = a_call_waits_without_central().await;
    let mut cut = a.end().await;
    force(&b).await;
    let taken_over = b.becomes(Role::Active).await;
    // Another turn: the one that the other is forced into is below it, and this one stays active.
    let buffer = taken_over.site.buffer.clone();
    let standing = buffer.standing().unwrap();
    let above: Rank = (standing.history.rank().0 + 1, Uuid::new_v4());
    buffer.take_turn(&standing, above, false).await.unwrap();
    drop((taken_over, buffer));
    cut.other = format!("http://{}", testkit::ports::an_address())
        .parse()
        .unwrap();
    let a = cut.run();
    let active = a.becomes(Role::Active).await;
    let pair = active.site.pair().unwrap().clone();
    let last_contact = async || pair.status().await.other.last_contact_at;
    testkit::until("the other to ask", async || last_contact().await.is_some()).await;
    until("calls that both know are held", || held(&a).is_some()).await;
    let (met, turn) = (last_contact().await, turn_of(&a));
    force(&a).await;
    assert!(turn_of(&a) > turn);
    until("it needs the lease", || held(&a).is_some()).await;
    testkit::until("the last contact to be shown", async || {
        last_contact().await > met
    })
    .await;
    assert!(a.is(Role::Active) && b.is(Role::Active));
    drop((active, pair));
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn who_forced_a_machine_is_in_the_event_log() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    let off = a.end().await;
    force(&b).await;
    let active = b.becomes(Role::Active).await;
    let events = active.site.buffer.events(None, 20).await.unwrap();
    let forced = events
        .into_iter()
        .find(|event| event.what == What::TookOver)
        .unwrap();
    assert_eq!(forced.actor.as_deref(), Some("local"));
    let why = forced.detail.unwrap();
    assert!(why.contains("promote --force"), "{why}");
    drop(active);
    b.end().await;
    drop(off);
}
