//! Who must not be written to, over the API.

use crate::world::World;
use serde_json::json;
use store::directory::Role;

const ALL: &str = "/api/suppressions";

#[tokio::test]
async fn somebody_is_put_on_once_found_and_taken_off_again() {
    let world = World::new().await;
    let entry = json!({"address": "Ann@Example.com", "channel": "Email", "reason": "asked"});
    let made = world.post(ALL, entry.clone()).await.expect(201);
    assert_eq!(
        (&made["source"], &made["createdBy"]),
        (&json!("Operator"), &json!("key:admin"))
    );
    assert_eq!(world.post(ALL, entry).await.expect(200), made);
    let found = world
        .get(&format!("{ALL}?address=ann@example.COM"))
        .await
        .expect(200);
    assert_eq!(found["items"], json!([made]));
    assert_eq!(
        world
            .get(&format!("{ALL}?address=bob@example.com"))
            .await
            .expect(200)["items"],
        json!([])
    );
    let path = format!("{ALL}/{}", made["id"]);
    let operator = world.key(Role::Operator);
    assert_eq!(
        world.ask("DELETE", &path, &operator, None).await.status.as_u16(),
        204
    );
    assert_eq!(
        world.ask("DELETE", &path, &operator, None).await.problem(404),
        "not_found"
    );
}

#[tokio::test]
async fn a_message_to_somebody_suppressed_is_shown_as_discarded_with_the_reason() {
    let mut world = World::new().await;
    world
        .post(ALL, json!({"address": "ops@example.com", "reason": "on leave"}))
        .await
        .expect(201);
    let id = world.submitted("to nobody else").await;
    world.dispatcher.sweep().await.unwrap();
    let row = world.get(&format!("/api/notifications/{id}")).await.expect(200);
    assert_eq!(
        (&row["status"], &row["lastError"]),
        (&json!("Discarded"), &json!("on leave"))
    );
}

#[tokio::test]
async fn every_bad_field_is_named_and_pages_follow_each_other() {
    let world = World::new().await;
    let bad = json!({"address": " ", "channel": "Pigeon", "topic": "", "colour": "red"});
    assert_eq!(world.post(ALL, bad).await.bad_fields(), ["channel", "colour"]);
    assert_eq!(
        world.post(ALL, json!({"address": " "})).await.bad_fields(),
        ["address"]
    );
    for n in 0..5 {
        world
            .post(ALL, json!({"address": format!("{n}@example.com")}))
            .await
            .expect(201);
    }
    let first = world.get(&format!("{ALL}?limit=3")).await.expect(200);
    let cursor = first["nextCursor"].as_str().unwrap().to_owned();
    let second = world
        .get(&format!("{ALL}?limit=3&cursor={cursor}"))
        .await
        .expect(200);
    assert_eq!(second["items"].as_array().unwrap().len(), 2);
    assert!(second["nextCursor"].is_null());
}
