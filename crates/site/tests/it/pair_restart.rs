//! Calls under way while a machine of a pair is stopped in an orderly way, or has just started: each is made once.

use crate::{
    pair_central::{LEASE, automatic, automatic_for, has_lease, is_made, just_started},
    pair_days::with_days,
    pair_world::{Live, a_pair, world},
    script::Reply,
    world::{a_call, until},
};
use domain::{SystemClock, pair::Role, site::OperationStatus};
use site::{
    Agent, Sent,
    pair::{LeaseBy, LeaseState},
};
use std::{sync::Arc, time::Duration};
use store::buffer::MessageId;
use tokio::{task::JoinHandle, time::Instant};
use uuid::Uuid;

/// A call that is on the network from the moment this returns.
async fn a_call_at_gate(live: &Live, systems: &crate::script::Scripted) -> (MessageId, JoinHandle<Sent>) {
    systems.always(Reply::AtGate);
    let active = live.becomes(Role::Active).await;
    let id = MessageId(Uuid::new_v4());
    let mut call = a_call("erp");
    call.options.message_id = Some(id);
    let sent = tokio::spawn(async move { active.site.send(call).await.unwrap() });
    systems.waiting(1).await;
    (id, sent)
}

fn runs_of_lease(agent: &Agent) -> u64 {
    agent.loops.reports().get("lease").map_or(0, |report| report.runs)
}

/// How long it took until the lease was asked for again.
async fn renewed(agent: &Agent) -> Duration {
    let (began, runs) = (Instant::now(), runs_of_lease(agent));
    until("the lease to be asked for", || runs_of_lease(agent) > runs).await;
    began.elapsed()
}

#[tokio::test]
async fn a_call_that_a_machine_without_the_lease_has_begun_ends_before_the_standby_gets_it() {
    let mut world = world();
    automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    let (mut a, b) = tokio::join!(a.end(), b.end());
    just_started(&mut a);
    let a = a.run();
    let (id, sent) = a_call_at_gate(&a, &world.systems).await;
    let b = b.run();
    let active = a.becomes(Role::Active).await;
    let pair = active.site.pair().unwrap().clone();
    testkit::until("the standby to ask for what changed", async || {
        pair.status().await.behind.is_some()
    })
    .await;
    let runs = runs_of_lease(&active);
    until("time to pass without a lease", || {
        runs_of_lease(&active) > runs + 1
    })
    .await;
    assert_eq!((pair.status().await.lease, b.waiting()), (None, 0));
    drop((active, pair));
    world.systems.open_gate();
    let sent = sent.await.unwrap();
    assert_eq!(sent.status, Some(OperationStatus::Delivered));
    is_made(&b, id).await;
    assert_eq!(world.systems.attempts_of(id), 1);
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_call_longer_than_a_lease_ends_before_a_machine_that_is_stopped_is_gone_and_the_standby_knows() {
    let mut world = world();
    automatic_for(&mut world, 5 * LEASE);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    let (id, sent) = a_call_at_gate(&a, &world.systems).await;
    let stopping = a.agent().unwrap();
    let end = tokio::spawn(a.end());
    let runs = runs_of_lease(&stopping);
    // Five of them make a lease.
    until("more than a lease to pass", || {
        runs_of_lease(&stopping) > runs + 7
    })
    .await;
    drop(stopping);
    world.systems.open_gate();
    let sent = sent.await.unwrap();
    assert_eq!(sent.status, Some(OperationStatus::Delivered));
    end.await.unwrap();
    b.becomes(Role::Active).await;
    has_lease(&b, LeaseBy::Witness).await;
    is_made(&b, id).await;
    b.holds(0).await;
    assert_eq!(world.systems.attempts_of(id), 1);
    b.end().await;
}

#[tokio::test]
async fn a_call_outlives_a_lease_that_central_gives_for_shorter_than_it_was_asked_for() {
    let mut world = world();
    automatic_for(&mut world, 5 * LEASE);
    for machine in &mut world.machines {
        let leases = LeaseState::new(15 * LEASE, Arc::new(SystemClock));
        machine.automatic.as_mut().unwrap().leases = leases;
    }
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    let (id, sent) = a_call_at_gate(&a, &world.systems).await;
    b.holds(1).await;
    let away = b.end().await;
    has_lease(&a, LeaseBy::Witness).await;
    let active = a.agent().unwrap();
    renewed(&active).await;
    let mut pauses = vec![];
    // Five of them make a lease.
    for _ in 0..6 {
        pauses.push(renewed(&active).await);
    }
    let shortest = pauses.iter().min().unwrap();
    assert!(
        *shortest < 2 * LEASE,
        "as often as what is given needs: {pauses:?}"
    );
    drop(active);
    world.systems.open_gate();
    assert_eq!(sent.await.unwrap().status, Some(OperationStatus::Delivered));
    assert_eq!(world.systems.attempts_of(id), 1);
    a.end().await;
    drop(away);
}

#[tokio::test]
async fn a_call_whose_lease_ended_while_the_process_stood_still_is_not_gone_on_with() {
    let mut world = world();
    let central = automatic(&mut world);
    let days = with_days(&mut world, 60 * LEASE);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    // It is connected, and has not written anything yet.
    let (id, sent) = a_call_at_gate(&a, &world.systems).await;
    b.holds(1).await;
    central.goes(false);
    let away = b.end().await;
    days.pass(1);
    world.systems.open_gate();
    let sent = sent.await.unwrap();
    assert_ne!(sent.status, Some(OperationStatus::Delivered));
    let buffer = a.agent().unwrap().site.buffer.clone();
    let waits = buffer.message(id).await.unwrap().unwrap();
    assert_eq!(waits.retry_count, 0, "it is not counted");
    drop(buffer);
    a.end().await;
    drop(away);
}
