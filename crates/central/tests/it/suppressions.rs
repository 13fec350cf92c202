//! Who asked not to be written to is not, and the message says so.

use crate::world::{TENANT, World, secs, somebody};
use central::Settings;
use domain::{
    Channel, Failure, NotificationId, Outcome, RecipientState, Scope, Status,
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

fn stopped() -> Failure {
    Failure::permanent(Scope::Recipient, "RECIPIENT", "they said STOP").with_own_code("STOP")
}

async fn entries(world: &World) -> Vec<NewSuppression> {
    let (all, page) = (
        Default::default(),
        store::query::Page {
            limit: 100,
            after: None,
        },
    );
    let found = world.central.store.suppressions(TENANT, &all, page).await;
    found.unwrap().rows.into_iter().map(|row| row.entry).collect()
}

#[tokio::test]
async fn who_has_opted_out_at_the_provider_is_put_on_the_list_and_not_asked_again() {
    let mut world = World::new().await;
    world.mail.answers(stopped().into());
    let id = world.send(a_notification().to(&["ann@example.com"])).await;
    assert_eq!(world.sweep().await.parked, 1);
    assert_eq!(world.get(id).await.last_code.as_deref(), Some("RECIPIENT"));
    let found = entries(&world).await;
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].address.as_str(), found[0].channel),
        ("ann@example.com", Some(Channel::Email))
    );
    assert_eq!(
        (found[0].topic.as_deref(), found[0].source),
        (None, SuppressionSource::Receipt)
    );
    assert!(found[0].reason.contains("STOP"), "{}", found[0].reason);
    world.send(a_notification().to(&["ann@example.com"])).await;
    assert_eq!(world.sweep().await.discarded, 1);
    assert_eq!(world.mail.received().len(), 1);
}

#[tokio::test]
async fn another_reason_not_to_take_a_message_puts_nobody_on_the_list() {
    let mut world = World::new().await;
    let unknown = Failure::permanent(Scope::Recipient, "RECIPIENT", "no such user").with_own_code("550");
    world.mail.answers(unknown.into());
    world.send(a_notification().to(&["ann@example.com"])).await;
    assert_eq!(world.sweep().await.parked, 1);
    assert_eq!(entries(&world).await, []);
}

#[tokio::test]
async fn of_several_only_those_who_opted_out_are_put_on_the_list_and_of_such_messages_only() {
    let mut world = World::new().await;
    let no_more = stopped().with_own_code("NO-MORE-OF-IT");
    world.mail.script(move |message, _| {
        let reports = message.targets.iter().map(|address| domain::RecipientReport {
            address: address.clone(),
            result: match address.as_str() {
                "b@x" => Err(no_more.clone()),
                _ => Ok(domain::Accepted::default()),
            },
        });
        testkit::Reply::Now(Outcome::Mixed(reports.collect()))
    });
    let mut advert = a_notification().to(&["a@x", "b@x"]);
    let origin = serde_json::json!({
        "eventType": "offer.made", "eventId": NotificationId::mint(), "topic": "offers", "template": "1",
        "templateVersion": 1, "critical": false,
    });
    advert.0.content.event = Some(serde_json::from_value(origin).unwrap());
    world.send(advert).await;
    world.sweep().await;
    let found = entries(&world).await;
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].address.as_str(), found[0].topic.as_deref()),
        ("b@x", Some("offers"))
    );
}
