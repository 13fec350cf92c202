//! What can happen to a pair besides the loss of one machine: both at once, in the middle of something, or central as well.

use crate::{
    cable::{self, Weather},
    pair_central::{a_waiting_call, automatic, central_of, has_lease, held, is_made, turn_of},
    pair_world::{Live, a_pair, has_all, notify, world},
    script::Reply,
    world::{a_notification, until},
};
use domain::pair::Role;
use site::{Outgoing, pair::LeaseBy};
use store::buffer::MessageId;
use uuid::Uuid;

/// So much is fetched in several parts.
const MANY: u64 = 60;

fn a_long_notification(n: u64) -> Outgoing {
    a_notification(&format!("tank {n} {}", "is full ".repeat(100)))
}

/// Messages that make several parts of a copy.
pub async fn notify_much(live: &Live) -> Vec<MessageId> {
    let active = live.becomes(Role::Active).await;
    let mut ids = vec![];
    for n in 0..MANY {
        let mut long = a_long_notification(n);
        long.payload = long.payload.replace("Level 98 %", &"Level 98 % ".repeat(10_000));
        ids.push(active.site.send(long).await.unwrap().id);
    }
    ids
}

/// It may start anew meanwhile, with a copy.
async fn comes_to_have(live: &Live, ids: &[MessageId]) {
    let what = format!("{} to have {} messages", live.machine.name, ids.len());
    testkit::until(&what, async || {
        let Some(agent) = live.agent() else { return false };
        for id in ids {
            let found = agent.site.buffer.message(*id).await;
            if !found.is_ok_and(|message| message.is_some()) {
                return false;
            }
        }
        true
    })
    .await;
}

