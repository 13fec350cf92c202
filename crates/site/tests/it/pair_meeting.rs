//! What is handed in when two machines meet that were both active, what counts as copied, and a handover that does not come about.

use crate::{
    pair_central::is_made,
    pair_world::{Live, a_pair, notify, world},
    world::{a_call, a_notification, until},
};
use domain::{TrackedOperationId, pair::Role, site::OperationStatus};
use link::peer::PeerHost;
use site::pair::Host;
use store::buffer::MessageId;
use uuid::Uuid;

fn host_of(live: &Live) -> Host {
    Host(live.agent().unwrap().site.pair().unwrap().clone())
}

async fn call(live: &Live, id: MessageId) -> site::Sent {
    let active = live.becomes(Role::Active).await;
    let mut call = a_call("erp");
    call.options.message_id = Some(id);
    active.site.send(call).await.unwrap()
}

#[tokio::test]
async fn a_call_that_a_machine_made_while_it_was_cut_off_is_known_when_the_two_have_met() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    notify(&a, 1).await;
    b.holds(1).await;
    let b_alone = b.end().await;
    let id = MessageId(Uuid::new_v4());
    assert_eq!(call(&a, id).await.status, Some(OperationStatus::Delivered));
    let a_alone = a.end().await;
    let b = b_alone.run();
    let agent = b.becomes(Role::Standby).await;
    agent.site.pair().unwrap().promote(true).await.unwrap();
    drop(agent);
    b.becomes(Role::Active).await;
    let a = a_alone.run();
    is_made(&b, id).await;
    is_made(&a, id).await;
    let buffer = b.agent().unwrap().site.buffer.clone();
    testkit::until("its news to be the other's to tell", async || {
        let news = buffer.telemetry(1_000).await.unwrap();
        news.iter()
            .any(|(_, news)| news.operation == TrackedOperationId(id.0))
    })
    .await;
    drop(buffer);
    let again = call(&b, id).await;
    assert!(again.duplicate, "{again:?}");
    assert_eq!(world.systems.attempts_of(id), 1);
    until("the file it had is kept beside the copy", || {
        let mut files = std::fs::read_dir(world.folder.path()).unwrap();
        files.any(|file| {
            let name = file.unwrap().file_name().into_string().unwrap();
            name.starts_with("north-a.db.replaced-")
        })
    })
    .await;
    a.becomes(Role::Standby).await;
    a.end().await;
    b.end().await;
}

#[tokio::test]
async fn what_is_in_a_copy_that_is_not_in_place_yet_is_not_answered_as_replicated() {
    let mut world = world();
    world.machines[0].waits = true;
    let (a, b) = a_pair(&world).await;
    let active = a.becomes(Role::Active).await;
    testkit::until("the standby to follow", async || {
        let sent = active.site.send(a_notification("is it there?")).await.unwrap();
        sent.replicated == Some(true)
    })
    .await;
    b.end().await;
    let (host, before) = (host_of(&a), active.site.buffer.head().await.unwrap());
    let site = active.site.clone();
    let sent = tokio::spawn(async move { site.send(a_notification("tank 4")).await.unwrap() });
    testkit::until("it to be taken in", async || {
        active.site.buffer.head().await.unwrap() > before
    })
    .await;
    let head = active.site.buffer.head().await.unwrap();
    host.changes_beside(head).await.unwrap().unwrap();
    assert_eq!(sent.await.unwrap().replicated, Some(false));
    drop((active, host));
    a.end().await;
}

#[tokio::test]
async fn a_machine_whose_standby_does_not_get_the_rest_does_not_step_down() {
    let world = world();
    let (a, b) = a_pair(&world).await;
    notify(&a, 1).await;
    b.holds(1).await;
    let away = b.end().await;
    notify(&a, 1).await;
    let (host, agent) = (host_of(&a), a.agent().unwrap());
    let refused = host.step_down().await.unwrap_err();
    assert!(refused.contains("did not get everything"), "{refused}");
    drop(host);
    until("it starts anew", || {
        let now = a.agent();
        now.is_some_and(|now| !std::sync::Arc::ptr_eq(&now, &agent))
    })
    .await;
    drop(agent);
    assert!(a.is(Role::Active));
    notify(&a, 1).await;
    // With a standby that follows it does.
    let b = away.run();
    b.holds(3).await;
    let standby = b.becomes(Role::Standby).await;
    let promoted = standby.site.pair().unwrap().promote(false).await;
    assert_eq!(promoted.unwrap().role, Role::Active);
    drop(standby);
    b.becomes(Role::Active).await;
    a.becomes(Role::Standby).await;
    a.end().await;
    b.end().await;
}
