//! What central is told besides notifications, and how long that is remembered.

use crate::{
    central::identity,
    script::Reply,
    world::{World, a_call, a_notification, secs, somebody, until},
};
use domain::site::{Category, OperationEvent, OperationStatus, Telemetry};
use site::forwarder::ACK_MEMORY;
use store::buffer::{MessageId, What};

fn news(world: &World) -> Vec<Telemetry> {
    world.central.inner.lock().unwrap().telemetry.clone()
}

/// The last things central heard about a message.
fn heard_of(world: &World, id: MessageId) -> Vec<(OperationEvent, OperationStatus, Option<String>)> {
    news(world)
        .into_iter()
        .filter(|n| n.operation.0 == id.0)
        .map(|n| (n.event, n.status, n.actor))
        .collect()
}

#[tokio::test]
async fn a_central_that_is_restored_from_a_copy_is_told_again_what_became_of_calls() {
    let world = World::new();
    let agent = world.start().await;
    for _ in 0..20 {
        assert!(world.call("erp").await.accepted);
    }
    until("twenty reports", || news(&world).len() == 20).await;
    world.central.goes_down();
    {
        // The copy is from before any of it.
        let mut inner = world.central.inner.lock().unwrap();
        inner.telemetry.clear();
        inner.telemetry_known.clear();
    }
    world.central.comes_back_as("two");
    until("twenty reports again", || news(&world).len() == 20).await;
    agent.stop().await;
}

#[tokio::test]
async fn more_news_than_one_commit_takes_back_is_told_again_as_a_whole() {
    let world = World::new();
    for _ in 0..2_100 {
        world.call("erp").await;
    }
    let buffer = &world.site.buffer;
    buffer.met_central(&identity("one")).await.unwrap();
    let all = |n| async move { buffer.telemetry(n).await.unwrap() };
    let seqs: Vec<_> = all(5_000).await.into_iter().map(|(seq, _)| seq).collect();
    assert!(
        buffer
            .telemetry_heard(&identity("one"), seqs.clone())
            .await
            .unwrap()
    );
    assert_eq!(buffer.telemetry_waiting().await.unwrap(), 0);
    buffer.met_central(&identity("two")).await.unwrap();
    let again: Vec<_> = all(5_000).await.into_iter().map(|(seq, _)| seq).collect();
    assert_eq!(again, seqs);
}

#[tokio::test]
async fn news_heard_long_ago_by_a_database_still_there_is_forgotten() {
    let world = World::new();
    world.call("erp").await;
    let buffer = &world.site.buffer;
    buffer.met_central(&identity("one")).await.unwrap();
    let heard = |seq| buffer.telemetry_heard(identity_one(), vec![seq]);
    let old = buffer.telemetry(10).await.unwrap()[0].0;
    assert!(heard(old).await.unwrap());
    world.clock.advance(ACK_MEMORY + secs(1));
    world.call("erp").await;
    let young = buffer.telemetry(10).await.unwrap()[0].0;
    assert!(heard(young).await.unwrap());
    buffer.forget_acked(buffer.now() - ACK_MEMORY).await.unwrap();
    buffer.met_central(&identity("two")).await.unwrap();
    let again: Vec<_> = buffer
        .telemetry(10)
        .await
        .unwrap()
        .into_iter()
        .map(|(seq, _)| seq)
        .collect();
    assert_eq!(again, [young]);
}

fn identity_one() -> &'static domain::site::DatabaseIdentity {
    static ONE: std::sync::LazyLock<domain::site::DatabaseIdentity> =
        std::sync::LazyLock::new(|| identity("one"));
    &ONE
}

#[tokio::test]
async fn what_a_database_heard_that_is_no_longer_there_counts_for_nothing() {
    let world = World::new();
    world.call("erp").await;
    let buffer = &world.site.buffer;
    buffer.met_central(&identity("one")).await.unwrap();
    let seq = buffer.telemetry(1).await.unwrap()[0].0;
    buffer.met_central(&identity("two")).await.unwrap();
    assert!(!buffer.telemetry_heard(&identity("one"), vec![seq]).await.unwrap());
    assert_eq!(buffer.telemetry_waiting().await.unwrap(), 1);
}

