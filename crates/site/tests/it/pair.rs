//! Two machines of a site: what the active has, the standby gets; who takes over has all of it; and whoever was active as well
//! hands in what only it had.

use crate::{
    pair_world::{a_pair, has_all, notify, world},
    script::Reply,
    world::{a_call, a_notification, secs, until},
};
use domain::{SiteId, SystemClock, TrackedOperationId, pair::Role, site::OperationStatus};
use site::{Agent, Handlers, Settings, Site};
use std::sync::Arc;
use store::{
    Buffer,
    buffer::{MessageId, Options},
};

#[tokio::test]
async fn a_standby_gets_what_was_there_before_it_and_what_comes() {
    let world = world();
    let [a, b] = world.machines.clone();
    let a = a.run();
    a.becomes(Role::Standby).await;
    let agent = a.agent().unwrap();
    let pair = agent.site.pair().unwrap().clone();
    let refused = pair.promote(false).await.unwrap_err().to_string();
    assert!(refused.contains("cannot be asked"), "{refused}");
    pair.promote(true).await.unwrap();
    drop((agent, pair));
    let mut ids = notify(&a, 3).await;
    let b = b.run();
    b.holds(3).await;
    ids.extend(notify(&a, 2).await);
    b.holds(5).await;
    assert!(has_all(&b, &ids).await);
    let standby = b.becomes(Role::Standby).await;
    until("nothing is missing", || {
        standby.site.buffer.standing().unwrap().caught_up
    })
    .await;
    let status = a.agent().unwrap().site.pair().unwrap().status().await;
    assert_eq!(status.other.name.as_deref(), Some("north-b"));
    assert_eq!(status.other.role, Some(Role::Standby));
    let status = standby.site.pair().unwrap().status().await;
    assert_eq!(status.differences.len(), 2, "their systems have different names");
    drop(standby);
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_planned_handover_loses_nothing_and_goes_both_ways() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    let mut ids = notify(&a, 20).await;
    b.holds(20).await;
    let agent = b.agent().unwrap();
    agent.site.pair().unwrap().promote(false).await.unwrap();
    drop(agent);
    b.becomes(Role::Active).await;
    a.becomes(Role::Standby).await;
    ids.extend(notify(&b, 5).await);
    a.holds(25).await;
    assert!(has_all(&a, &ids).await && has_all(&b, &ids).await);
    assert!(
        !world.folder.path().join("north-a.db.copy").exists(),
        "what changed was enough"
    );
    let agent = b.agent().unwrap();
    agent.site.pair().unwrap().demote().await.unwrap();
    drop(agent);
    a.becomes(Role::Active).await;
    b.becomes(Role::Standby).await;
    ids.extend(notify(&a, 1).await);
    b.holds(26).await;
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_standby_sends_nothing_and_whoever_takes_over_sends_what_waits() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    world.systems.always(Reply::Transient);
    let active = a.becomes(Role::Active).await;
    let mut call = a_call("erp");
    call.options.retry_interval = Some(secs(1));
    let id = active.site.send(call).await.unwrap().id;
    drop(active);
    b.holds(1).await;
    // The machine dies with its disk: nothing of it is ever seen again.
    let gone = a.end().await;
    gone.loses_its_disk();
    let tried = world.systems.attempts();
    world.systems.always(Reply::Delivered);
    let standby = b.agent().unwrap();
    let pair = standby.site.pair().unwrap().clone();
    assert!(pair.promote(false).await.is_err(), "nobody knows whether it runs");
    assert_eq!(world.systems.attempts(), tried);
    pair.promote(true).await.unwrap();
    drop((standby, pair));
    let taken_over = b.becomes(Role::Active).await;
    until("what waited is delivered", || world.systems.attempts() > tried).await;
    b.holds(0).await;
    let tracked = taken_over
        .site
        .buffer
        .tracking(TrackedOperationId(id.0))
        .await
        .unwrap();
    assert_eq!(tracked.unwrap().status, OperationStatus::Delivered);
    drop(taken_over);
    // It comes back empty and gets a whole copy.
    let ids = notify(&b, 3).await;
    let back = gone.run();
    until("the empty disk is filled", || back.waiting() >= 3).await;
    assert!(has_all(&back, &ids).await);
    back.end().await;
    b.end().await;
}

