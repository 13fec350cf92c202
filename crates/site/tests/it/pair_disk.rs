//! A machine whose disk takes nothing gives no sign of life: neither holds the lease, nor gives it, nor takes over.

use crate::{
    pair_central::{a_waiting_call, automatic, has_lease, held, is_made, turn_of},
    pair_world::{Live, a_pair, has_all, notify, world},
    script::Reply,
    world::{a_notification, until},
};
use domain::pair::Role;
use site::pair::LeaseBy;

fn runs(live: &Live, name: &str) -> u64 {
    let reports = live.agent().map(|agent| agent.loops.reports());
    reports.map_or(0, |all| all.get(name).map_or(0, |report| report.runs))
}

#[tokio::test]
async fn an_active_machine_whose_disk_hangs_lets_its_lease_run_out_and_the_standby_takes_over() {
    let mut world = world();
    automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    let ids = notify(&a, 2).await;
    world.systems.always(Reply::Transient);
    let call = a_waiting_call(&a).await;
    b.holds(3).await;
    let hung = a.agent().unwrap().site.buffer.hang();
    until("it says what is wrong", || {
        held(&a).is_some_and(|why| why.contains("the disk of north-a hangs"))
    })
    .await;
    b.becomes(Role::Active).await;
    has_lease(&b, LeaseBy::Witness).await;
    let tried = world.systems.attempts();
    world.systems.always(Reply::Delivered);
    is_made(&b, call).await;
    assert_eq!(world.systems.attempts(), tried + 1, "and by nobody else");
    drop(hung);
    a.becomes(Role::Standby).await;
    has_lease(&b, LeaseBy::Standby).await;
    assert!(has_all(&b, &ids).await);
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn an_active_machine_whose_disk_failed_is_taken_over_from_although_it_still_runs() {
    let mut world = world();
    automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    let ids = notify(&a, 2).await;
    b.holds(2).await;
    a.machine.loses_its_disk();
    let failed = a.agent().unwrap();
    assert!(failed.site.send(a_notification("tank 3")).await.is_err());
    assert!(failed.site.buffer.check().is_err());
    b.becomes(Role::Active).await;
    has_lease(&b, LeaseBy::Witness).await;
    assert!(has_all(&b, &ids).await);
    b.end().await;
}

#[tokio::test]
async fn a_standby_whose_disk_hangs_gives_no_lease_until_it_answers_again() {
    let mut world = world();
    automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    let hung = b.agent().unwrap().site.buffer.hang();
    has_lease(&a, LeaseBy::Witness).await;
    let (active, mut trouble) = (a.agent().unwrap(), None);
    testkit::until("it says what is wrong with the other machine", async || {
        trouble = active.site.pair().unwrap().status().await.other.trouble;
        trouble.is_some()
    })
    .await;
    let trouble = trouble.unwrap_or_default();
    assert!(trouble.contains("the disk of north-b hangs"), "{trouble}");
    drop((hung, active));
    has_lease(&a, LeaseBy::Standby).await;
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn an_idle_pair_renews_its_lease_without_writing_to_its_disks() {
    let mut world = world();
    automatic(&mut world);
    let (a, b) = a_pair(&world).await;
    has_lease(&a, LeaseBy::Standby).await;
    notify(&a, 1).await;
    b.holds(1).await;
    let commits = |live: &Live| live.agent().map(|agent| agent.site.buffer.commits());
    let renewals = || [&a, &b].map(|live| runs(live, "lease"));
    let settled = |before: [u64; 2], n: u64| renewals().iter().zip(before).all(|(now, then)| *now > then + n);
    // A machine that did not get on for a moment may go on in another turn, which is written down.
    let turns = || [&a, &b].map(turn_of);
    testkit::until("the lease to be renewed several times in one turn", async || {
        let begun = renewals();
        until("both have come to rest", || settled(begun, 5)).await;
        let (before, begun, turns_before) = ([&a, &b].map(commits), renewals(), turns());
        until("the lease was renewed several times", || settled(begun, 10)).await;
        let after = [&a, &b].map(commits);
        let one_turn = turns() == turns_before;
        assert!(!one_turn || after == before, "{before:?} became {after:?}");
        one_turn
    })
    .await;
    a.end().await;
    b.end().await;
}
