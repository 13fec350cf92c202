//! A standby that lacks something for longer than it may.

use crate::{
    cable::{self, Weather},
    pair_central::{
        LEASE, a_waiting_call, automatic, automatic_for, central_of, has_lease, held, is_made, turn_of,
    },
    pair_world::{Live, a_pair, has_all, notify, world},
    script::Reply,
    world::until,
};
use domain::{Actor, pair::Role};
use site::{engine::TriedNow, pair::LeaseBy};

async fn is_caught_up(live: &Live) -> bool {
    let Some(agent) = live.agent() else { return false };
    agent.site.pair().unwrap().status().await.caught_up
}

#[tokio::test]
async fn a_standby_past_the_stated_lag_says_that_it_has_not_caught_up_and_gives_no_lease() {
    let mut world = world();
    automatic(&mut world);
    let cable = cable::to_the_first(&mut world, Weather::Clogged).await;
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    testkit::until("the standby to have everything", async || is_caught_up(&b).await).await;
    let turn = turn_of(&a);
    // It answers, and fetches nothing any more.
    cable.becomes(Weather::Clogged);
    let ids = notify(&a, 3).await;
    testkit::until("the standby to say so", async || !is_caught_up(&b).await).await;
    has_lease(&a, LeaseBy::Witness).await;
    until("the active one to go on without it", || turn_of(&a) > turn).await;
    assert!(b.is(Role::Standby) && b.waiting() == 0);
    cable.becomes(Weather::Up);
    testkit::until("it to have caught up", async || is_caught_up(&b).await).await;
    has_lease(&a, LeaseBy::Standby).await;
    assert!(has_all(&b, &ids).await);
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_standby_that_gave_no_lease_because_it_lagged_makes_nothing_again_that_it_lacks() {
    let mut world = world();
    automatic_for(&mut world, 10 * LEASE);
    let of_the_first = central_of(&mut world.machines[0]);
    let cable = cable::to_the_first(&mut world, Weather::Clogged).await;
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    of_the_first.goes(false);
    world.systems.always(Reply::Transient);
    let id = a_waiting_call(&a).await;
    b.holds(1).await;
    cable.becomes(Weather::Clogged);
    world.systems.always(Reply::Delivered);
    is_made(&a, id).await;
    let made = world.systems.attempts_of(id);
    until("the standby has it in its file that it lacks something", || {
        let standing = b.agent().and_then(|agent| agent.site.buffer.standing());
        standing.is_some_and(|standing| !standing.caught_up)
    })
    .await;
    a.end().await;
    b.becomes(Role::Active).await;
    until("it holds what it inherited", || {
        held(&b).is_some_and(|why| why.contains("may have attempted"))
    })
    .await;
    let (agent, somebody) = (b.agent().unwrap(), Actor::new("user:a"));
    let tried = agent.site.engine.try_waiting(id, &somebody).await.unwrap();
    assert!(
        matches!(&tried, TriedNow::Held(why) if why.contains("may have attempted")),
        "{tried:?}"
    );
    let from_central = site::Commands(agent.site.clone());
    let tried = link::SiteCommands::try_waiting(&from_central, &id.to_string(), "user:a").await;
    assert!(
        tried.as_ref().is_err_and(|why| why.contains(link::NOT_HOLDER)),
        "so that central asks the other machine: {tried:?}"
    );
    let discarded = agent.site.discard_waiting(id, &somebody).await;
    assert!(discarded.is_err(), "that is the holder's as well: {discarded:?}");
    assert_eq!((b.waiting(), world.systems.attempts_of(id)), (1, made));
    drop(agent);
    b.end().await;
}
