//! Who may do what, written down a second time and tried on every route.

use crate::{
    openapi::{document, operations, sample_body},
    world::{OTHER, World},
};
use axum::{body::Body, http::Request};
use serde_json::json;
use std::collections::BTreeMap;
use store::directory::Role;
use tower::ServiceExt;

const SUBMIT: &str = "producer operator admin";
const STATUS: &str = "producer viewer operator admin ops";
const READ: &str = "viewer operator admin ops";
const REPLAY: &str = "operator admin ops";
const OPERATE: &str = "operator admin";
const ADMIN: &str = "admin";
const OPS: &str = "ops";

/// Every route that wants a key. A new route is missing here until somebody has thought about it.
const MATRIX: &[(&str, &str)] = &[
    ("POST /api/notifications", SUBMIT),
    ("POST /api/notifications/batch", SUBMIT),
    ("GET /api/notifications", READ),
    ("GET /api/notifications/{id}", READ),
    ("GET /api/notifications/{id}/status", STATUS),
    ("GET /api/notifications/{id}/attempts", READ),
    ("GET /api/notifications/{id}/attempts/{n}/transcript", READ),
    ("POST /api/notifications/{id}/retry", REPLAY),
    ("POST /api/notifications/{id}/discard", OPERATE),
    ("POST /api/notifications/{id}/try", OPERATE),
    ("POST /api/notifications/{id}/cancel", OPERATE),
    ("POST /api/notifications/{id}/resend", OPERATE),
    ("POST /api/notifications/retry", REPLAY),
    ("POST /api/notifications/discard", OPERATE),
    ("POST /api/notifications/cancel", OPERATE),
    ("POST /api/notifications/resend", OPERATE),
    ("GET /api/jobs", READ),
    ("GET /api/jobs/{id}", READ),
    ("POST /api/jobs/{id}/stop", REPLAY),
    ("GET /api/kpis", READ),
    ("GET /api/kpis/sites", READ),
    ("GET /api/audit", READ),
    ("GET /api/lanes", READ),
    ("GET /api/loops", READ),
    ("GET /api/stream", READ),
    ("GET /api/lists", READ),
    ("POST /api/lists", ADMIN),
    ("GET /api/lists/{name}", READ),
    ("PUT /api/lists/{name}", ADMIN),
    ("DELETE /api/lists/{name}", ADMIN),
    ("GET /api/lists/{name}/recipients", READ),
    ("POST /api/lists/{name}/recipients", ADMIN),
    ("PUT /api/lists/{name}/recipients/{address}", ADMIN),
    ("DELETE /api/lists/{name}/recipients/{address}", ADMIN),
    ("GET /api/provider-kinds", READ),
    ("GET /api/providers", READ),
    ("POST /api/providers", ADMIN),
    ("GET /api/providers/{id}", READ),
    ("PUT /api/providers/{id}", ADMIN),
    ("DELETE /api/providers/{id}", ADMIN),
    ("POST /api/providers/{id}/test", OPERATE),
    ("POST /api/providers/{id}/callback", ADMIN),
    ("GET /api/providers/{id}/captured", READ),
    ("POST /api/providers/{id}/hold", OPERATE),
    ("POST /api/providers/{id}/resume", OPERATE),
    ("POST /api/providers/{id}/try", OPERATE),
    ("GET /api/message-templates", READ),
    ("POST /api/message-templates", ADMIN),
    ("GET /api/message-templates/{id}", READ),
    ("PUT /api/message-templates/{id}", ADMIN),
    ("DELETE /api/message-templates/{id}", ADMIN),
    ("GET /api/message-templates/{id}/versions", READ),
    ("GET /api/message-templates/{id}/versions/{version}", READ),
    ("POST /api/message-templates/preview", READ),
    ("POST /api/message-templates/{id}/preview", READ),
    ("POST /api/message-templates/{id}/test", OPERATE),
    ("GET /api/message-templates/settings", READ),
    ("PUT /api/message-templates/settings", ADMIN),
    ("POST /api/events", SUBMIT),
    ("GET /api/events", READ),
    ("GET /api/events/{id}", READ),
    ("POST /api/events/{id}/replay", REPLAY),
    ("POST /api/events/replay", REPLAY),
    ("GET /api/event-types", READ),
    ("GET /api/event-types/{name}", READ),
    ("PUT /api/event-types/{name}", ADMIN),
    ("DELETE /api/event-types/{name}", ADMIN),
    ("GET /api/automation-schedules", READ),
    ("POST /api/automation-schedules/{id}/replay", REPLAY),
    ("POST /api/automation-schedules/replay", REPLAY),
    ("GET /api/communication-logs", READ),
    ("POST /api/bookings/{id}/resend-notification", ADMIN),
    ("POST /api/entities/{type}/{id}/resend-notification", ADMIN),
    ("GET /ops/outbox", OPS),
    ("POST /ops/outbox/{id}/replay", OPS),
    ("POST /ops/outbox/replay", OPS),
    ("POST /ops/schedules/{id}/replay", OPS),
    ("GET /api/channels", READ),
    ("PUT /api/channels/{type}", ADMIN),
    ("GET /api/suppressions", READ),
    ("POST /api/suppressions", OPERATE),
    ("DELETE /api/suppressions/{id}", OPERATE),
    ("GET /api/sites", READ),
    ("POST /api/sites", ADMIN),
    ("GET /api/sites/{id}", READ),
    ("GET /api/sites/{id}/parked", READ),
    ("POST /api/sites/{id}/parked/retry", OPERATE),
    ("POST /api/sites/{id}/parked/discard", OPERATE),
    ("POST /api/sites/{id}/parked/{messageId}/retry", OPERATE),
    ("POST /api/sites/{id}/parked/{messageId}/discard", OPERATE),
    ("GET /api/sites/{id}/waiting", READ),
    ("POST /api/sites/{id}/waiting/{messageId}/try", OPERATE),
    ("POST /api/sites/{id}/waiting/{messageId}/discard", OPERATE),
    ("GET /api/site-calls", READ),
    ("GET /api/keys", ADMIN),
    ("POST /api/keys", ADMIN),
    ("DELETE /api/keys/{id}", ADMIN),
    ("GET /api/users", ADMIN),
    ("POST /api/users", ADMIN),
    ("GET /api/users/{id}", ADMIN),
    ("PUT /api/users/{id}", ADMIN),
    ("DELETE /api/users/{id}", ADMIN),
    ("POST /api/users/{id}/link", ADMIN),
    ("GET /api/tenants", OPS),
    ("POST /api/tenants", OPS),
    ("DELETE /api/tenants/{name}", OPS),
    ("GET /api/tenants/{name}/usage", OPS),
    ("GET /api/lists/{name}/usage", READ),
    ("GET /api/providers/{id}/usage", READ),
    ("GET /api/message-templates/{id}/usage", READ),
    ("GET /api/event-types/{name}/usage", READ),
];

