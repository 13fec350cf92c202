//! From an event to what a guest was told, and back: found, understood, replayed, sent once more.

use super::{Scripts, World, axe, until, with_and_without_script};
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

async fn all_that_failed_is_replayed_after_a_question(scripts: Scripts) {
    let world = World::start().await;
    for n in 0..3 {
        emit(&world, "booking.moved", &format!("room-{n}")).await;
    }
    let deferred = EventFilter {
        status: Some("Deferred".into()),
        ..EventFilter::default()
    };
    until("all to be deferred", async || {
        world.node.client.events(&deferred, 10).await.unwrap().len() == 3
    })
    .await;
    let kind = json!({ "dedupe": "event" });
    let client = &world.node.client;
    client.put_event_type("booking.moved", &kind).await.unwrap();
    let browser = world.signed_in(scripts).await;
    let axe = axe::source();
    let is_accessible = async || {
        // Without script axe cannot look either.
        if scripts == Scripts::On {
            assert_eq!(axe::violations(&browser, &axe).await, Vec::<String>::new());
        }
    };
    // Without a template their schedules fail, and are replayed in turn.
    for (list, question, found) in [
        ("/events?status=Deferred", "Yes, replay 3", "#events"),
        ("/schedules?status=Failed", "Yes, replay 3", "#schedules"),
    ] {
        until("the list to have all", async || {
            browser.open(list).await;
            browser.count(&format!("{found} tbody tr")).await == 3
        })
        .await;
        is_accessible().await;
        browser.click("#replay-all").await;
        browser.shows("#confirm-yes", question).await;
        is_accessible().await;
        browser.click("#confirm-no").await;
        browser.is_at(list).await;
        if found == "#schedules" {
            template(&world, "booking.moved").await;
        }
        browser.click("#replay-all").await;
        browser.click("#confirm-yes").await;
        browser.shows("#job .states", "Done").await;
        browser.shows("#job-done", "3").await;
        is_accessible().await;
    }
    for n in 0..3 {
        is_told(&world, &format!("room-{n}"), 1).await;
    }
}

with_and_without_script!(
    from_an_event_to_its_message_to_everything_the_guest_was_told_and_once_more,
    an_event_of_an_unknown_type_is_found_explained_and_replayed,
    a_parked_message_of_a_schedule_goes_round_again,
    all_that_failed_is_replayed_after_a_question,
);
