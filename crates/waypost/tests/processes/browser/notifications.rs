//! Finding a notification, reading its story, sending it round again; and a list that is live without jumping.

use super::{
    Scripts, World,
    camera::{Colours, Screen, prefer},
    with_and_without_script,
};
use client::Notification;
use domain::{AuditKind, Status, TenantId};
use simulator::http::HttpRule;
use store::Queries;

fn by_hook(subject: &str) -> Notification {
    Notification::by_provider("hook")
        .subject(subject)
        .body("Level 98 %")
        .site("plant-north")
}

async fn a_parked_notification_is_found_opened_and_sent_again(scripts: Scripts) {
    let world = World::start().await;
    world.hook.on(HttpRule::status(400).body("unknown recipe"));
    let refused = world.submit(by_hook("Recipe changed")).await;
    world.comes_to_be(refused, Status::Parked).await;
    world.hook.behave();
    let fine = world.submit(by_hook("Tank 4 is full")).await;
    world.comes_to_be(fine, Status::Delivered).await;

    let browser = world.signed_in(scripts).await;
    browser.click("nav.side a[href='/notifications']").await;
    browser.shows("#notifications", "Tank 4 is full").await;
    browser.click("label.pill:has(input[value=Parked])").await;
    browser.fill("#q", "recipe").await;
    browser.click("#filters button[type=submit]").await;
    browser.shows("#notifications", "Recipe changed").await;
    assert_eq!(browser.count("#notifications tbody tr").await, 1);
    let place = browser.place().await;
    assert!(
        place.contains("status=Parked") && place.contains("q=recipe"),
        "{place}"
    );

    browser
        .click(&format!("#notifications a[href^='/notifications/{refused}']"))
        .await;
    browser.shows("h1", "Recipe changed").await;
    browser.shows("#state", "Parked").await;
    browser.shows("#last-error", "unknown recipe").await;
    browser.shows("#timeline", "Attempt 1 through hook: failed").await;
    browser.shows("#content", "Level 98 %").await;
    browser.shows("#facts", "plant-north").await;

    browser.click("#retry").await;
    browser.shows("#flash", "again").await;
    world.comes_to_be(refused, Status::Delivered).await;
    browser.comes_to_show("#state", "Delivered").await;
    browser.comes_to_show("#timeline", "by user:ann").await;
    browser.shows("#why-not", "").await;
    assert_eq!(browser.count("#retry").await, 0);
    browser.click("#back").await;
    browser.is_at("/notifications?status=Parked&q=recipe").await;
    assert_eq!(world.hook.deliveries_of(&refused.to_string()), 1);
    let log = world
        .store
        .attempts(TenantId::DEFAULT, refused)
        .await
        .unwrap()
        .unwrap();
    assert!(
        log.iter()
            .any(|row| row.kind == AuditKind::NotifyRequeue && row.actor == "user:ann"),
        "{log:?}"
    );
}

async fn selected_ones_are_discarded_and_the_others_stay(scripts: Scripts) {
    let world = World::start().await;
    let mut ids = vec![];
    for subject in ["first", "second", "third"] {
        ids.push(world.submit(World::undeliverable(subject)).await);
    }
    for id in &ids {
        world.comes_to_be(*id, Status::Parked).await;
    }
    let browser = world.signed_in(scripts).await;
    browser.open("/notifications?status=Parked").await;
    for id in &ids[..2] {
        browser.click(&format!("#n-{id} input[type=checkbox]")).await;
    }
    if scripts == Scripts::On {
        browser.shows("#selected-count", "2 selected").await;
    }
    browser.click("#discard-selected").await;
    browser.shows("#main", "first").await;
    browser.click("#confirm-yes").await;
    browser.shows("#flash", "2").await;
    assert_eq!(world.status_of(ids[0]).await, Status::Discarded);
    assert_eq!(world.status_of(ids[1]).await, Status::Discarded);
    assert_eq!(world.status_of(ids[2]).await, Status::Parked);
    browser.open("/notifications?status=Discarded").await;
    browser.shows("#notifications", "second").await;
    assert_eq!(browser.count("#notifications tbody tr").await, 2);
}

with_and_without_script!(
    a_parked_notification_is_found_opened_and_sent_again,
    selected_ones_are_discarded_and_the_others_stay
);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_rows_are_announced_and_do_not_jump_under_the_mouse() {
    let world = World::start().await;
    let first = world.submit(World::undeliverable("was here before")).await;
    world.comes_to_be(first, Status::Parked).await;
    let browser = world.signed_in(Scripts::On).await;
    browser.open("/notifications").await;
    browser.shows("#live-state", "Live").await;
    let second = world.submit(by_hook("came later")).await;
    browser.shows("#news", "Show 1 new").await;
    assert_eq!(browser.count("#notifications tbody tr").await, 1, "nothing moved");
    world.comes_to_be(second, Status::Delivered).await;
    browser.click("label.tick:has(input[name=id])").await;
    browser.click("#news a").await;
    browser
        .shows("#notifications tbody tr:first-child", "came later")
        .await;
    let ticked = "return [...document.querySelectorAll('#notifications input[name=id]:checked')].map((box) => box.value).join()";
    assert_eq!(
        browser.run(ticked).await,
        first.to_string(),
        "what was ticked stays ticked"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_of_parked_ones_on_a_wall_fills_when_it_was_empty_and_tells_of_the_next_one() {
    let world = World::start().await;
    let browser = world.signed_in(Scripts::On).await;
    browser.open("/notifications?status=Parked").await;
    browser.shows("#live-state", "Live").await;
    browser.shows("#none", "Nothing matches").await;
    let first = world.submit(World::undeliverable("the first to fail")).await;
    world.comes_to_be(first, Status::Parked).await;
    browser.shows("#notifications", "the first to fail").await;
    let second = world.submit(World::undeliverable("the next to fail")).await;
    world.comes_to_be(second, Status::Parked).await;
    browser.shows("#news", "Show 1 new").await;
    browser.shows("#total", "2 in all").await;
    browser.click("#news a").await;
    browser
        .shows("#notifications tbody tr:first-child", "the next to fail")
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subject_without_blanks_pushes_no_reason_off_the_screen() {
    let world = World::start().await;
    let id = world.submit(World::undeliverable(&"A".repeat(160))).await;
    world.comes_to_be(id, Status::Parked).await;
    let browser = world.signed_in(Scripts::On).await;
    prefer(&browser, Colours::Light, Screen::Desktop).await;
    for (page, last) in [
        ("/notifications", "#notifications tbody .when"),
        ("/audit", "#audit td[data-label=Details]"),
    ] {
        browser.open(page).await;
        let script = format!(
            "return [...document.querySelectorAll('{last}')].every((one) => one.getBoundingClientRect().right <= innerWidth)"
        );
        assert_eq!(browser.run(&script).await, true, "{page}");
    }
}
