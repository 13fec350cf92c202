//! Who gets what.

use super::{Scripts, World, with_and_without_script};
use domain::TenantId;
use store::Directory;

async fn members(world: &World) -> Vec<(String, bool)> {
    let list = world.store.list_by_name(TenantId::DEFAULT, "ops").await.unwrap();
    let recipients = list.unwrap().recipients;
    recipients
        .into_iter()
        .map(|one| (one.address, one.enabled))
        .collect()
}

async fn a_list_is_made_filled_and_thinned_out(scripts: Scripts) {
    let world = World::start().await;
    let browser = world.signed_in(scripts).await;
    browser.open("/lists").await;
    browser.fill("#new-list #name", "ops").await;
    browser.click("#new-list button").await;
    browser.is_at("/lists/ops").await;
    for address in ["ann@plant.example", "bob@plant.example"] {
        browser.fill("#address", address).await;
        browser.click("#new-recipient button").await;
        browser.shows("#recipients", address).await;
    }
    let both = |enabled| {
        vec![
            ("ann@plant.example".to_owned(), enabled),
            ("bob@plant.example".to_owned(), true),
        ]
    };
    assert_eq!(members(&world).await, both(true));

    let row = "[data-address='ann@plant.example']";
    browser.click(&format!("{row} button[value=disable]")).await;
    browser.shows(row, "Disabled").await;
    assert_eq!(members(&world).await, both(false));
    browser.click(&format!("{row} button[value=remove]")).await;
    browser.shows_nothing_at(row).await;
    assert_eq!(members(&world).await, both(false)[1..]);
}

async fn somebody_is_put_on_the_list_of_who_is_not_written_to_and_taken_off(scripts: Scripts) {
    let world = World::start().await;
    let browser = world.signed_in(scripts).await;
    browser.open("/suppressions").await;
    browser.fill("#address", "ann@plant.example").await;
    browser.click("#new-suppression button").await;
    browser.shows("#suppressions", "ann@plant.example").await;
    let entries = world.node.client.suppressions(None).await.unwrap();
    assert_eq!(entries[0].address, "ann@plant.example");
    browser.click("[data-address='ann@plant.example'] summary").await;
    assert_eq!(
        world.node.client.suppressions(None).await.unwrap().len(),
        1,
        "it asks"
    );
    browser.click("[data-address='ann@plant.example'] button").await;
    browser.shows("#flash", "is written to again").await;
    assert!(world.node.client.suppressions(None).await.unwrap().is_empty());
}

with_and_without_script!(
    a_list_is_made_filled_and_thinned_out,
    somebody_is_put_on_the_list_of_who_is_not_written_to_and_taken_off,
);
