//! Handing notifications in: what is taken, what is refused and how it is told.

use crate::world::World;
use axum::{body::Body, http::Request};
use serde_json::{Value, json};
use store::directory::Role;

#[tokio::test]
async fn a_notification_is_taken_in_and_shown_whole() {
    let world = World::new().await;
    let body = json!({
        "type": "email", "listName": "ops", "title": "Tank 4", "message": "full", "bodyHtml": "<b>full</b>",
        "data": {"priority": 1}, "ruleName": "levels", "ruleId": "7", "runId": "r1", "supersedesKey": "tank-4",
        "entityType": "tank", "entityId": "4", "sourceSiteId": "plant", "sourceInstanceId": "i1",
        "sourceScript": "levels.lua", "originExecutionId": "e1", "originParentExecutionId": "e0",
        "siteEnqueuedAt": "2025-12-31T23:59:00Z", "sendAt": "2026-01-02T00:00:00Z",
        "expiresAt": "2026-01-03T01:00:00+01:00", "providerId": null,
    });
    let answer = world.post("/api/notifications", body).await.expect(202);
    assert_eq!(
        (&answer["status"], &answer["duplicate"]),
        (&json!("Pending"), &json!(false))
    );
    let id = answer["notificationId"].as_str().unwrap();
    let row = world.get(&format!("/api/notifications/{id}")).await.expect(200);
    let shown = |name: &str| row[name].clone();
    assert_eq!(shown("type"), "Email");
    assert_eq!(shown("status"), "Pending");
    assert_eq!(
        (shown("subject"), shown("body")),
        (json!("Tank 4"), json!("full"))
    );
    assert_eq!(shown("bodyHtml"), "<b>full</b>");
    assert_eq!(shown("typeData"), json!({"priority": 1}));
    assert_eq!(
        (shown("entityType"), shown("entityId")),
        (json!("tank"), json!("4"))
    );
    assert_eq!(shown("sourceScript"), "levels.lua");
    assert_eq!(shown("originParentExecutionId"), "e0");
    assert_eq!(shown("enqueuedAt"), "2025-12-31T23:59:00.000Z");
    assert_eq!(shown("expiresAt"), "2026-01-03T00:00:00.000Z");
    assert_eq!(shown("provider"), "mail");
    assert_eq!(shown("submittedBy"), "key:admin");
    assert_eq!(
        (shown("lastError"), shown("held"), shown("stuck")),
        (Value::Null, Value::Null, json!(false))
    );
    assert_eq!((shown("retryCount"), shown("generation")), (json!(0), json!(0)));
}

#[tokio::test]
async fn the_same_id_or_key_again_is_the_same_notification() {
    let world = World::new().await;
    for (field, value) in [
        ("notificationId", "0197f6f0-0000-7000-8000-000000000001"),
        ("idempotencyKey", "order-7"),
    ] {
        let body = json!({"listName": "ops", "body": "x", field: value});
        let first = world.post("/api/notifications", body.clone()).await.expect(202);
        let again = world.post("/api/notifications", body).await.expect(202);
        assert_eq!(first["notificationId"], again["notificationId"]);
        assert_eq!(
            (&first["duplicate"], &again["duplicate"]),
            (&json!(false), &json!(true))
        );
        assert_eq!(again["status"], "Pending");
    }
    assert_eq!(world.rows().await, 2);
}

