//! Letting the next provider of a type take over, and changing one's mind.

use super::{Scripts, World, axe, with_and_without_script};
use crate::far_end;
use client::{Channel, Notification, NotificationId, ProviderDraft};
use domain::{HoldReason, Status};
use serde_json::json;
use simulator::{HttpReceiver, http::HttpRule};

/// A second way out for webhooks, behind `hook`.
async fn spare(world: &World) -> HttpReceiver {
    let spare = far_end::receiver().await;
    let settings = json!({ "url": spare.url("/spare") });
    let draft = ProviderDraft {
        id: Some("spare".into()),
        kind: "webhook".into(),
        order: Some(2),
        settings: settings.as_object().cloned().unwrap(),
        ..ProviderDraft::default()
    };
    world.node.client.create_provider(&draft).await.unwrap();
    spare
}

async fn send(world: &World, subject: &str) -> NotificationId {
    let message = Notification::default().channel(Channel::Webhook);
    world.submit(message.subject(subject).body("…")).await
}

async fn what_waits_goes_on_to_the_next_provider_while_the_switch_says_so(scripts: Scripts) {
    let world = World::start().await;
    let browser = world.signed_in(scripts).await;
    browser.open("/providers").await;
    browser.shows_nothing_at("#orders").await;
    let spare = spare(&world).await;
    browser.open("/providers").await;
    let order = "[data-channel=Webhook]";
    browser.shows(order, "hook → spare: waits").await;

    world.hook.on(HttpRule::status(410));
    let first = send(&world, "Pump 3 is hot").await;
    super::until("the first provider to be held", async || {
        let provider = world.node.client.provider("hook").await.unwrap();
        provider
            .hold
            .is_some_and(|hold| hold.reason == HoldReason::Config)
    })
    .await;
    assert_eq!(spare.counts().taken, 0, "nobody has asked for it");

    browser.click("[data-channel=Webhook] button").await;
    browser.is_at("/providers").await;
    browser.shows("#flash", "goes on to the next one").await;
    browser.shows(order, "hook → spare: goes on to the next").await;
    if scripts == Scripts::On {
        let found = axe::violations(&browser, &axe::source()).await;
        assert!(found.is_empty(), "{}", found.join("\n"));
    }
    world.comes_to_be(first, Status::Delivered).await;
    assert_eq!(spare.deliveries_of(&first.to_string()), 1);
    browser.open(&format!("/notifications/{first}")).await;
    browser.shows("main", "hook").await;
    browser.shows("main", "spare").await;

    browser.open("/providers").await;
    browser.click("[data-channel=Webhook] button").await;
    browser.shows("#flash", "wait for their provider").await;
    browser.shows(order, "hook → spare: waits").await;
    let second = send(&world, "Pump 3 is hotter").await;
    browser
        .comes_to_show("[data-provider=hook] [data-label=Waiting]", "1")
        .await;
    assert_eq!(world.status_of(second).await, Status::Pending);
    assert_eq!(spare.counts().taken, 1, "it waits again");
}

with_and_without_script!(what_waits_goes_on_to_the_next_provider_while_the_switch_says_so);
