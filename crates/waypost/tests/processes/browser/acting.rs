//! Finding what somebody was told of, trying it now, and what was done to many at once.

use super::{Scripts, World, until, with_and_without_script};
use client::Notification;
use domain::Status;
use serde_json::json;
use simulator::http::HttpRule;

async fn a_notification_is_found_by_what_people_have_of_it(scripts: Scripts) {
    let world = World::start().await;
    let wanted = World::undeliverable("Pump 7 is empty");
    let id = world.submit(wanted).await;
    world.submit(World::undeliverable("something else")).await;
    world.comes_to_be(id, Status::Parked).await;
    let browser = world.signed_in(scripts).await;
    for typed in [
        id.to_string(),
        format!("<{id}@mail.example>"),
        "empty pump".into(),
    ] {
        browser.open("/notifications").await;
        browser.fill("#q", &typed).await;
        browser.click("#filters button[type=submit]").await;
        browser.shows("#notifications", "Pump 7 is empty").await;
        assert_eq!(browser.count("#notifications tbody tr").await, 1, "{typed}");
        browser.shows("#total", "1 in all").await;
    }
    // A view that is needed again is kept, and a chip takes each filter off.
    browser.open("/notifications?status=Parked&q=pump").await;
    browser.click("#save-ask").await;
    browser.fill("#view-name", "dry pumps").await;
    browser.click("#save-view").await;
    browser.shows("#flash", "dry pumps").await;
    browser.open("/notifications").await;
    browser.click("#saved a").await;
    browser.is_at("/notifications?status=Parked&q=pump").await;
    browser.click(".chips li:last-child a").await;
    browser.is_at("/notifications?status=Parked").await;
    browser.shows("#notifications", "something else").await;
}

async fn a_waiting_notification_is_tried_now(scripts: Scripts) {
    let world = World::start().await;
    let slow = json!({ "shape": "fixed", "interval": "1h", "cap": "1h", "jitter": 0.0, "maxAttempts": 50 });
    let draft = client::ProviderDraft {
        kind: "webhook".into(),
        settings: json!({ "url": world.hook.url("/hook") })
            .as_object()
            .cloned()
            .unwrap(),
        retry: Some(slow),
        ..client::ProviderDraft::default()
    };
    world.node.client.replace_provider("hook", &draft).await.unwrap();
    world.hook.on(HttpRule::status(500).body("not yet").times(1));
    let id = world
        .submit(Notification::by_provider("hook").subject("Tank 4").body("full"))
        .await;
    world.comes_to_be(id, Status::Retrying).await;
    let browser = world.signed_in(scripts).await;
    browser.open(&format!("/notifications/{id}")).await;
    browser.click("#try-now").await;
    browser.shows("#flash", "tried now").await;
    world.comes_to_be(id, Status::Delivered).await;
    browser.comes_to_show("#timeline", "Tried at once").await;
    // And once more, as a new one.
    browser.click("#resend-ask").await;
    browser.click("#resend").await;
    browser.shows("#flash", "once more").await;
}

async fn waiting_ones_are_called_off_with_a_reason_and_the_job_is_on_record(scripts: Scripts) {
    let world = World::start().await;
    world
        .node
        .client
        .hold_provider("hook", Some("wait"))
        .await
        .unwrap();
    let id = world
        .submit(Notification::by_provider("hook").subject("Tank 4").body("full"))
        .await;
    let browser = world.signed_in(scripts).await;
    browser
        .open("/notifications?status=Pending&status=Retrying")
        .await;
    browser.shows("#notifications", "Tank 4").await;
    browser.click("#all-match summary").await;
    browser.click("#cancel-all").await;
    browser.fill("#reason", "emptied by hand").await;
    browser.click("#confirm-yes").await;
    browser.shows("#job .states", "Done").await;
    assert_eq!(world.status_of(id).await, Status::Discarded);
    browser.click(".crumbs a").await;
    browser.is_at("/jobs").await;
    browser.shows("#jobs", "user:ann").await;
    browser.shows("#jobs", "emptied by hand").await;
    browser.open(&format!("/notifications/{id}")).await;
    browser.shows("#timeline", "emptied by hand").await;
}