#[tokio::test]
async fn the_idempotency_key_header_counts_as_the_field() {
    let world = World::new().await;
    let field = json!({"listName": "ops", "body": "x", "idempotencyKey": "order-7"});
    let first = world.post("/api/notifications", field.clone()).await.expect(202);
    let with_header = |body: Value| {
        Request::post("/api/notifications")
            .header("authorization", format!("Bearer {}", world.key(Role::Producer)))
            .header("content-type", "application/json")
            .header("idempotency-key", "order-7")
            .body(Body::from(body.to_string()))
            .unwrap()
    };
    let again = world
        .send(with_header(json!({"listName": "ops", "body": "x"})))
        .await
        .expect(202);
    assert_eq!(first["notificationId"], again["notificationId"]);
    assert_eq!(
        world.send(with_header(field)).await.bad_fields(),
        ["idempotencyKey"]
    );
    let id = "0197f6f0-0000-7000-8000-000000000001";
    let both = json!({"listName": "ops", "body": "x", "notificationId": id});
    assert_eq!(
        world.send(with_header(both)).await.bad_fields(),
        ["notificationId"]
    );
}

/// Bodies, and the fields that are wrong in each.
fn bad_inputs() -> Vec<(Value, &'static [&'static str])> {
    vec![
        (json!({}), &["body", "listName"]),
        (json!({"body": "x"}), &["listName"]),
        (
            json!({"body": "x", "listName": "ops", "to": ["a@example.com"]}),
            &["listName"],
        ),
        (json!({"body": "x", "listName": " "}), &["listName"]),
        (json!({"body": "x", "to": []}), &["to"]),
        (
            json!({"body": "x", "to": ["a@example.com", 7, " "]}),
            &["to[1]", "to[2]"],
        ),
        (json!({"body": "x", "to": "a@example.com"}), &["to"]),
        (json!({"body": 7, "listName": "ops"}), &["body"]),
        (
            json!({"body": "x", "message": "y", "listName": "ops"}),
            &["message"],
        ),
        (
            json!({"body": "x", "subject": "a", "title": "b", "listName": "ops"}),
            &["title"],
        ),
        (
            json!({"body": "x", "typeData": 1, "data": 2, "listName": "ops"}),
            &["data"],
        ),
        (
            json!({"body": "x", "listName": "ops", "type": "Pigeon"}),
            &["type"],
        ),
    ]
}

/// The same of what is said besides the content.
fn bad_options() -> Vec<(Value, &'static [&'static str])> {
    let long = |n: usize| "x".repeat(n);
    vec![
        (
            json!({"body": "x", "listName": "ops", "notificationId": "7"}),
            &["notificationId"],
        ),
        (
            json!({"body": "x", "listName": "ops", "idempotencyKey": " "}),
            &["idempotencyKey"],
        ),
        (
            json!({"body": "x", "listName": "ops", "idempotencyKey": long(256)}),
            &["idempotencyKey"],
        ),
        (
            json!({"body": "x", "listName": "ops", "idempotencyKey": "k",
                   "notificationId": "0197f6f0-0000-7000-8000-000000000001"}),
            &["notificationId"],
        ),
        (
            json!({"body": "x", "listName": "ops", "sendAt": "tomorrow"}),
            &["sendAt"],
        ),
        (
            json!({"body": "x", "listName": "ops", "siteEnqueuedAt": 7, "expiresAt": ""}),
            &["siteEnqueuedAt", "expiresAt"],
        ),
        (
            json!({"body": "x", "listName": "ops", "sendAt": "2026-02-01T00:00:00Z", "expiresAt": "2026-01-31T00:00:00Z"}),
            &["expiresAt"],
        ),
        (
            json!({"body": "x", "listName": "ops", "subject": long(1001)}),
            &["subject"],
        ),
        (json!({"body": "nul\u{0}", "listName": "ops"}), &["body"]),
        (
            json!({"body": "x", "listName": "ops", "bcc": "y", "nope": 1}),
            &["bcc", "nope"],
        ),
        (
            json!({"body": "x", "listName": "ops", "providerId": "nobody"}),
            &["providerId"],
        ),
        (
            json!({"body": "x", "listName": "ops", "providerId": "mail", "type": "Webhook"}),
            &["type"],
        ),
        (
            json!({"body": "x", "type": "Pigeon", "notificationId": 1, "sendAt": "?", "subject": long(1001), "to": []}),
            &["notificationId", "type", "sendAt", "subject", "to"],
        ),
        (
            json!({"to": ["x"], "providerId": "nobody", "type": "Email", "subject": long(1001), "body": "b"}),
            &["providerId", "subject", "to[0]"],
        ),
        (
            json!({"to": ["x", 7], "providerId": "mail", "type": "Webhook", "nope": 1, "body": "b"}),
            &["to[1]", "nope", "type", "to[0]"],
        ),
    ]
}