#[tokio::test]
async fn central_hears_which_notifications_were_parked_here_and_who_gave_them_up() {
    let world = World::new();
    let refused = world.notify("Tank 4 is full").await;
    world.central.inner.lock().unwrap().refuse.insert(refused);
    let agent = world.start().await;
    let parked = (OperationEvent::PermanentFailure, OperationStatus::Parked, None);
    until("news of it", || !heard_of(&world, refused.into()).is_empty()).await;
    assert_eq!(heard_of(&world, refused.into()).first(), Some(&parked));
    let told = news(&world).remove(0);
    assert_eq!(
        (told.category, told.target.as_str(), told.summary.as_deref()),
        (Category::Notification, "ops", Some("Tank 4 is full"))
    );
    assert!(told.error.unwrap().starts_with("REFUSED: "));

    world
        .site
        .buffer
        .discard(refused.into(), &somebody())
        .await
        .unwrap();
    let discarded = (
        OperationEvent::Discard,
        OperationStatus::Discarded,
        Some("user:anna".to_owned()),
    );
    until("news of that", || heard_of(&world, refused.into()).len() == 2).await;
    assert_eq!(heard_of(&world, refused.into()), [parked, discarded]);
    agent.stop().await;
}

#[tokio::test]
async fn a_parked_notification_that_is_sent_round_again_is_told_to_its_end_and_others_are_not() {
    let world = World::new();
    let id = world.notify("n").await;
    world.central.inner.lock().unwrap().refuse.insert(id);
    let agent = world.start().await;
    until("news of it", || !heard_of(&world, id.into()).is_empty()).await;
    world.central.inner.lock().unwrap().refuse.clear();
    world.site.buffer.requeue(id.into(), &somebody()).await.unwrap();
    let quiet = world.notify("quiet").await;
    until("all of it", || heard_of(&world, id.into()).len() == 3).await;
    let events: Vec<_> = heard_of(&world, id.into())
        .into_iter()
        .map(|(event, ..)| event)
        .collect();
    assert_eq!(
        events,
        [
            OperationEvent::PermanentFailure,
            OperationEvent::Retry,
            OperationEvent::Delivered
        ]
    );
    until("an empty buffer", || world.waiting() == 0).await;
    assert!(
        heard_of(&world, quiet.into()).is_empty(),
        "central has it, and knows"
    );
    agent.stop().await;
}

#[tokio::test]
async fn a_notification_that_parks_because_its_budget_is_used_up_is_told_as_well() {
    let world = World::new();
    world.central.goes_down();
    let mut limited = a_notification("limited");
    limited.options.max_retries = Some(1);
    let id = world.site.send(limited).await.unwrap().id;
    let agent = world.start().await;
    until("it to be parked", || world.parked() == 1).await;
    agent.stop().await;
    let world = world.crash().await;
    assert_eq!(world.events().await.last(), Some(&What::Parked));
    let waiting = world.site.buffer.telemetry(10).await.unwrap();
    let told: Vec<_> = waiting
        .into_iter()
        .filter(|(_, n)| n.operation.0 == id.0)
        .map(|(_, n)| (n.category, n.status))
        .collect();
    assert_eq!(told, [(Category::Notification, OperationStatus::Parked)]);
}

#[tokio::test]
async fn a_discarded_call_is_told_with_what_it_was() {
    let world = World::new();
    world.systems.always(Reply::Transient);
    let mut call = a_call("erp");
    call.options.max_retries = Some(1);
    let id = world.site.send(call).await.unwrap().id;
    world.advance(30);
    world.sweep().await;
    world.site.discard(id, &somebody()).await.unwrap();
    let (_, last) = world.site.buffer.telemetry(10).await.unwrap().pop().unwrap();
    assert_eq!(
        (last.event, last.summary.as_deref()),
        (OperationEvent::Discard, Some("POST /orders"))
    );
    assert_eq!(last.actor.as_deref(), Some("user:anna"));
}
