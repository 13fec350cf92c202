//! The addresses that providers send receipts to.

use crate::world::*;
use axum::{body::Body, http::Request};
use serde_json::{Value, json};
use store::directory::Role;
use testkit::far_end::CALLBACK_SIGNATURE;

/// Makes an address for the provider `mail` and answers with its path.
async fn path(world: &World, tenant: &'static str) -> String {
    let key = world.key_of(tenant, Role::Admin);
    let made = world
        .ask("POST", "/api/providers/mail/callback", &key, None)
        .await
        .expect(200);
    assert_eq!(made["toldBy"], "itsSettings");
    let url = made["url"].as_str().unwrap();
    url.strip_prefix(PUBLIC_URL).unwrap().to_owned()
}

async fn call(world: &World, path: &str, signature: &str, body: &Value) -> Answer {
    let request = Request::builder()
        .method("POST")
        .uri(path)
        .header(CALLBACK_SIGNATURE, signature);
    world
        .send(request.body(Body::from(body.to_string())).unwrap())
        .await
}

async fn waiting(world: &World) -> u64 {
    world.central.store.receipts_waiting(10).await.unwrap().fresh
}

#[tokio::test]
async fn a_receipt_is_stored_and_answered_and_shown_everywhere() {
    let mut world = World::new().await;
    let id = world.submitted("hot").await;
    world.dispatcher.sweep().await.unwrap();
    let path = path(&world, MINE).await;
    let told = json!([{"ref": format!("{id}.0.ops@example.com"), "state": "read"}]);
    let answer = call(&world, &path, "good", &told).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, "ok\n"));
    assert_eq!(waiting(&world).await, 1);
    world.central.receipts.sweep().await.unwrap();
    let whole = world.get(&format!("/api/notifications/{id}")).await.expect(200);
    assert_eq!(whole["receipt"], "read");
    assert!(whole["receiptAt"].is_string());
    let status = world
        .get(&format!("/api/notifications/{id}/status"))
        .await
        .expect(200);
    assert_eq!(status["receipt"], "read");
    let found = world.get("/api/notifications?receipt=read").await.expect(200);
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    let provider = world.get("/api/providers/mail").await.expect(200);
    assert_eq!(provider["receipts"], true);
}

#[tokio::test]
async fn a_wrong_secret_is_404_and_stores_nothing() {
    let world = World::new().await;
    let mine = path(&world, MINE).await;
    let told = json!([{"ref": "x", "state": "read"}]);
    let (base, secret) = mine.rsplit_once('/').unwrap();
    let other = secret.replace(|c: char| c.is_ascii_digit(), "a");
    for wrong in [
        format!("{base}/{other}"),
        format!("{base}/{}", "0".repeat(32)),
        format!("{base}/short"),
        format!("/callbacks/hook/{secret}"),
        format!("/callbacks/{secret}"),
    ] {
        let answer = call(&world, &wrong, "good", &told).await;
        assert_eq!(answer.status.as_u16(), 404, "{wrong}");
    }
    assert_eq!(waiting(&world).await, 0);
    // The one before stops working with the next.
    let next = path(&world, MINE).await;
    assert_eq!(call(&world, &mine, "good", &told).await.status.as_u16(), 404);
    assert_eq!(call(&world, &next, "good", &told).await.status.as_u16(), 200);
}

#[tokio::test]
async fn what_is_not_signed_or_not_readable_is_refused_and_not_stored() {
    let world = World::new().await;
    let path = path(&world, MINE).await;
    let told = json!([{"ref": "x", "state": "read"}]);
    assert_eq!(
        call(&world, &path, "forged", &told).await.problem(403),
        "forbidden"
    );
    assert_eq!(
        call(&world, &path, "good", &json!({})).await.problem(400),
        "invalid_json"
    );
    let long = json!("x".repeat(5 << 20));
    assert_eq!(call(&world, &path, "good", &long).await.problem(413), "too_large");
    assert_eq!(waiting(&world).await, 0);
}

#[tokio::test]
async fn a_verification_is_answered_as_the_kind_says() {
    let world = World::new().await;
    let path = path(&world, MINE).await;
    let answer = world
        .ask("GET", &format!("{path}?hub.mode=subscribe"), "", None)
        .await;
    assert_eq!(answer.status.as_u16(), 200);
    assert_eq!(answer.text, format!("{PUBLIC_URL}{path}?hub.mode=subscribe"));
}

#[tokio::test]
async fn each_tenants_address_is_its_own() {
    let mut world = World::new().await;
    let id = world.submitted("hot").await;
    world.dispatcher.sweep().await.unwrap();
    let theirs = path(&world, OTHER).await;
    let told = json!([{"ref": format!("{id}.0.ops@example.com"), "state": "failed"}]);
    assert_eq!(call(&world, &theirs, "good", &told).await.status.as_u16(), 200);
    world.central.receipts.sweep().await.unwrap();
    let status = world
        .get(&format!("/api/notifications/{id}/status"))
        .await
        .expect(200);
    assert_eq!(
        status["status"], "Delivered",
        "another tenant's receipt finds nothing"
    );
}

#[tokio::test]
async fn only_an_admin_makes_an_address() {
    let world = World::new().await;
    for role in [Role::Viewer, Role::Operator, Role::Producer] {
        let key = world.key(role);
        let refused = world
            .ask("POST", "/api/providers/mail/callback", &key, None)
            .await;
        assert_eq!(refused.problem(403), "forbidden");
    }
    let key = world.key(Role::Admin);
    let nobody = world
        .ask("POST", "/api/providers/none/callback", &key, None)
        .await;
    assert_eq!(nobody.problem(404), "not_found");
}
