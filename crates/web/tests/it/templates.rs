//! Templates over the API: saving, versions, previews, tests.

use crate::world::World;
use serde_json::{Value, json};
use store::directory::Role;

const ALL: &str = "/api/message-templates";

async fn made(world: &World, template: Value) -> Value {
    world.post(ALL, template).await.expect(201)
}

async fn put(world: &World, path: &str, body: Value) -> crate::world::Answer {
    world.ask("PUT", path, &world.key(Role::Admin), Some(body)).await
}

fn booking() -> Value {
    json!({
        "eventType": "booking.confirmed", "channel": "Email", "language": "en_in", "subject": "Booking {{bookingId}}",
        "body": "Dear {{guest.Name}}, see you on {{checkinDate}}.", "bodyHtml": "<p>Dear {{guestName}}</p>",
        "scopeType": "listing", "scopeId": "10", "to": "guest.email",
    })
}

#[tokio::test]
async fn a_template_is_answered_as_it_was_saved_and_may_be_sent_back_as_it_is() {
    let world = World::new().await;
    let first = made(&world, booking()).await;
    for (field, value) in booking().as_object().unwrap() {
        if field != "language" {
            assert_eq!(&first[field], value, "{field}");
        }
    }
    assert_eq!(
        (&first["language"], &first["name"]),
        (&json!("en-IN"), &json!("default"))
    );
    assert_eq!((&first["version"], &first["active"]), (&json!(1), &json!(true)));
    assert_eq!(first["savedBy"], "key:admin");
    let path = format!("{ALL}/{}", first["id"]);
    assert_eq!(world.get(&path).await.expect(200), first);
    let mut again = first.clone();
    again["body"] = "Other words".into();
    let second = put(&world, &path, again).await.expect(200);
    assert_eq!(
        (&second["version"], &second["body"]),
        (&json!(2), &json!("Other words"))
    );
    let old = world.get(&format!("{path}/versions/1")).await.expect(200);
    assert_eq!((&old["version"], &old["body"]), (&json!(1), &first["body"]));
    let versions = world.get(&format!("{path}/versions")).await.expect(200);
    let numbers: Vec<_> = versions["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v["version"].clone())
        .collect();
    assert_eq!(numbers, [2, 1]);
}

#[tokio::test]
async fn a_save_names_the_version_it_is_based_on_and_a_late_one_is_refused() {
    let world = World::new().await;
    let path = format!("{ALL}/{}", made(&world, booking()).await["id"]);
    put(&world, &path, json!({"body": "two", "version": 1}))
        .await
        .expect(200);
    let late = put(&world, &path, json!({"body": "late", "version": 1})).await;
    assert_eq!(late.problem(409), "conflict");
    assert_eq!(
        put(&world, &path, json!({"body": "three"})).await.bad_fields(),
        ["version"]
    );
    let renamed =
        json!({"body": "x", "version": 2, "eventType": "other", "channel": "Sms", "language": "de"});
    assert_eq!(
        put(&world, &path, renamed).await.bad_fields(),
        ["eventType", "channel", "language"]
    );
    assert_eq!(world.get(&path).await.expect(200)["body"], "two");
}

#[tokio::test]
async fn every_bad_field_is_named_and_a_second_template_of_the_same_name_is_refused() {
    let world = World::new().await;
    let bad = json!({"eventType": "e", "channel": "Sms", "language": "english please", "bodyHtml": "<p>",
        "dateFormat": "dd", "zone": "Mars", "providerTemplate": {"params": ["", 1]}, "colour": "red"});
    let mut fields = world.post(ALL, bad).await.bad_fields();
    fields.sort();
    assert_eq!(
        fields,
        ["colour", "providerTemplate.name", "providerTemplate.params[1]"]
    );
    let bad = json!({"eventType": "e", "channel": "Sms", "language": "english please", "bodyHtml": "<p>",
        "dateFormat": "dd", "zone": "Mars", "providerId": "mail"});
    let fields = world.post(ALL, bad).await.bad_fields();
    assert_eq!(
        fields,
        ["language", "body", "bodyHtml", "dateFormat", "zone", "providerId"]
    );
    let elsewhere = json!({"eventType": "e", "channel": "Sms", "body": "x", "providerId": "mail"});
    assert_eq!(world.post(ALL, elsewhere).await.bad_fields(), ["providerId"]);
    made(&world, booking()).await;
    assert_eq!(world.post(ALL, booking()).await.problem(409), "conflict");
}

#[tokio::test]
async fn the_list_is_filtered_and_a_deleted_template_stays_readable() {
    let world = World::new().await;
    let first = made(&world, booking()).await;
    made(
        &world,
        json!({"eventType": "booking.confirmed", "channel": "Sms", "body": "x", "active": false}),
    )
    .await;
    made(
        &world,
        json!({"eventType": "alarm", "channel": "Sms", "body": "x"}),
    )
    .await;
    let count = async |query: &str| {
        let page = world.get(&format!("{ALL}?{query}")).await.expect(200);
        page["items"].as_array().unwrap().len()
    };
    assert_eq!(count("").await, 3);
    assert_eq!(count("eventType=booking.confirmed").await, 2);
    assert_eq!(count("channel=sms").await, 2);
    assert_eq!(count("channel=Sms&active=true").await, 1);
    let path = format!("{ALL}/{}", first["id"]);
    let admin = world.key(Role::Admin);
    assert_eq!(
        world.ask("DELETE", &path, &admin, None).await.status.as_u16(),
        204
    );
    assert_eq!(
        world.ask("DELETE", &path, &admin, None).await.problem(404),
        "not_found"
    );
    assert_eq!((count("").await, count("deleted=true").await), (2, 1));
    assert!(world.get(&path).await.expect(200)["deletedAt"].is_string());
    assert_eq!(
        world.get(&format!("{path}/versions/1")).await.expect(200)["subject"],
        "Booking {{bookingId}}"
    );
    assert_eq!(
        put(&world, &path, json!({"body": "x", "version": 1}))
            .await
            .problem(404),
        "not_found"
    );
}

#[tokio::test]
async fn a_preview_takes_the_values_of_an_event_that_came() {
    let world = World::new().await;
    let path = format!("{ALL}/{}/preview", made(&world, booking()).await["id"]);
    let event = json!({"eventType": "booking.confirmed", "entityId": "7", "payload": {"bookingId": 7, "guestName": "Asha"}});
    let id = world.post("/api/events", event).await.expect(202)["eventId"].clone();
    let seen = world.post(&path, json!({"eventId": id})).await.expect(200);
    assert_eq!(seen["subject"], "Booking 7");
    assert_eq!(seen["body"], "Dear Asha, see you on .");
    let mut unsaved = booking();
    unsaved["eventId"] = id.clone();
    unsaved["subject"] = json!("{{guest.name}}");
    let seen = world.post(&format!("{ALL}/preview"), unsaved).await.expect(200);
    assert_eq!(seen["subject"], "Asha");
    let both = json!({"eventId": id, "payload": {}});
    assert_eq!(world.post(&path, both).await.bad_fields(), ["eventId"]);
    let nobody = json!({"eventId": "0197c0de-0000-7000-8000-000000000009"});
    assert_eq!(world.post(&path, nobody).await.problem(404), "not_found");
}

#[tokio::test]
async fn a_preview_says_what_a_message_would_say_and_what_is_missing() {
    let world = World::new().await;
    let path = format!("{ALL}/{}", made(&world, booking()).await["id"]);
    let payload = r#"{"bookingId": 12345.50, "guest": {"name": "<i>Asha</i>", "email": "a@example.com"}}"#;
    let seen = world
        .post(&format!("{path}/preview"), json!({"payload": payload}))
        .await
        .expect(200);
    assert_eq!(seen["subject"], "Booking 12345.50");
    assert_eq!(seen["body"], "Dear <i>Asha</i>, see you on .");
    assert_eq!(seen["bodyHtml"], "<p>Dear &lt;i&gt;Asha&lt;/i&gt;</p>");
    assert_eq!(seen["to"], "a@example.com");
    assert_eq!(seen["warnings"], json!(["{{checkinDate}} has no value"]));
    let unsaved = json!({"eventType": "x", "channel": "WhatsApp", "payload": {"when": "2026-03-15T00:00:00Z"},
        "providerTemplate": {"name": "hello", "params": ["when"]}});
    let seen = world.post(&format!("{ALL}/preview"), unsaved).await.expect(200);
    assert_eq!(seen["typeData"]["template"]["params"], json!(["15-Mar-2026"]));
    for (payload, field) in [
        (json!([1]), "payload"),
        (json!("not json"), "payload"),
        (json!("[1]"), "payload"),
    ] {
        let refused = world
            .post(&format!("{path}/preview"), json!({"payload": payload}))
            .await;
        assert_eq!(refused.bad_fields(), [field]);
    }
}

#[tokio::test]
async fn the_tenants_way_with_dates_counts_where_a_template_says_nothing() {
    let world = World::new().await;
    let settings = format!("{ALL}/settings");
    put(&world, &settings, json!({"dateFormat": "%d.%m.%Y"}))
        .await
        .expect(200);
    assert_eq!(
        world.get(&settings).await.expect(200),
        json!({"dateFormat": "%d.%m.%Y", "zone": null})
    );
    let with = |format: Value| json!({"eventType": "x", "channel": "Sms", "body": "{{at}}", "dateFormat": format, "payload": {"at": "2026-03-15"}});
    for (format, text) in [(Value::Null, "15.03.2026"), (json!("%d %B"), "15 March")] {
        let seen = world
            .post(&format!("{ALL}/preview"), with(format))
            .await
            .expect(200);
        assert_eq!(seen["body"], text);
    }
    let bad = put(&world, &settings, json!({"dateFormat": "dd", "zone": "Mars"})).await;
    assert_eq!(bad.bad_fields(), ["dateFormat", "zone"]);
}

#[tokio::test]
async fn a_test_goes_out_like_any_message() {
    let mut world = World::new().await;
    let path = format!("{ALL}/{}/test", made(&world, booking()).await["id"]);
    let asked = json!({"to": "me@example.com", "payload": {"bookingId": 7}});
    let answer = world
        .ask("POST", &path, &world.key(Role::Operator), Some(asked))
        .await
        .expect(202);
    let id = answer["notificationId"].as_str().unwrap().to_owned();
    assert_eq!(answer["warnings"].as_array().unwrap().len(), 4, "{answer}");
    world.dispatcher.sweep().await.unwrap();
    assert_eq!(world.status(&id).await, "Delivered");
    let row = world.get(&format!("/api/notifications/{id}")).await.expect(200);
    assert_eq!(
        (&row["subject"], &row["submittedBy"]),
        (&json!("Booking 7"), &json!("key:operator"))
    );
    let nowhere = world
        .ask("POST", &path, &world.key(Role::Operator), Some(json!({})))
        .await;
    assert_eq!(nowhere.bad_fields(), ["listName"]);
}