#[tokio::test]
async fn an_active_one_that_was_cut_off_steps_down_and_hands_in_what_only_it_has() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    let shared = notify(&a, 2).await;
    b.holds(2).await;
    let b_alone = b.end().await;
    let only_here = notify(&a, 3).await;
    let a_alone = a.end().await;
    // Each runs without the other, and somebody makes both of them active.
    let b = b_alone.run();
    let agent = b.becomes(Role::Standby).await;
    agent.site.pair().unwrap().promote(true).await.unwrap();
    drop(agent);
    let only_there = notify(&b, 1).await;
    let a = a_alone.run();
    a.becomes(Role::Standby).await;
    b.holds(6).await;
    a.holds(6).await;
    assert!(b.is(Role::Active));
    for ids in [&shared, &only_here, &only_there] {
        assert!(has_all(&a, ids).await && has_all(&b, ids).await);
    }
    let kept = std::fs::read_dir(world.folder.path()).unwrap();
    let kept: Vec<_> = kept
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        kept.iter().any(|name| name.starts_with("north-a.db.replaced-")),
        "the file it had is kept: {kept:?}"
    );
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_machine_with_another_key_gets_nothing_and_the_active_goes_on() {
    let world = world();
    let [a, mut b] = world.machines.clone();
    b.key = "wps_of_south";
    let (a, b) = (a.run(), b.run());
    let agent = a.becomes(Role::Standby).await;
    agent.site.pair().unwrap().promote(true).await.unwrap();
    drop(agent);
    notify(&a, 2).await;
    let stranger = b.becomes(Role::Standby).await;
    let pair = stranger.site.pair().unwrap();
    testkit::until("the stranger to be told about its key", async || {
        let why = pair.status().await.other.trouble.unwrap_or_default();
        why.contains("key")
    })
    .await;
    assert_eq!(b.waiting(), 0);
    assert!(a.is(Role::Active));
    drop(stranger);
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn a_copy_is_not_started_as_a_site_of_one_machine() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    notify(&a, 1).await;
    b.holds(1).await;
    a.end().await;
    let file = b.end().await.file;
    let buffer = Buffer::open(&Options::at(file), Arc::new(SystemClock)).unwrap();
    let alone = Site::new(
        Settings::of(SiteId::new("north")),
        Arc::new(buffer),
        Handlers::default(),
        Arc::new(SystemClock),
    );
    let refused = Agent::start(alone).await.unwrap_err();
    let words = domain::chain(&refused);
    assert!(words.contains("the copy of a standby"), "{words}");
}

#[tokio::test]
async fn a_send_that_waits_says_whether_the_standby_has_it() {
    let mut world = world();
    world.machines.iter_mut().for_each(|machine| machine.waits = true);
    let (a, b) = a_pair(&world).await;
    let active = a.becomes(Role::Active).await;
    let mut ids = vec![];
    until_it_is_replicated(&active, &mut ids).await;
    for _ in 0..20 {
        until_it_is_replicated(&active, &mut ids).await;
    }
    let standby = b.end().await;
    let file = Buffer::open(&Options::at(&standby.file), Arc::new(SystemClock)).unwrap();
    for id in &ids {
        assert!(
            file.message(*id).await.unwrap().is_some(),
            "{id} is not on the standby's disk"
        );
    }
    file.close().await;
    drop(file);
    let alone = active.site.send(a_notification("alone")).await.unwrap();
    assert_eq!((alone.accepted, alone.replicated), (true, Some(false)));
    assert!(active.site.pair().unwrap().status().await.alone);
    let b = standby.run();
    until_it_is_replicated(&active, &mut ids).await;
    assert!(!active.site.pair().unwrap().status().await.alone);
    drop(active);
    a.end().await;
    b.end().await;
}

/// The standby may have to be found first, or be late for once.
async fn until_it_is_replicated(active: &Agent, ids: &mut Vec<MessageId>) {
    testkit::until("the standby to have one", async || {
        let sent = active.site.send(a_notification("is it there?")).await.unwrap();
        let replicated = sent.replicated == Some(true);
        ids.extend(replicated.then_some(sent.id));
        replicated
    })
    .await;
}
