//! Who asked not to be written to is not, and the message says so.

use crate::world::{TENANT, World, secs, somebody};
use central::Settings;
use domain::{
    Channel, Failure, Outcome, RecipientState, Scope, Status,
    suppression::{NewSuppression, SUPPRESSED, SuppressionSource},
};
use testkit::a_notification;

fn entry(address: &str, channel: Option<Channel>) -> NewSuppression {
    NewSuppression {
        address: address.into(),
        channel,
        topic: None,
        reason: "asked by phone".into(),
        source: SuppressionSource::Operator,
    }
}

async fn suppress(world: &World, address: &str, channel: Option<Channel>) -> i64 {
    let added = world
        .central
        .suppressions
        .add(TENANT, &entry(address, channel), &somebody())
        .await;
    added.unwrap().0.id
}

#[tokio::test]
async fn a_message_to_somebody_suppressed_is_discarded_with_that_reason_and_never_sent() {
    let mut world = World::new().await;
    suppress(&world, "ANN@example.com", None).await;
    let id = world.send(a_notification().to(&["ann@example.com"])).await;
    assert_eq!(world.sweep().await.discarded, 1);
    let row = world.get(id).await;
    assert_eq!(
        (row.status, row.last_code.as_deref()),
        (Status::Discarded, Some(SUPPRESSED))
    );
    assert_eq!(row.last_error.as_deref(), Some("asked by phone"));
    assert!(world.mail.received().is_empty());
}

#[tokio::test]
async fn the_others_of_a_list_still_get_it_and_the_one_left_out_is_shown() {
    let mut world = World::new().await;
    world.list("crew", &["a@x", "b@x", "c@x"]).await;
    suppress(&world, "b@x", Some(Channel::Email)).await;
    let id = world.send(a_notification().to_list("crew")).await;
    assert_eq!(world.sweep().await.delivered, 1);
    assert_eq!(world.mail.received()[0].targets, ["a@x", "c@x"]);
    let row = world.get(id).await;
    assert_eq!(row.status, Status::Delivered);
    let states: Vec<_> = row
        .recipients
        .iter()
        .map(|r| (r.address.as_str(), r.state))
        .collect();
    use RecipientState::{Accepted, Suppressed};
    assert_eq!(
        states,
        [("a@x", Accepted), ("b@x", Suppressed), ("c@x", Accepted)]
    );
}

#[tokio::test]
async fn an_entry_made_while_a_message_waits_counts_at_its_next_attempt_and_one_taken_off_no_longer() {
    let mut world = World::new().await;
    world.mail.answers(Outcome::Failed(Failure::transient(
        Scope::Message,
        "HTTP_503",
        "later",
    )));
    let first = world.send(a_notification().to(&["ann@example.com"])).await;
    let second = world.send(a_notification().to(&["bob@example.com"])).await;
    assert_eq!(world.sweep().await.retried, 2);
    world.mail.accepts();
    suppress(&world, "ann@example.com", None).await;
    let bob = suppress(&world, "bob@example.com", None).await;
    assert!(
        world
            .central
            .suppressions
            .remove(TENANT, bob, &somebody())
            .await
            .unwrap()
    );
    world.advance(secs(3600));
    let swept = world.sweep().await;
    assert_eq!((swept.discarded, swept.delivered), (1, 1));
    assert_eq!(world.get(first).await.status, Status::Discarded);
    assert_eq!(world.get(second).await.status, Status::Delivered);
}

#[tokio::test]
async fn an_entry_for_another_channel_or_tenant_keeps_nobody_back() {
    let mut world = World::new().await;
    suppress(&world, "ann@example.com", Some(Channel::Sms)).await;
    let store = &world.central.store;
    let other = store.create_tenant("other", &somebody()).await.unwrap().id;
    store
        .suppress(other, &entry("ann@example.com", None), &somebody())
        .await
        .unwrap();
    let id = world.send(a_notification().to(&["ann@example.com"])).await;
    assert_eq!(world.sweep().await.delivered, 1);
    assert_eq!(world.get(id).await.status, Status::Delivered);
}

#[tokio::test]
async fn a_mail_to_one_address_has_a_way_out_and_one_to_several_or_a_list_has_none() {
    let settings = Settings {
        public_url: Some("https://waypost.example.com".into()),
        ..Settings::named("node-1")
    };
    let mut world = World::with(settings).await;
    world.send(a_notification().to(&["ann@example.com"])).await;
    world
        .send(a_notification().to(&["ann@example.com", "bob@example.com"]))
        .await;
    world.send(a_notification().to_list("ops")).await;
    assert_eq!(world.sweep().await.delivered, 3);
    let sent = world.mail.received();
    let links: Vec<_> = sent
        .iter()
        .filter_map(|message| message.unsubscribe.clone())
        .collect();
    assert_eq!(links.len(), 1);
    let token = links[0]
        .strip_prefix("https://waypost.example.com/unsubscribe/")
        .unwrap();
    assert_eq!(
        world.central.unsubscribing.read(token).unwrap().address,
        "ann@example.com"
    );
}