#[tokio::test]
async fn both_machines_restart_at_once_and_go_on_as_they_were() {
    let mut world = world();
    automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    world.systems.always(Reply::Transient);
    let id = a_waiting_call(&a).await;
    b.holds(1).await;
    let (a, b) = tokio::join!(a.end(), b.end());
    world.systems.always(Reply::Delivered);
    let made = world.systems.attempts();
    let (a, b) = (a.run(), b.run());
    a.becomes(Role::Active).await;
    b.becomes(Role::Standby).await;
    has_lease(&a, LeaseBy::Standby).await;
    is_made(&a, id).await;
    b.holds(0).await;
    assert_eq!(world.systems.attempts(), made + 1);
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn an_empty_disk_that_returns_first_leaves_the_site_to_the_one_that_has_it() {
    let mut world = world();
    automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    world.systems.always(Reply::Transient);
    let id = a_waiting_call(&a).await;
    b.holds(1).await;
    let (a, b) = tokio::join!(a.end(), b.end());
    a.loses_its_disk();
    world.systems.always(Reply::Delivered);
    let a = a.run();
    let empty = a.becomes(Role::Standby).await;
    until("it has looked for the other", || {
        empty
            .loops
            .reports()
            .get("lease")
            .is_some_and(|asked| asked.runs > 2)
    })
    .await;
    assert_eq!((a.is(Role::Standby), a.waiting()), (true, 0));
    drop(empty);
    let b = b.run();
    b.becomes(Role::Active).await;
    is_made(&b, id).await;
    let ids = notify(&b, 2).await;
    a.holds(2).await;
    assert!(has_all(&a, &ids).await);
    has_lease(&b, LeaseBy::Standby).await;
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_central_that_is_put_back_while_a_lease_runs_gives_it_to_nobody_else() {
    let mut world = world();
    let central = automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    let backup = central.backup();
    let turn = turn_of(&a);
    let away = b.end().await;
    until("it goes on in a turn of its own", || turn_of(&a) > turn).await;
    has_lease(&a, LeaseBy::Witness).await;
    central.is_restored(backup);
    world.systems.always(Reply::Delivered);
    let id = a_waiting_call(&a).await;
    is_made(&a, id).await;
    // It comes back behind, and is not given what the first one holds.
    let b = away.run();
    b.becomes(Role::Standby).await;
    has_lease(&a, LeaseBy::Standby).await;
    assert!(a.is(Role::Active) && b.is(Role::Standby));
    assert_eq!(world.systems.attempts_of(id), 1);
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn who_takes_over_by_a_central_that_was_put_back_makes_nothing_it_inherited_until_it_has_met_the_other()
{
    let mut world = world();
    let central = automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    world.systems.always(Reply::Transient);
    let id = a_waiting_call(&a).await;
    b.holds(1).await;
    let backup = central.backup();
    let gone = a.end().await;
    central.is_restored(backup);
    world.systems.always(Reply::Delivered);
    let made = world.systems.attempts();
    b.becomes(Role::Active).await;
    until("it holds what it inherited", || {
        held(&b).is_some_and(|why| why.contains("may have attempted"))
    })
    .await;
    let ids = notify(&b, 1).await;
    assert_eq!(world.systems.attempts(), made);
    let a = gone.run();
    a.becomes(Role::Standby).await;
    is_made(&b, id).await;
    assert_eq!(world.systems.attempts(), made + 1);
    a.holds(1).await;
    assert!(has_all(&a, &ids).await);
    a.end().await;
    b.end().await;
}

/// The first machine dies when a part of what the second lacks has come. That one takes over with what it has, makes nothing that
/// it inherited, and gets the rest when the first is back.
async fn dies_in_the_middle(needs_a_copy: bool) {
    let mut world = world();
    automatic(&mut world);
    let cable = cable::to_the_first(&mut world, Weather::Cut).await;
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    world.systems.always(Reply::Transient);
    let id = a_waiting_call(&a).await;
    b.holds(1).await;
    let turn = turn_of(&a);
    let away = b.end().await;
    let ids = notify_much(&a).await;
    until("it goes on in a turn of its own", || turn_of(&a) > turn).await;
    if needs_a_copy {
        let buffer = a.agent().unwrap().site.buffer.clone();
        assert!(buffer.trim_log(0, 0).await.unwrap());
    }
    has_lease(&a, LeaseBy::Witness).await;
    cable.lets_through(3 << 20);
    let b = away.run();
    cable.has_had_enough().await;
    let gone = a.end().await;
    world.systems.always(Reply::Delivered);
    let made = world.systems.attempts();
    b.becomes(Role::Active).await;
    until("it holds what it inherited", || {
        held(&b).is_some_and(|why| why.contains("may have attempted"))
    })
    .await;
    assert!(b.waiting() < MANY, "it has got everything");
    let only_there = notify(&b, 2).await;
    assert_eq!(world.systems.attempts(), made);
    cable.becomes(Weather::Up);
    let a = gone.run();
    a.becomes(Role::Standby).await;
    is_made(&b, id).await;
    let all: Vec<_> = ids.into_iter().chain(only_there).collect();
    for live in [&b, &a] {
        comes_to_have(live, &all).await;
        live.holds(MANY + 2).await;
    }
    assert_eq!(world.systems.attempts(), made + 1);
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn an_active_one_that_dies_while_its_standby_catches_up_loses_nothing_it_comes_back_with() {
    dies_in_the_middle(false).await;
}

#[tokio::test]
async fn an_active_one_that_dies_during_a_whole_copy_loses_nothing_it_comes_back_with() {
    dies_in_the_middle(true).await;
}

#[tokio::test]
async fn an_active_one_without_central_goes_on_by_its_standby() {
    let mut world = world();
    automatic(&mut world);
    let of_the_first = central_of(&mut world.machines[0]);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    of_the_first.goes(false);
    world.systems.always(Reply::Delivered);
    let turn = turn_of(&a);
    for _ in 0..3 {
        let id = a_waiting_call(&a).await;
        is_made(&a, id).await;
    }
    has_lease(&a, LeaseBy::Standby).await;
    until("nothing is held", || held(&a).is_none()).await;
    assert_eq!(turn_of(&a), turn);
    assert!(b.is(Role::Standby));
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn the_same_id_sent_to_both_sides_is_one_message_when_they_have_met() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    let shared = notify(&a, 1).await;
    b.holds(1).await;
    let b_alone = b.end().await;
    let id = MessageId(Uuid::new_v4());
    let the_same = |live: &Live| {
        let agent = live.agent().unwrap();
        async move {
            let mut message = a_notification("tank 4 is full");
            message.options.message_id = Some(id);
            assert_eq!(agent.site.send(message).await.unwrap().id, id);
        }
    };
    the_same(&a).await;
    let a_alone = a.end().await;
    let b = b_alone.run();
    let agent = b.becomes(Role::Standby).await;
    agent.site.pair().unwrap().promote(true).await.unwrap();
    drop(agent);
    b.becomes(Role::Active).await;
    the_same(&b).await;
    let a = a_alone.run();
    a.becomes(Role::Standby).await;
    let more = notify(&b, 1).await;
    for live in [&a, &b] {
        live.holds(3).await;
        for ids in [&shared, &more, &vec![id]] {
            assert!(has_all(live, ids).await);
        }
    }
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_standby_without_room_says_so_counts_as_absent_and_follows_when_there_is() {
    let mut world = world();
    world.machines.iter_mut().for_each(|machine| machine.waits = true);
    automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    let full = b.agent().unwrap();
    full.site.buffer.limit_pages(Some(1)).await.unwrap();
    let ids = notify_much(&a).await;
    let active = a.agent().unwrap();
    let sent = active.site.send(a_notification("one more")).await.unwrap();
    assert_eq!((sent.accepted, sent.replicated), (true, Some(false)));
    until("the standby says that it has no room", || {
        let reports = full.loops.reports();
        let said = reports.get("pair").and_then(|report| report.result.clone().err());
        said.is_some_and(|why| why.contains("cannot be written down here"))
    })
    .await;
    // It gives no lease: what is done now, it does not have.
    has_lease(&a, LeaseBy::Witness).await;
    full.site.buffer.limit_pages(None).await.unwrap();
    drop((full, active));
    b.holds(MANY + 1).await;
    assert!(has_all(&b, &ids).await);
    has_lease(&a, LeaseBy::Standby).await;
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_peer_that_stops_reading_during_a_copy_delays_no_send_and_grows_no_log() {
    let mut world = world();
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
    let log = world.folder.path().join("north-a.db-wal");
    for _ in 0..3 {
        ids.extend(notify_much(&a).await);
    }
    let written = ids.len() as u64 * 110_000;
    let length = std::fs::metadata(log).unwrap().len();
    assert!(
        length < written / 2,
        "{length} bytes of {written} are still in the log"
    );
    assert!(a.is(Role::Active));
    // Whoever does not read is given up and asked anew.
    cable.becomes(Weather::Cut);
    cable.becomes(Weather::Up);
    b.holds(ids.len() as u64).await;
    assert!(has_all(&b, &ids).await);
    a.end().await;
    b.end().await;
}
