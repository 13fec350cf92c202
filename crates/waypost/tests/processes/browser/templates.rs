//! Writing what an event becomes.

use super::{Browser, Scripts, World, with_and_without_script};
use client::Template;

async fn only_one(world: &World) -> Template {
    let rows = world.node.client.templates(None, None).await.unwrap();
    assert_eq!(rows.len(), 1);
    world.node.client.template(rows[0].id).await.unwrap()
}

/// The preview follows by itself where there is script, and by a button where there is none.
async fn look(browser: &Browser, scripts: Scripts) {
    if matches!(scripts, Scripts::Off) {
        browser.click("#preview-now").await;
    }
}

async fn a_template_is_written_looked_at_changed_and_removed(scripts: Scripts) {
    let world = World::start().await;
    let browser = world.signed_in(scripts).await;
    browser.open("/templates/new").await;
    browser.fill("#eventType", "booking.confirmed").await;
    browser.fill("#subject", "Booking {{bookingId}}").await;
    browser
        .fill(
            "#body",
            "Dear {{guest.Name}}, <b>see</b> you on {{checkinDate}}. {{nobody}}",
        )
        .await;
    let values = r#"{"bookingId": 12.50, "guestName": "<i>Asha</i> {{bookingId}}", "checkinDate": "2026-03-15T00:00:00Z"}"#;
    browser.fill("#payload", values).await;
    look(&browser, scripts).await;
    browser.shows("#preview-subject", "Booking 12.50").await;
    let body = "Dear <i>Asha</i> {{bookingId}}, <b>see</b> you on 15-Mar-2026.";
    browser.shows("#preview-body", body).await;
    browser.shows("#warnings", "{{nobody}} has no value").await;
    browser.click("#save").await;
    browser.shows("#flash", "Saved as version 1").await;
    let saved = only_one(&world).await;
    assert_eq!(saved.draft.subject.as_deref(), Some("Booking {{bookingId}}"));

    browser.fill("#body", "Other words").await;
    browser.click("#save").await;
    browser.shows("#flash", "Saved as version 2").await;
    browser.open(&format!("/templates/{}/versions/2", saved.id)).await;
    browser.shows("#diff ins", "Other words").await;
    browser.shows("#diff del", "Dear {{guest.Name}}").await;

    browser.open(&format!("/templates/{}", saved.id)).await;
    browser.click("#delete-ask").await;
    browser.click("#delete").await;
    browser.shows("#flash", "serves nothing any more").await;
    assert!(world.node.client.templates(None, None).await.unwrap().is_empty());
}

async fn what_somebody_else_saved_meanwhile_is_not_overwritten(scripts: Scripts) {
    let world = World::start().await;
    let browser = world.signed_in(scripts).await;
    browser.open("/templates/new").await;
    browser.fill("#eventType", "alarm").await;
    browser.click("#save").await;
    browser.shows("#flash", "Saved as version 1").await;
    let mut theirs = only_one(&world).await;
    theirs.draft.body = "Theirs".into();
    world
        .node
        .client
        .save_template(theirs.id, &theirs.draft)
        .await
        .unwrap();
    browser.fill("#body", "Mine").await;
    browser.click("#save").await;
    browser.shows("#problems", "changed meanwhile").await;
    assert_eq!(browser.text("#body").await.as_deref(), Some("Mine"));
    assert_eq!(only_one(&world).await.draft.body, "Theirs");
}

with_and_without_script!(
    a_template_is_written_looked_at_changed_and_removed,
    what_somebody_else_saved_meanwhile_is_not_overwritten,
);
