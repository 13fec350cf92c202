//! The active machine goes on without its standby, in another turn, while that is only slow.

use crate::{
    cable::{self, Weather},
    pair_central::{automatic, has_lease, turn_of},
    pair_trouble::notify_much,
    pair_world::{World, a_pair, has_all, notify, world},
    world::until,
};
use domain::pair::{Rank, Role};
use link::{NotHolder, SiteCommands};
use site::{Commands, pair::LeaseBy};
use uuid::Uuid;

/// The second machine had to make a whole copy although it had the beginning: its file was set aside.
fn was_replaced(world: &World) -> bool {
    let files = std::fs::read_dir(world.folder.path()).unwrap();
    let mut names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.any(|name| name.starts_with("north-b.db.replaced-"))
}

#[tokio::test]
async fn a_copy_during_which_the_active_one_goes_on_alone_is_made_once() {
    let mut world = world();
    automatic(&mut world);
    let cable = cable::to_the_first(&mut world, Weather::Clogged).await;
    let [a, b] = world.machines.clone();
    let a = a.run();
    let agent = a.becomes(Role::Standby).await;
    agent.site.pair().unwrap().promote(true).await.unwrap();
    drop(agent);
    let mut ids = notify_much(&a).await;
    cable.lets_through(3 << 20);
    let b = b.run();
    cable.has_had_enough().await;
    let turn = turn_of(&a);
    until("it goes on in a turn of its own", || turn_of(&a) > turn).await;
    ids.extend(notify(&a, 2).await);
    cable.becomes(Weather::Up);
    b.holds(ids.len() as u64).await;
    assert!(has_all(&b, &ids).await);
    has_lease(&a, LeaseBy::Standby).await;
    assert!(!was_replaced(&world));
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_standby_that_paused_while_the_active_one_went_on_alone_fetches_what_changed() {
    let mut world = world();
    automatic(&mut world);
    let cable = cable::to_the_first(&mut world, Weather::Clogged).await;
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    let mut ids = notify(&a, 2).await;
    b.holds(2).await;
    let turn = turn_of(&a);
    cable.becomes(Weather::Clogged);
    until("it goes on in a turn of its own", || turn_of(&a) > turn).await;
    ids.extend(notify(&a, 2).await);
    cable.becomes(Weather::Up);
    b.holds(4).await;
    assert!(has_all(&b, &ids).await);
    has_lease(&a, LeaseBy::Standby).await;
    assert!(!was_replaced(&world));
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_turn_that_begins_while_the_standby_asks_is_heard_with_what_it_fetches() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    let mut ids = notify(&a, 2).await;
    b.holds(2).await;
    let agent = a.agent().unwrap();
    let standing = agent.site.pair().unwrap().standing();
    let next: Rank = (standing.history.rank().0 + 1, Uuid::new_v4());
    let taken = agent.site.buffer.take_turn(&standing, next, false).await;
    taken.unwrap();
    drop(agent);
    ids.extend(notify(&a, 2).await);
    b.holds(4).await;
    assert!(has_all(&b, &ids).await);
    until("the standby knows of the turn", || turn_of(&b) == Some(next.0)).await;
    assert!(!was_replaced(&world));
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn what_is_meant_for_the_holder_of_another_turn_is_turned_down_with_the_turn_there_is() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    notify(&a, 1).await;
    b.holds(1).await;
    let [active, standby] = [&a, &b].map(|live| Commands(live.agent().unwrap().site.clone()));
    let turn = a.agent().unwrap().site.pair().unwrap().standing().history.rank();
    let another: Rank = (turn.0 + 1, Uuid::new_v4());
    assert_eq!(active.holds(turn), Ok(()));
    assert_eq!(active.holds(another), Err(NotHolder { turn: Some(turn) }));
    let same_number: Rank = (turn.0, Uuid::new_v4());
    assert_eq!(active.holds(same_number), Err(NotHolder { turn: Some(turn) }));
    assert_eq!(standby.holds(turn), Err(NotHolder { turn: None }));
    drop((active, standby));
    a.end().await;
    b.end().await;
}
