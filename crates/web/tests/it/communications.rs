//! The log of one entity over the API.

use crate::{console::visitor::Visitor, world::World};
use axum::{body::Body, http::Request};
use domain::TenantId;
use serde_json::json;
use store::directory::Role;

#[tokio::test]
async fn the_log_of_an_entity_has_every_column_of_what_was_sent_and_of_what_was_not() {
    let mut world = World::new().await;
    let admin = world.key(Role::Admin);
    let kind = json!({"dedupe": "entity", "addresses": {"Email": "guest.email", "Sms": "guestPhone"}});
    let path = "/api/event-types/booking.confirmed";
    world.ask("PUT", path, &admin, Some(kind)).await.expect(200);
    for channel in ["Email", "Sms"] {
        let template = json!({"eventType": "booking.confirmed", "channel": channel, "subject": "Booking", "body": "Hello"});
        world.post("/api/message-templates", template).await.expect(201);
    }
    let event = json!({"eventType": "booking.confirmed", "entityId": "12345", "correlationId": "corr-7",
        "payload": {"guestEmail": "asha@example.com"}});
    let event = world.post("/api/events", event).await.expect(202);
    world.central.events.sweep().await.unwrap();
    world.dispatcher.sweep().await.unwrap();
    let again = "/api/bookings/12345/resend-notification";
    let asked = world
        .ask("POST", again, &admin, Some(json!({"channel": "Email"})))
        .await;
    asked.expect(202);
    world.dispatcher.sweep().await.unwrap();
    let log = world
        .get("/api/communication-logs?bookingId=12345")
        .await
        .expect(200);
    let rows = log["items"].as_array().unwrap();
    assert_eq!(rows.len(), 3, "{log}");
    let [again, first, skipped] = [&rows[0], &rows[1], &rows[2]];
    for sent in [again, first] {
        assert_eq!(sent["channel"], "Email");
        assert_eq!(sent["eventType"], "booking.confirmed");
        assert_eq!(sent["eventId"], event["eventId"]);
        assert_eq!(
            (&sent["templateName"], &sent["templateVersion"]),
            (&json!("default"), &json!(1))
        );
        assert_eq!(sent["toAddress"], "a•••@example.com");
        assert_eq!(sent["status"], "Delivered");
        assert_eq!(sent["correlationId"], "corr-7");
        assert_eq!(sent["provider"], "mail");
        assert_eq!(sent["attempts"], 1);
        for there in ["sentAt", "notificationId", "templateId", "createdAt"] {
            assert!(!sent[there].is_null(), "{there}: {sent}");
        }
        for known in ["receipt", "providerMessageId", "lastError"] {
            assert!(sent.get(known).is_some(), "{known}: {sent}");
        }
    }
    assert_eq!(first["idempotencyKey"], "12345:booking.confirmed:Email:default");
    assert_eq!(first["requestedBy"], "system");
    let key = again["idempotencyKey"].as_str().unwrap();
    assert!(key.starts_with("manual:12345:Email:"), "{key}");
    assert!(
        again["requestedBy"].as_str().unwrap().starts_with("key:"),
        "{again}"
    );
    assert_eq!(
        (&skipped["channel"], &skipped["status"]),
        (&json!("Sms"), &json!("Skipped"))
    );
    assert_eq!(skipped["lastError"], "No recipient");
    assert!(skipped["notificationId"].is_null());
    let schedules = world
        .get("/api/automation-schedules?bookingId=12345")
        .await
        .expect(200);
    let messages = &schedules["items"][0]["messages"];
    assert_eq!(
        (&messages[1]["cameTo"], &messages[1]["reason"]),
        (&json!("skipped"), &json!("No recipient")),
        "{schedules}"
    );
}

