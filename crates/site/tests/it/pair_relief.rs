//! An active machine in trouble hands over by itself, once, to a standby that has what it lacks.

use crate::{
    pair_central::{Central, a_waiting_call, automatic, central_of, has_lease, is_made},
    pair_world::{Live, World, a_pair, has_all, notify, world},
    script::Reply,
    world::{a_notification, until},
};
use domain::pair::{ReliefTerms, Role};
use site::pair::LeaseBy;
use std::{sync::Arc, time::Duration};
use store::buffer::What;

const SOON: ReliefTerms = ReliefTerms {
    no_room_for: Duration::from_millis(200),
    no_central_for: Duration::from_millis(200),
    rest: Duration::from_secs(600),
    again_after: Duration::from_millis(200),
};

/// Two machines that hand over soon, each with a way to central of its own.
fn impatient() -> (World, [Arc<Central>; 2]) {
    let mut world = world();
    automatic(&mut world);
    world
        .machines
        .iter_mut()
        .for_each(|machine| machine.relief = SOON);
    let [a, b] = &mut world.machines;
    // It became active a moment ago.
    a.relief.rest = Duration::ZERO;
    let centrals = [central_of(a), central_of(b)];
    (world, centrals)
}

async fn why_it_took_over(live: &Live) -> String {
    let active = live.becomes(Role::Active).await;
    let events = active.site.buffer.events(None, 20).await.unwrap();
    let took_over = events.into_iter().find(|event| event.what == What::TookOver);
    took_over.and_then(|event| event.detail).unwrap_or_default()
}

fn unrelieved(live: &Live) -> bool {
    let reports = live
        .agent()
        .map(|agent| agent.site.pair().is_some_and(|pair| pair.is_unrelieved()));
    reports == Some(true)
}

#[tokio::test]
async fn an_active_machine_without_room_hands_over_and_the_site_takes_messages_again() {
    let (world, _) = impatient();
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    let ids = notify(&a, 3).await;
    b.holds(3).await;
    let full = a.agent().unwrap();
    full.site.buffer.limit_pages(Some(1)).await.unwrap();
    let mut long = a_notification("tank 4");
    long.payload = long.payload.replace("Level 98 %", &"Level 98 % ".repeat(10_000));
    assert!(full.site.send(long).await.is_err());
    drop(full);
    b.becomes(Role::Active).await;
    a.becomes(Role::Standby).await;
    assert!(why_it_took_over(&b).await.contains("no room"));
    assert!(has_all(&b, &ids).await);
    notify(&b, 1).await;
    b.holds(4).await;
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn an_active_machine_without_central_hands_over_to_a_standby_that_has_it_and_not_back_at_once() {
    let (world, centrals) = impatient();
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    world.systems.always(Reply::Transient);
    let call = a_waiting_call(&a).await;
    b.holds(1).await;
    // Neither has it: the standby says no.
    centrals.iter().for_each(|central| central.goes(false));
    until("it says why it cannot hand over", || unrelieved(&a)).await;
    assert!(a.is(Role::Active));
    centrals[1].goes(true);
    b.becomes(Role::Active).await;
    a.becomes(Role::Standby).await;
    assert!(why_it_took_over(&b).await.contains("central"));
    world.systems.always(Reply::Delivered);
    is_made(&b, call).await;
    // Now it is the other way round, and they rest.
    centrals[0].goes(true);
    centrals[1].goes(false);
    let active = b.becomes(Role::Active).await;
    let runs = |name: &str| active.loops.reports().get(name).map_or(0, |report| report.runs);
    let (looks, asks) = (runs("pair"), runs("lease"));
    until("it has looked several times", || {
        runs("pair") > looks + 2 && runs("lease") > asks + 4
    })
    .await;
    assert!(b.is(Role::Active) && !unrelieved(&b), "it was not even asked");
    drop(active);
    a.end().await;
    b.end().await;
}
