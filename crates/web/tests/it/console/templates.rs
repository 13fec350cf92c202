//! Templates on the console: what the form of the editor that sends a test does.

use super::visitor::{Visitor, location};
use crate::world::World;
use domain::TenantId;
use serde_json::json;
use store::directory::Role;

#[tokio::test]
async fn the_test_form_of_a_template_sends_one_message_of_what_is_saved() {
    let mut world = World::new().await;
    let template = json!({"eventType": "booking.confirmed", "channel": "Email", "subject": "Booking {{bookingId}}",
        "body": "Dear {{guestName}}"});
    let made = world.post("/api/message-templates", template).await.expect(201);
    let editor = format!("/templates/{}", made["id"]);
    let mut operator = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
    let page = operator.get(&editor).await.text;
    let form = format!("{editor}/test");
    assert!(page.contains(&format!("action=\"{form}\"")), "{page}");
    let fields = [
        ("to", "me@example.com"),
        ("payload", r#"{"bookingId": 7, "guestName": "Asha"}"#),
    ];
    let sent = operator.post(&form, &fields).await;
    assert_eq!(sent.status, 303, "{}", sent.text);
    let shown = location(&sent).to_owned();
    let id = shown.strip_prefix("/notifications/").expect("the message itself");
    world.dispatcher.sweep().await.unwrap();
    assert_eq!(world.status(id).await, "Delivered");
    let page = operator.get(&shown).await.text;
    for said in [
        "The test is stored and on its way",
        "Booking 7",
        "Dear Asha",
        "me@example.com",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert_eq!(world.rows().await, 1);
}

#[tokio::test]
async fn a_test_that_cannot_be_sent_says_why_and_keeps_what_was_typed() {
    let world = World::new().await;
    let template =
        json!({"eventType": "booking.confirmed", "channel": "Email", "body": "Dear {{guestName}}"});
    let made = world.post("/api/message-templates", template).await.expect(201);
    let form = format!("/templates/{}/test", made["id"]);
    let mut operator = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
    let fields = [("to", "me@example.com"), ("payload", "{\"guestName\": ")];
    let refused = operator.post(&form, &fields).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    assert!(
        refused.text.contains("value=\"me@example.com\""),
        "{}",
        refused.text
    );
    assert_eq!(world.rows().await, 0);
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    assert_eq!(viewer.post(&form, &fields).await.status, 403);
}