with_and_without_script!(
    a_notification_is_found_by_what_people_have_of_it,
    a_waiting_notification_is_tried_now,
    waiting_ones_are_called_off_with_a_reason_and_the_job_is_on_record,
);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_whose_central_is_gone_says_so_across_the_top() {
    let world = World::start().await;
    world.submit(World::undeliverable("anything")).await;
    let browser = world.signed_in(Scripts::On).await;
    until("the title to tell what is parked", async || {
        browser.reload().await;
        let title = browser.run("return document.title").await;
        title
            .as_str()
            .is_some_and(|title| title.starts_with("(1 parked) "))
    })
    .await;
    browser.shows("#live-state", "Live").await;
    world.node.signal("KILL");
    browser.shows("#unreachable", "cannot be reached").await;
    assert_eq!(
        browser
            .run("return document.body.classList.contains('stale')")
            .await,
        true
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_central_that_only_says_nothing_is_told_of_too_until_it_speaks_again() {
    let world = World::start().await;
    let browser = world.signed_in(Scripts::On).await;
    browser.shows("#live-state", "Live").await;
    world.node.signal("STOP");
    // The page's clock, a minute on: its connection stands, and nothing has come for long.
    browser
        .run("const real = Date.now; Date.now = () => real() + 60000;")
        .await;
    browser.shows("#unreachable", "What is shown is old").await;
    let faded = "return getComputedStyle(document.querySelector('#tiles')).opacity < 1";
    assert_eq!(browser.run(faded).await, true, "the figures fade");
    browser.shows("#live-state", "Not live").await;
    world.node.signal("CONT");
    until("the page to believe it again", async || {
        browser
            .run("return document.getElementById('unreachable').hidden && !document.body.classList.contains('stale')")
            .await
            == true
    })
    .await;
    let state = browser
        .run("return document.getElementById('live-state').textContent")
        .await;
    assert_eq!(state, "Live");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_to_be_taken_elsewhere_is_copied_by_a_button() {
    let world = World::start().await;
    let id = world.submit(World::undeliverable("anything")).await;
    world.comes_to_be(id, Status::Parked).await;
    let browser = world.signed_in(Scripts::On).await;
    browser.open(&format!("/notifications/{id}")).await;
    browser
        .run("navigator.clipboard.writeText = async (text) => { window.copied = text; };")
        .await;
    browser.click("button[data-copy='#notification-id']").await;
    browser
        .shows("button[data-copy='#notification-id']", "Copied")
        .await;
    assert_eq!(browser.run("return window.copied").await, id.to_string());
    // Every button copies something that is there.
    for (path, field, name) in [
        ("/keys", "#new-key #name", "night shift"),
        ("/sites", "#new-site #id", "plant-east"),
    ] {
        browser.open(path).await;
        browser.fill(field, name).await;
        let form = field.split(' ').next().unwrap();
        browser.click(&format!("{form} button")).await;
        browser.shows("button[data-copy]", "Copy").await;
        let empty = "return [...document.querySelectorAll('button[data-copy]')]\
            .filter((one) => !document.querySelector(one.dataset.copy)?.textContent.trim()).length";
        assert_eq!(browser.run(empty).await, 0, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_of_a_chart_tells_its_figure_and_leads_to_its_list() {
    let world = World::start().await;
    let id = world.submit(World::undeliverable("anything")).await;
    world.comes_to_be(id, Status::Parked).await;
    let browser = world.signed_in(Scripts::On).await;
    browser.open("/").await;
    let over = "const step = document.querySelector('.chart a');\
        step.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, pointerType: 'mouse' }));\
        return step.closest('figure').querySelector('.chart-value').textContent === step.dataset.value;";
    assert_eq!(browser.run(over).await, true, "also where there was nothing");
    let place = browser
        .attribute(".chart-bad a:last-of-type", "href")
        .await
        .unwrap();
    browser.open(&place).await;
    browser.shows(".chips", "From: ").await;
}