/// Fields that were given badly, and what is not said because it would only be a guess from them.
fn no_guesses() -> Vec<(Value, &'static [&'static str])> {
    vec![
        // Without a type nobody knows what an address looks like, nor whether one is needed.
        (json!({"body": "x", "to": ["x"], "type": "Pigeon"}), &["type"]),
        (json!({"body": "x", "providerId": "nobody"}), &["providerId"]),
        (
            json!({"body": "x", "to": ["x"], "providerId": "nobody"}),
            &["providerId"],
        ),
        (
            json!({"body": "x", "to": ["+49151"], "providerId": 7}),
            &["providerId"],
        ),
        (
            json!({"body": "x", "to": ["x"], "providerId": "mail", "type": 7}),
            &["type", "to[0]"],
        ),
    ]
}

#[tokio::test]
async fn each_bad_input_names_its_field_and_stores_nothing() {
    let world = World::new().await;
    for (body, wanted) in bad_inputs().into_iter().chain(bad_options()).chain(no_guesses()) {
        let answer = world.post("/api/notifications", body.clone()).await;
        assert_eq!(answer.bad_fields(), *wanted, "{body}");
        let batch = world
            .post("/api/notifications/batch", json!([body]))
            .await
            .expect(202);
        let errors = batch["results"][0]["errors"].as_array().unwrap().iter();
        let alike: Vec<_> = errors.map(|e| e["field"].as_str().unwrap()).collect();
        assert_eq!(alike, *wanted, "{body}");
    }
    assert_eq!(world.rows().await, 0);
}

#[tokio::test]
async fn an_unknown_type_is_told_the_known_ones() {
    let world = World::new().await;
    let body = json!({"body": "x", "listName": "ops", "type": "Pigeon"});
    let answer = world.post("/api/notifications", body).await;
    let problem = answer.json()["errors"][0]["problem"].to_string();
    assert!(problem.contains("Email, Webhook, WhatsApp"), "{problem}");
}

#[tokio::test]
async fn a_type_that_nothing_delivers_is_taken_in_and_parked_with_the_reason() {
    let mut world = World::new().await;
    let answer = world
        .post("/api/notifications", json!({"body": "x", "type": "Slack"}))
        .await
        .expect(202);
    world.dispatcher.sweep().await.unwrap();
    let row = world
        .get(&format!(
            "/api/notifications/{}",
            answer["notificationId"].as_str().unwrap()
        ))
        .await
        .expect(200);
    assert_eq!(row["status"], "Parked");
    assert_ne!(row["lastError"], Value::Null);
}

#[tokio::test]
async fn a_batch_answers_per_item_in_order_and_one_bad_item_fails_alone() {
    let world = World::new().await;
    let good = |key: &str| json!({"listName": "ops", "body": "x", "idempotencyKey": key});
    let items = json!([good("a"), {"body": "x"}, good("b"), 7, good("a"), {"listName": "ops", "body": "x", "providerId": "no"}]);
    for body in [items.clone(), json!({"notifications": items})] {
        let answer = world.post("/api/notifications/batch", body).await.expect(202);
        let results = answer["results"].as_array().unwrap();
        let accepted: Vec<bool> = results.iter().map(|r| r["accepted"].as_bool().unwrap()).collect();
        assert_eq!(accepted, [true, false, true, false, true, false]);
        assert_eq!(results[0]["notificationId"], results[4]["notificationId"]);
        assert_eq!(results[4]["duplicate"], true);
        assert_eq!(results[1]["errors"][0]["field"], "listName");
        assert_eq!(results[5]["errors"][0]["field"], "providerId");
    }
    assert_eq!(world.rows().await, 2);
}

