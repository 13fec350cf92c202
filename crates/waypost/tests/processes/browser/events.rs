//! From an event to what a guest was told, and back: found, understood, replayed, sent once more.

use super::{Scripts, World, until, with_and_without_script};
use client::{
    Channel, TemplateDraft,
    events::{EventFilter, EventId, NewEvent},
};
use serde_json::json;

/// Confirmations go to the webhook.
async fn confirmations(world: &World) {
    let client = &world.node.client;
    let kind = json!({ "dedupe": "entity" });
    client.put_event_type("booking.confirmed", &kind).await.unwrap();
    template(world, "booking.confirmed").await;
}

async fn template(world: &World, event_type: &str) {
    let draft = json!({ "eventType": event_type, "channel": "Webhook", "subject": "Booking {{bookingId}}", "body": "Dear {{guestName}}" });
    let draft: TemplateDraft = serde_json::from_value(draft).unwrap();
    world.node.client.create_template(&draft).await.unwrap();
}

async fn emit(world: &World, event_type: &str, entity: &str) -> EventId {
    let payload = json!({ "bookingId": entity, "guestName": "Asha Rao" });
    let event = NewEvent {
        correlation_id: Some("checkout-9".into()),
        ..NewEvent::new(event_type, entity, payload.as_object().cloned().unwrap())
    };
    world.node.client.emit(&event).await.unwrap().event_id
}

async fn is_told(world: &World, entity: &str, times: usize) {
    until("the guest to be told", async || {
        let all = world.node.client.communications("booking", entity).await.unwrap();
        all.len() == times && all.iter().all(|one| one["status"] == "Delivered")
    })
    .await;
}

async fn from_an_event_to_its_message_to_everything_the_guest_was_told_and_once_more(scripts: Scripts) {
    let world = World::start().await;
    confirmations(&world).await;
    let event = emit(&world, "booking.confirmed", "12345").await;
    emit(&world, "booking.confirmed", "777").await;
    is_told(&world, "12345", 1).await;
    let browser = world.signed_in(scripts).await;
    browser.open("/events").await;
    browser.fill("#entityId", "12345").await;
    browser.click("#filters button").await;
    browser
        .shows(&format!("[data-event='{event}']"), "Published")
        .await;
    assert_eq!(browser.count("#events tbody tr").await, 1);
    browser.click(&format!("[data-event='{event}'] th a")).await;
    browser.shows("#payload", "Asha Rao").await;
    browser.shows("#schedule", "Completed").await;
    browser.click("#messages th a").await;
    browser.shows("#facts", "checkout-9").await;
    browser.click("#event").await;
    browser.is_at(&format!("/events/{event}")).await;
    browser.click("#about").await;
    browser.shows("#communications", "default, version 1").await;
    browser.click("#resend").await;
    browser.shows("#flash", "1 message is sent once more").await;
    is_told(&world, "12345", 2).await;
    assert_eq!(browser.count("#communications tbody tr").await, 2);
    browser.shows("#communications", "user:ann").await;
}

async fn an_event_of_an_unknown_type_is_found_explained_and_replayed(scripts: Scripts) {
    let world = World::start().await;
    let event = emit(&world, "booking.moved", "12345").await;
    let deferred = EventFilter {
        status: Some("Deferred".into()),
        ..EventFilter::default()
    };
    until("it to be deferred", async || {
        !world.node.client.events(&deferred, 1).await.unwrap().is_empty()
    })
    .await;
    let browser = world.signed_in(scripts).await;
    browser.open("/events?status=Deferred").await;
    browser.click(&format!("[data-event='{event}'] th a")).await;
    browser
        .shows("#advice", "waypost event types put booking.moved")
        .await;
    let kind = json!({ "dedupe": "event" });
    world
        .node
        .client
        .put_event_type("booking.moved", &kind)
        .await
        .unwrap();
    template(&world, "booking.moved").await;
    browser.click("#replay").await;
    browser.shows("#flash", "It is worked on again").await;
    is_told(&world, "12345", 1).await;
    browser.open(&format!("/events/{event}")).await;
    browser.shows("#schedule", "Completed").await;
}

async fn a_parked_message_of_a_schedule_goes_round_again(scripts: Scripts) {
    let world = World::start().await;
    confirmations(&world).await;
    world.hook.on(simulator::http::HttpRule::status(400)
        .body("no such room")
        .times(1));
    let event = emit(&world, "booking.confirmed", "12345").await;
    let failed = EventFilter {
        status: Some("Failed".into()),
        ..EventFilter::default()
    };
    until("it to be parked", async || {
        !world.node.client.schedules(&failed, 1).await.unwrap().is_empty()
    })
    .await;
    let browser = world.signed_in(scripts).await;
    browser.open("/schedules?status=Failed").await;
    browser
        .shows(&format!("[data-schedule='{event}']"), "Parked")
        .await;
    browser
        .shows(&format!("[data-schedule='{event}']"), "no such room")
        .await;
    browser.click(&format!("[data-schedule='{event}'] th a")).await;
    browser.click("#replay-messages").await;
    browser.shows("#flash", "1 message sent round again").await;
    is_told(&world, "12345", 1).await;
    let all = world
        .node
        .client
        .communications("booking", "12345")
        .await
        .unwrap();
    assert_eq!(all[0]["channel"], Channel::Webhook.as_str());
}

with_and_without_script!(
    from_an_event_to_its_message_to_everything_the_guest_was_told_and_once_more,
    an_event_of_an_unknown_type_is_found_explained_and_replayed,
    a_parked_message_of_a_schedule_goes_round_again,
);