#[tokio::test]
async fn a_resend_that_names_a_template_that_was_switched_off_is_a_conflict() {
    let world = World::new().await;
    let admin = world.key(Role::Admin);
    let kind = json!({"dedupe": "entity", "addresses": {"Email": "guest.email"}});
    let path = "/api/event-types/booking.confirmed";
    world.ask("PUT", path, &admin, Some(kind)).await.expect(200);
    let template = json!({"eventType": "booking.confirmed", "channel": "Email", "subject": "Booking", "body": "Hello",
        "active": false});
    let template = world.post("/api/message-templates", template).await.expect(201);
    let event = json!({"eventType": "booking.confirmed", "entityId": "12345",
        "payload": {"guestEmail": "asha@example.com"}});
    world.post("/api/events", event).await.expect(202);
    world.central.events.sweep().await.unwrap();
    let id = &template["id"];
    let ask = json!({"channel": "Email", "templateId": id});
    let place = "/api/bookings/12345/resend-notification";
    let refused = world.ask("POST", place, &admin, Some(ask)).await.expect(409);
    let why = refused["detail"].as_str().unwrap();
    let template = id.as_str().map_or_else(|| id.to_string(), str::to_owned);
    assert!(
        why.starts_with(&format!("template {template} is inactive")),
        "{why}"
    );
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let what = format!("Email:{template}");
    let fields = [
        ("entityType", "booking"),
        ("entityId", "12345"),
        ("what", what.as_str()),
    ];
    visitor.post("/communications/resend", &fields).await;
    let page = visitor
        .get("/communications?entityType=booking&entityId=12345")
        .await;
    let said = format!("Nothing was sent: template {template} is inactive");
    assert!(page.text.contains(&said), "{}", page.text);
}

#[tokio::test]
async fn a_resend_asked_for_twice_under_one_key_is_one_message() {
    let world = World::new().await;
    let admin = world.key(Role::Admin);
    let kind = json!({"dedupe": "entity", "addresses": {"Email": "guest.email"}});
    let path = "/api/event-types/booking.confirmed";
    world.ask("PUT", path, &admin, Some(kind)).await.expect(200);
    let template =
        json!({"eventType": "booking.confirmed", "channel": "Email", "subject": "Booking", "body": "Hello"});
    world.post("/api/message-templates", template).await.expect(201);
    let event = json!({"eventType": "booking.confirmed", "entityId": "12345",
        "payload": {"guestEmail": "asha@example.com"}});
    world.post("/api/events", event).await.expect(202);
    world.central.events.sweep().await.unwrap();
    let mut made = vec![];
    for place in [
        "/api/bookings/12345/resend-notification",
        "/api/entities/booking/12345/resend-notification",
    ] {
        for key in ["click-1", "click-1", "click-2"] {
            let request = Request::post(place)
                .header("authorization", format!("Bearer {admin}"))
                .header("content-type", "application/json")
                .header("idempotency-key", key)
                .body(Body::from(json!({"channel": "Email"}).to_string()))
                .unwrap();
            let answer = world.send(request).await.expect(202);
            assert_eq!(answer["requestId"], key);
            made.push(answer["notifications"][0]["notificationId"].to_string());
        }
    }
    let [first, again, other] = [&made[0], &made[1], &made[2]];
    assert_eq!(first, again);
    assert_ne!(first, other);
    assert_eq!(
        made[..3],
        made[3..],
        "the booking is the same entity by either route"
    );
    let log = world
        .get("/api/communication-logs?bookingId=12345")
        .await
        .expect(200);
    assert_eq!(log["items"].as_array().unwrap().len(), 3, "{log}");
}

#[tokio::test]
async fn a_tenant_whose_name_is_a_number_is_meant_by_its_name() {
    let world = World::new().await;
    let ops = world.key(Role::Ops);
    let by = domain::Actor::system();
    let store = &world.central.store;
    let named = store.create_tenant("1", &by).await.unwrap();
    assert_ne!(named.id, domain::TenantId::DEFAULT);
    let event = json!({"eventType": "booking.confirmed", "entityId": "1", "payload": {}});
    world.post("/api/events", event).await.expect(202);
    let count = async |tenant: &str| {
        let place = format!("/ops/outbox?tenantId={tenant}");
        let page = world.ask("GET", &place, &ops, None).await.expect(200);
        page["items"].as_array().unwrap().len()
    };
    assert_eq!(count("default").await, 1);
    assert_eq!(count("1").await, 0, "the tenant of that name, not of that number");
}
