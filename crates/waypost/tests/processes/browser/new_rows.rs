//! More new rows than a page has.

use super::{Scripts, World};
use domain::Status;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_new_rows_than_a_page_come_in_without_a_hole_and_what_was_ticked_stays_ticked() {
    let world = World::start().await;
    let first = world.submit(World::undeliverable("was here before")).await;
    world.comes_to_be(first, Status::Parked).await;
    let browser = world.signed_in(Scripts::On).await;
    browser.open("/notifications").await;
    browser.shows("#live-state", "Live").await;
    browser.click("label.tick:has(input[name=id])").await;
    for n in 0..60 {
        world
            .submit(World::undeliverable(&format!("came later {n}")))
            .await;
    }
    browser.shows("#news", "Show 50+ new").await;
    browser.click("#news a").await;
    browser
        .shows("#notifications tbody tr:first-child", "came later 59")
        .await;
    assert_eq!(browser.count("#notifications tbody tr").await, 61);
    let ticked = "return [...document.querySelectorAll('#notifications input[name=id]:checked')].map((box) => box.value).join()";
    assert_eq!(browser.run(ticked).await, first.to_string());
}
