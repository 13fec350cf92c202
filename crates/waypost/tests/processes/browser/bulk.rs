//! All that match, however many there are.

use super::{Scripts, World, until, with_and_without_script};
use domain::{Status, TenantId};
use store::{
    Queries,
    query::{AuditFilter, Page},
};

const MANY: usize = 5_000;

async fn all_that_match_are_discarded_after_the_count_was_confirmed(scripts: Scripts) {
    let world = World::start().await;
    let batch: Vec<_> = (0..1000)
        .map(|n| World::undeliverable(&format!("flood {n}")))
        .collect();
    for _ in 0..MANY / batch.len() {
        world.node.client.submit_batch(&batch).await.unwrap();
    }
    let other = world.submit(World::undeliverable("something else")).await;
    until("all to be parked", async || {
        world.node.client.kpis().await.unwrap().parked_count == MANY as u64 + 1
    })
    .await;

    let browser = world.signed_in(scripts).await;
    browser.open("/notifications?status=Parked&q=flood").await;
    browser.click("#all-match summary").await;
    browser.click("#discard-all").await;
    browser.shows("#confirm-yes", "Yes, discard 5,000").await;
    assert_eq!(world.count(Status::Parked).await, MANY + 1, "asked, not done");
    browser.click("#confirm-yes").await;
    // Without script the page reloads itself while the job runs.
    browser.shows("#job .states", "Done").await;
    browser.shows("#job-done", "5,000").await;

    assert_eq!(world.count(Status::Discarded).await, MANY);
    assert_eq!(world.status_of(other).await, Status::Parked);
    let done_by_ann = AuditFilter {
        actor: Some("user:ann".into()),
        ..AuditFilter::default()
    };
    let page = Page {
        limit: 1000,
        after: None,
    };
    let log = world
        .store
        .audit(TenantId::DEFAULT, &done_by_ann, page)
        .await
        .unwrap();
    assert_eq!(log.rows.len(), 1000, "every one is on record");
    browser.open("/notifications?status=Parked").await;
    browser.shows("#notifications", "something else").await;
    assert_eq!(browser.count("#notifications tbody tr").await, 1);
}

with_and_without_script!(all_that_match_are_discarded_after_the_count_was_confirmed);