#[tokio::test]
async fn every_route_lets_in_exactly_the_roles_of_the_matrix() {
    let world = World::new().await;
    let document = document();
    let mut matrix: BTreeMap<_, _> = MATRIX.iter().copied().collect();
    for (method, path, operation) in operations(&document) {
        if !path.starts_with("/api/") && !path.starts_with("/ops/") {
            continue;
        }
        let route = format!("{method} {path}");
        let allowed = matrix
            .remove(route.as_str())
            .unwrap_or_else(|| panic!("{route} is not in the matrix"));
        for role in Role::ALL {
            let status = knock(
                &world,
                &method,
                &path,
                &world.key(role),
                sample_body(&document, operation),
            )
            .await;
            let let_in = ![401, 403].contains(&status);
            let wanted = allowed.split(' ').any(|name| name == role.as_str());
            assert_eq!(let_in, wanted, "{role} on {route}: {status}");
        }
        for key in ["", "wp_made_up"] {
            let status = knock(&world, &method, &path, key, sample_body(&document, operation)).await;
            assert_eq!(status, 401, "{route} with key {key:?}");
        }
    }
    assert!(matrix.is_empty(), "no such routes: {matrix:?}");
}

/// The status of an answer whose body is not waited for: a live stream has no end. What the sample would change
/// is named so that it changes nothing.
async fn knock(world: &World, method: &str, path: &str, key: &str, body: Option<serde_json::Value>) -> u16 {
    let id = "0197f6f0-0000-7000-8000-000000000001";
    let path = path
        .replace("{id}", id)
        .replace("{name}", "nope")
        .replace("{address}", "nope")
        .replace("{messageId}", "nope")
        .replace("{version}", "1");
    let mut request = Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", "application/json");
    if !key.is_empty() {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let body = body.map_or(Body::empty(), |json| Body::from(json.to_string()));
    let response = world
        .router
        .clone()
        .oneshot(request.body(body).unwrap())
        .await
        .unwrap();
    response.status().as_u16()
}

#[tokio::test]
async fn a_refusal_says_what_is_needed_and_a_missing_key_how_to_send_one() {
    let world = World::new().await;
    let forbidden = world
        .ask(
            "POST",
            "/api/lists",
            &world.key(Role::Viewer),
            Some(json!({"name": "x"})),
        )
        .await;
    assert_eq!(forbidden.problem(403), "forbidden");
    assert!(
        forbidden.text.contains("admin") && forbidden.text.contains("viewer"),
        "{}",
        forbidden.text
    );
    let missing = world.ask("GET", "/api/kpis", "", None).await;
    assert_eq!(missing.problem(401), "unauthorized");
    assert!(
        missing.headers["www-authenticate"]
            .to_str()
            .unwrap()
            .starts_with("Bearer")
    );
}

#[tokio::test]
async fn a_producer_is_answered_only_about_what_it_sent() {
    let world = World::new().await;
    let producer = world.key(Role::Producer);
    let mine = world.submitted("mine").await;
    let body = json!({"listName": "ops", "body": "x"});
    let others = world.post("/api/notifications", body).await.expect(202);
    let others = others["notificationId"].as_str().unwrap();
    let theirs = world.submitted_by(OTHER, "theirs").await;
    let status = async |id: &str| {
        world
            .ask("GET", &format!("/api/notifications/{id}/status"), &producer, None)
            .await
    };
    assert_eq!(status(&mine).await.expect(200)["status"], "Pending");
    for id in [others, &theirs, "0197f6f0-0000-7000-8000-000000000001"] {
        assert_eq!(status(id).await.problem(404), "not_found");
    }
    let whole = world
        .ask("GET", &format!("/api/notifications/{mine}"), &producer, None)
        .await;
    assert_eq!(whole.problem(403), "forbidden");
}

#[tokio::test]
async fn health_metrics_and_documentation_need_no_key() {
    let world = World::new().await;
    for path in [
        "/healthz",
        "/readyz",
        "/metrics",
        "/openapi.json",
        "/docs",
        "/docs.css",
    ] {
        assert_eq!(
            world.ask("GET", path, "", None).await.status.as_u16(),
            200,
            "{path}"
        );
    }
}