#[tokio::test]
async fn a_batch_has_one_to_a_thousand_items() {
    let world = World::new().await;
    let item = json!({"listName": "ops", "body": "x"});
    for body in [
        json!([]),
        json!(vec![item.clone(); 1001]),
        json!({}),
        json!("x"),
        json!({"items": []}),
    ] {
        let answer = world.post("/api/notifications/batch", body).await;
        assert_eq!(answer.bad_fields()[0].as_str(), "notifications");
    }
    assert_eq!(world.rows().await, 0);
    let full = world
        .post("/api/notifications/batch", json!(vec![item; 1000]))
        .await
        .expect(202);
    assert_eq!(full["results"].as_array().unwrap().len(), 1000);
    assert_eq!(world.rows().await, 1000);
}

#[tokio::test]
async fn a_run_that_is_repeated_sends_the_same_message_once_and_another_run_again() {
    let world = World::new().await;
    let body = |run: &str| json!({"listName": "ops", "body": "x", "ruleName": "levels", "runId": run, "data": {"b": 1, "a": 2}});
    let first = world.post("/api/notifications", body("r1")).await.expect(202);
    let again = world.post("/api/notifications", body("r1")).await.expect(202);
    assert_eq!(
        (&first["notificationId"], &again["duplicate"]),
        (&again["notificationId"], &json!(true))
    );
    let other = world.post("/api/notifications", body("r2")).await.expect(202);
    assert_eq!(other["duplicate"], json!(false));
    let id = first["notificationId"].as_str().unwrap();
    let row = world.get(&format!("/api/notifications/{id}")).await.expect(200);
    assert!(
        row["idempotencyKey"].as_str().unwrap().starts_with("auto:v1:"),
        "{row}"
    );
    assert_eq!(row["deliveryState"], "pending");
    // Who names it, names it.
    let mut named = body("r1");
    named["idempotencyKey"] = json!("mine");
    let named = world.post("/api/notifications", named).await.expect(202);
    assert_eq!(named["duplicate"], json!(false));
}

#[tokio::test]
async fn data_that_the_providers_kind_cannot_send_and_a_provider_that_is_off_are_named_in_a_422() {
    let outside = std::sync::Arc::new(delivery::Outside::new(std::sync::Arc::new(domain::SystemClock)));
    let real = delivery::Registry::standard(outside, delivery::Captured::default());
    let world = World::with_kinds(real.iter().cloned().collect()).await;
    let provider = |enabled: bool| json!({"id": "phone", "kind": "ntfy", "enabled": enabled, "settings": {"topic": "t"}});
    world.post("/api/providers", provider(true)).await.expect(201);
    let bad = json!({"providerId": "phone", "body": "x", "data": {"priority": 9}});
    let answer = world.post("/api/notifications", bad).await;
    assert_eq!(answer.bad_fields(), ["typeData.priority"]);
    let worse = json!({
        "providerId": "phone", "type": "Email", "body": "x", "to": ["no topic"], "data": {"priority": 9}, "sendAt": 7,
    });
    let answer = world.post("/api/notifications", worse).await;
    assert_eq!(
        answer.bad_fields(),
        ["sendAt", "type", "to[0]", "typeData.priority"],
        "all that anybody has against it, at once"
    );
    let admin = world.key(Role::Admin);
    let off = Some(provider(false));
    world
        .ask("PUT", "/api/providers/phone", &admin, off)
        .await
        .expect(200);
    let named = json!({"providerId": "phone", "body": "x"});
    assert_eq!(
        world.post("/api/notifications", named).await.bad_fields(),
        ["providerId"]
    );
    let by_type = json!({"type": "Ntfy", "body": "x"});
    world.post("/api/notifications", by_type).await.expect(202);
}
