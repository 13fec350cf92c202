//! Where things go, and what is said when there is nowhere to go.

use crate::world::{TENANT, World, somebody};
use central::ingest::Submitted;
use domain::{Channel, Status};
use testkit::a_notification;

async fn parked_with(world: &mut World, notification: testkit::fixtures::ANotification) -> (String, String) {
    let id = world.send(notification).await;
    assert_eq!(world.sweep().await.parked, 1);
    let parked = world.get(id).await;
    assert_eq!(parked.status, Status::Parked);
    (parked.last_code.unwrap(), parked.last_error.unwrap())
}

#[tokio::test]
async fn a_type_without_an_adapter_is_parked_with_that_reason() {
    let mut world = World::new().await;
    let (code, error) = parked_with(&mut world, a_notification().by(Channel::Teams)).await;
    assert_eq!(
        (code.as_str(), error.as_str()),
        ("NO_ADAPTER", "no delivery adapter for type Teams")
    );
}

#[tokio::test]
async fn no_provider_no_list_and_an_empty_list_are_permanent_and_say_so() {
    let mut world = World::new().await;
    let (code, error) = parked_with(&mut world, a_notification().to_list("nobody")).await;
    assert_eq!(
        (code.as_str(), error.as_str()),
        ("NO_LIST", "there is no list named \"nobody\"")
    );
    world.list("empty", &[]).await;
    let (code, error) = parked_with(&mut world, a_notification().to_list("empty")).await;
    assert_eq!(
        (code.as_str(), error.as_str()),
        ("EMPTY_LIST", "list \"empty\" has no recipient for Email")
    );
    world
        .central
        .providers
        .delete(TENANT, &domain::ProviderId::new("mail"), &somebody())
        .await
        .unwrap();
    let (code, error) = parked_with(&mut world, a_notification()).await;
    assert_eq!(
        (code.as_str(), error.as_str()),
        ("NO_PROVIDER", "no provider for type Email is set up")
    );
}

#[tokio::test]
async fn parked_for_want_of_a_provider_goes_out_after_one_is_added_and_it_is_requeued() {
    let mut world = World::new().await;
    world
        .central
        .providers
        .delete(TENANT, &domain::ProviderId::new("mail"), &somebody())
        .await
        .unwrap();
    let id = world.send(a_notification()).await;
    world.sweep().await;
    world.provider("mail-2", "test-mail", |_| {}).await;
    world.requeue(id).await;
    assert_eq!(world.sweep().await.delivered, 1);
    assert_eq!(world.get(id).await.provider.as_deref(), Some("mail-2"));
}

#[tokio::test]
async fn the_first_enabled_provider_by_order_takes_it_unless_one_is_named() {
    let mut world = World::new().await;
    world
        .provider("second", "test-mail", |draft| draft.order = Some(5))
        .await;
    world
        .provider("first", "test-mail", |draft| draft.order = Some(-5))
        .await;
    let any = world.send(a_notification()).await;
    let named = world.send(a_notification().through("second")).await;
    world
        .provider("first", "test-mail", |draft| {
            draft.order = Some(-5);
            draft.enabled = Some(false);
        })
        .await;
    let after = world.send(a_notification()).await;
    world.sweep().await;
    assert_eq!(world.get(named).await.provider.as_deref(), Some("second"));
    assert_eq!(world.get(after).await.provider.as_deref(), Some("mail"));
    let waiting = world.get(any).await;
    assert_eq!(
        (waiting.status, waiting.provider.as_deref()),
        (Status::Pending, Some("first"))
    );
    assert_eq!(waiting.held.unwrap().reason, domain::HoldReason::Disabled);
}

#[tokio::test]
async fn a_provider_that_does_not_exist_or_serves_another_type_is_refused_by_name() {
    let world = World::new().await;
    for (notification, field) in [
        (a_notification().through("nope"), "providerId"),
        (a_notification().through("hook"), "type"),
    ] {
        let incoming = notification.0;
        let answers = world.central.ingest.submit(vec![incoming]).await.unwrap();
        let Submitted::Refused(problems) = &answers[0] else {
            panic!("{answers:?}")
        };
        assert_eq!(problems[0].field, field);
    }
}

#[tokio::test]
async fn the_type_may_be_left_out_when_a_provider_is_named() {
    let mut world = World::new().await;
    let mut notification = a_notification().through("hook").0;
    notification.content.target = domain::Target::Provider;
    let id = notification.id;
    notification.content.channel = None;
    world.central.ingest.submit(vec![notification]).await.unwrap();
    world.sweep().await;
    assert_eq!(
        world.get(id).await.submission.content.channel,
        Some(Channel::Webhook)
    );
    assert_eq!(world.hook.received().len(), 1);
}
