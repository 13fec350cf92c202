//! A standby that lacks something for longer than it may.

use crate::{
    cable::{self, Weather},
    pair_central::{automatic, has_lease, turn_of},
    pair_world::{Live, a_pair, has_all, notify, world},
    world::until,
};
use domain::pair::Role;
use site::pair::LeaseBy;

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
    assert!(is_caught_up(&b).await);
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
