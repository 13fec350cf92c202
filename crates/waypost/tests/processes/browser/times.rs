//! Times in the viewer's own zone.

use super::{Scripts, World, until};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_exact_time_on_hover_is_in_the_viewers_zone() {
    let world = World::start().await;
    world.submit(World::undeliverable("anything")).await;
    let browser = world.signed_in(Scripts::On).await;
    let zone = json!({ "timezoneId": "Asia/Tokyo" });
    browser.devtools("Emulation.setTimezoneOverride", zone).await;
    browser.open("/notifications").await;
    until("a title in the viewer's zone", async || {
        let title = browser.attribute("#notifications time", "title").await;
        title.is_some_and(|title| title.contains("GMT+9") || title.contains("JST"))
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_script_the_exact_time_on_hover_is_in_utc() {
    let world = World::start().await;
    world.submit(World::undeliverable("anything")).await;
    let browser = world.signed_in(Scripts::Off).await;
    browser.open("/notifications").await;
    let title = browser.attribute("#notifications time", "title").await.unwrap();
    assert!(title.ends_with("UTC"), "{title}");
}
