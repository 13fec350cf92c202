//! API keys: shown once, revoked at once, and no way to reach beyond the tenant.

use crate::world::World;
use serde_json::json;
use store::directory::Role;

#[tokio::test]
async fn a_key_is_shown_once_works_and_stops_working_when_revoked() {
    let world = World::new().await;
    let made = world
        .post("/api/keys", json!({"name": "shop", "role": "viewer"}))
        .await
        .expect(201);
    let text = made["key"].as_str().unwrap();
    assert_eq!((&made["name"], &made["role"]), (&json!("shop"), &json!("viewer")));
    world.ask("GET", "/api/kpis", text, None).await.expect(200);
    let listed = world.ask("GET", "/api/keys", &world.key(Role::Admin), None).await;
    assert!(!listed.text.contains(text));
    assert!(listed.text.contains("\"shop\""));
    assert_eq!(
        world
            .post("/api/keys", json!({"name": "shop", "role": "viewer"}))
            .await
            .problem(409),
        "conflict"
    );
    let place = format!("/api/keys/{}", made["id"]);
    world
        .ask("DELETE", &place, &world.key(Role::Admin), None)
        .await
        .expect(204);
    assert_eq!(
        world.ask("GET", "/api/kpis", text, None).await.problem(401),
        "unauthorized"
    );
    assert_eq!(
        world
            .ask("DELETE", &place, &world.key(Role::Admin), None)
            .await
            .problem(404),
        "not_found"
    );
    assert_eq!(
        world
            .ask("DELETE", "/api/keys/x", &world.key(Role::Admin), None)
            .await
            .problem(404),
        "not_found"
    );
}

#[tokio::test]
async fn an_admin_cannot_make_a_key_that_reaches_every_tenant() {
    let world = World::new().await;
    let answer = world
        .post("/api/keys", json!({"name": "all", "role": "ops"}))
        .await;
    assert_eq!(answer.problem(403), "forbidden");
    let listed = world.ask("GET", "/api/keys", &world.key(Role::Admin), None).await;
    assert!(!listed.text.contains("\"all\""));
}

#[tokio::test]
async fn every_bad_field_of_a_key_is_named() {
    let world = World::new().await;
    let mut named = world
        .post("/api/keys", json!({"role": "king", "x": 1}))
        .await
        .bad_fields();
    named.sort_unstable();
    assert_eq!(named, ["name", "role", "x"]);
    assert_eq!(
        world
            .post("/api/keys", json!({"name": " ", "role": "viewer"}))
            .await
            .bad_fields(),
        ["name"]
    );
}
