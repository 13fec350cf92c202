//! Refusals: one shape, stable codes, nothing from inside.

use crate::world::World;
use axum::{body::Body, http::Request};
use serde_json::json;
use store::directory::Role;

fn raw(world: &World, body: impl Into<Body>) -> Request<Body> {
    Request::post("/api/notifications")
        .header("authorization", format!("Bearer {}", world.key(Role::Producer)))
        .header("content-type", "application/json")
        .body(body.into())
        .unwrap()
}

#[tokio::test]
async fn broken_json_is_a_400_that_says_where() {
    let world = World::new().await;
    for broken in ["{\"body\": \"x\",}", "{", "", "{\"body\": \"\u{1}\"}"] {
        let answer = world.send(raw(&world, broken)).await;
        assert_eq!(answer.problem(400), "invalid_json", "{broken}");
    }
    let answer = world.send(raw(&world, "{\n  \"body\": nope\n}")).await;
    assert!(
        answer.json()["detail"].as_str().unwrap().contains("line 2"),
        "{}",
        answer.text
    );
    let not_an_object = world.send(raw(&world, "[1]")).await;
    assert_eq!(not_an_object.problem(422), "validation_failed");
    let not_utf8 = world.send(raw(&world, vec![b'"', 0xff, b'"'])).await;
    assert_eq!(not_utf8.problem(400), "invalid_json");
}

#[tokio::test]
async fn one_notification_may_have_all_that_its_fields_may_have_and_4_mib_in_all() {
    let world = World::new().await;
    // Whatever is escaped in JSON is longer there.
    let full = "\"\n".repeat(1 << 19);
    let largest = json!({"listName": "ops", "body": full, "bodyHtml": "x".repeat(1 << 20)});
    world.post("/api/notifications", largest).await.expect(202);
    let too_much = json!({"listName": "ops", "body": "x", "bodyHtml": "x".repeat(4 << 20)});
    let answer = world.post("/api/notifications", too_much).await;
    assert_eq!(answer.problem(413), "too_large");
    assert_eq!(world.rows().await, 1);
}

#[tokio::test]
async fn any_other_body_over_a_megabyte_is_refused() {
    let world = World::new().await;
    let body = json!({"name": "x".repeat(1 << 20)});
    let answer = world.post("/api/lists", body).await;
    assert_eq!(answer.problem(413), "too_large");
}

#[tokio::test]
async fn only_json_is_taken() {
    let world = World::new().await;
    let mut request = raw(&world, "{}");
    request
        .headers_mut()
        .insert("content-type", "text/plain".parse().unwrap());
    assert_eq!(world.send(request).await.problem(415), "unsupported_media_type");
}

#[tokio::test]
async fn unknown_paths_and_methods_are_problems_too() {
    let world = World::new().await;
    assert_eq!(world.get("/api/nothing").await.problem(404), "not_found");
    assert_eq!(world.get("/nothing").await.problem(404), "not_found");
    let answer = world
        .ask("DELETE", "/api/notifications", &world.key(Role::Admin), None)
        .await;
    assert_eq!(answer.problem(405), "method_not_allowed");
    let allowed = answer.headers["allow"].to_str().unwrap();
    assert!(allowed.contains("GET") && allowed.contains("POST"), "{allowed}");
}

#[tokio::test]
async fn ids_that_are_not_ids_name_nothing() {
    let world = World::new().await;
    for path in [
        "/api/notifications/7",
        "/api/notifications/7/status",
        "/api/jobs/7",
        "/api/providers/%00",
    ] {
        assert_eq!(world.get(path).await.problem(404), "not_found", "{path}");
    }
}

#[tokio::test]
async fn unknown_query_parameters_are_refused_by_name_on_every_kind_of_route() {
    let world = World::new().await;
    let id = world.submitted("x").await;
    for path in [
        "/api/notifications?stats=Parked".to_owned(),
        format!("/api/notifications/{id}?stats=Parked"),
        "/api/kpis?stats=1".into(),
        "/api/audit?stats=1".into(),
        "/api/lists?stats=1".into(),
        "/healthz?stats=1".into(),
    ] {
        assert_eq!(world.get(&path).await.bad_fields(), ["stats"], "{path}");
    }
    let all = world
        .get("/api/notifications?status=Waiting&from=x&limit=0&cursor=7&stuck=so&q=a&q=b&sort=1")
        .await;
    let mut named = all.bad_fields();
    named.sort_unstable();
    assert_eq!(named, ["cursor", "from", "limit", "q", "sort", "status", "stuck"]);
}

#[tokio::test]
async fn a_store_that_is_gone_is_a_503_that_says_when_to_come_back() {
    let world = World::new().await;
    let id = world.submitted("x").await;
    // The key is known from the request before; the store behind it is not asked for it again.
    world.temp.store.close().await;
    let body = json!({"listName": "ops", "body": "x"});
    let submit = world
        .ask(
            "POST",
            "/api/notifications",
            &world.key(Role::Producer),
            Some(body),
        )
        .await;
    assert_eq!(submit.problem(503), "unavailable");
    assert!(submit.headers.contains_key("retry-after"));
    assert!(!submit.text.to_lowercase().contains("sqlite"), "{}", submit.text);
    let read = world.get(&format!("/api/notifications/{id}")).await;
    assert_eq!(read.problem(503), "unavailable");
    let ready = world.get("/readyz").await;
    let ready = ready.expect(503);
    assert_eq!(
        (&ready["ready"], &ready["checks"][0]["name"]),
        (&json!(false), &json!("store"))
    );
    world.get("/healthz").await.expect(200);
}

#[tokio::test]
async fn every_answer_carries_a_request_id_and_keeps_a_sane_one() {
    let world = World::new().await;
    let fresh = world.get("/api/kpis").await;
    assert!(fresh.headers["x-request-id"].len() >= 16);
    assert_eq!(fresh.headers["x-content-type-options"], "nosniff");
    assert_eq!(fresh.headers["cache-control"], "no-store");
    let mut request = Request::get("/healthz")
        .header("x-request-id", "trace-7")
        .body(Body::empty())
        .unwrap();
    assert_eq!(world.send(request).await.headers["x-request-id"], "trace-7");
    request = Request::get("/healthz")
        .header("x-request-id", "a b\"c")
        .body(Body::empty())
        .unwrap();
    assert_ne!(world.send(request).await.headers["x-request-id"], "a b\"c");
}

#[tokio::test]
async fn a_panic_is_a_500_that_tells_nothing_and_the_next_request_is_served() {
    let world = World::new().await;
    world.mail.script(|_, _| testkit::Reply::Panic);
    let to = Some(json!({"to": "a@example.com"}));
    let answer = world
        .ask("POST", "/api/providers/mail/test", &world.key(Role::Operator), to)
        .await;
    assert_eq!(answer.problem(500), "internal");
    assert!(!answer.text.contains("the script says so"), "{}", answer.text);
    assert!(answer.headers.contains_key("x-request-id"));
    world.get("/api/kpis").await.expect(200);
}
