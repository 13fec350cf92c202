//! Tenants are kept apart: a walk over every route with the other tenant's keys, and how `ops` chooses.

use crate::{
    openapi::{document, operations, sample_body},
    world::{MINE, OTHER, World},
};
use serde_json::{Value, json};
use store::directory::Role;

/// Stands in everything the first tenant owns.
const MARK: &str = "zebra";

struct Owned {
    notifications: Vec<String>,
    job: String,
    key: String,
    template: String,
    suppression: String,
}

/// Fills the first tenant with one of everything.
async fn fill(world: &mut World) -> Owned {
    world
        .post(
            "/api/lists",
            json!({"name": MARK, "recipients": [{"address": "zebra@example.com"}]}),
        )
        .await
        .expect(201);
    world
        .post(
            "/api/providers",
            json!({"id": MARK, "name": "zebra hook", "kind": "test-hook"}),
        )
        .await
        .expect(201);
    let key = world
        .post("/api/keys", json!({"name": "zebra key", "role": "viewer"}))
        .await
        .expect(201);
    let template = json!({"eventType": "zebra.seen", "channel": "Email", "body": "zebra {{name}}"});
    let template = world.post("/api/message-templates", template).await.expect(201);
    let suppression = json!({"address": "zebra@example.com", "channel": "Sms"});
    let suppression = world.post("/api/suppressions", suppression).await.expect(201);
    let notifications = vec![
        world.parked("zebra parked").await,
        world.delivered("zebra delivered").await,
        world.submitted("zebra waiting").await,
    ];
    let job = world
        .post("/api/notifications/retry", json!({"filter": {"q": MARK}}))
        .await
        .expect(202);
    Owned {
        notifications,
        job: job["id"].as_str().unwrap().to_owned(),
        key: key["id"].to_string(),
        template: template["id"].to_string(),
        suppression: suppression["id"].to_string(),
    }
}

/// Everything the first tenant can see of itself.
async fn snapshot(world: &World, owned: &Owned) -> Vec<Value> {
    let admin = world.key(Role::Admin);
    let mut paths = vec![
        "/api/lists".into(),
        "/api/providers".into(),
        "/api/channels".into(),
        "/api/keys".into(),
        "/api/message-templates".into(),
        "/api/suppressions".into(),
        format!("/api/message-templates/{}", owned.template),
        "/api/notifications".into(),
    ];
    paths.extend(
        owned
            .notifications
            .iter()
            .map(|id| format!("/api/notifications/{id}")),
    );
    paths.push(format!("/api/jobs/{}", owned.job));
    let mut seen = vec![];
    for path in paths {
        seen.push(world.ask("GET", &path, &admin, None).await.expect(200));
    }
    seen
}

/// The path with the first tenant's ids in its places, once for each notification.
fn filled_in(path: &str, owned: &Owned) -> Vec<String> {
    let named = path
        .replace("{name}", MARK)
        .replace("{address}", "zebra@example.com")
        .replace("{messageId}", "zebra")
        .replace("{version}", "1")
        .replace("{n}", "1");
    if named.starts_with("/api/notifications/{id}") {
        return owned
            .notifications
            .iter()
            .map(|id| named.replace("{id}", id))
            .collect();
    }
    let id = match path {
        _ if path.starts_with("/api/jobs/") => &owned.job,
        _ if path.starts_with("/api/keys/") => &owned.key,
        _ if path.starts_with("/api/message-templates/") => &owned.template,
        _ if path.starts_with("/api/suppressions/") => &owned.suppression,
        _ => MARK,
    };
    vec![named.replace("{id}", id)]
}

/// The one route that makes what its path names: in the caller's own tenant, whatever others have.
const MAKES_ONES_OWN: &str = "PUT /api/event-types/{name}";

#[tokio::test]
async fn no_route_shows_or_touches_another_tenants_rows() {
    let mut world = World::new().await;
    let owned = fill(&mut world).await;
    let before = snapshot(&world, &owned).await;
    let document = document();
    let mut asked = 0;
    for (method, path, operation) in operations(&document) {
        let route = format!("{method} {path}");
        if path == "/api/stream" || !path.starts_with("/api/") || route == MAKES_ONES_OWN {
            continue;
        }
        for role in Role::ALL.into_iter().filter(|role| *role != Role::Ops) {
            for target in filled_in(&path, &owned) {
                let body = sample_body(&document, operation);
                let answer = world
                    .ask(&method, &target, &world.key_of(OTHER, role), body)
                    .await;
                asked += 1;
                assert!(
                    !answer.text.contains(MARK),
                    "{role} {method} {target}: {}",
                    answer.text
                );
                if path.contains('{') {
                    let status = answer.status.as_u16();
                    assert!(
                        [403, 404].contains(&status),
                        "{role} {method} {target}: {}",
                        answer.text
                    );
                }
            }
        }
    }
    assert!(asked > 200, "{asked}");
    assert_eq!(snapshot(&world, &owned).await, before);
}

#[tokio::test]
async fn the_other_tenants_admin_gets_a_plain_404_for_every_id() {
    let mut world = World::new().await;
    let owned = fill(&mut world).await;
    let document = document();
    for (method, path, operation) in operations(&document) {
        // Tenants themselves belong to none of them: an admin may not even ask.
        if !path.starts_with("/api/") || !path.contains('{') || path.starts_with("/api/tenants/") {
            continue;
        }
        if format!("{method} {path}") == MAKES_ONES_OWN {
            continue;
        }
        for target in filled_in(&path, &owned) {
            let body = sample_body(&document, operation);
            let answer = world
                .ask(&method, &target, &world.key_of(OTHER, Role::Admin), body)
                .await;
            assert_eq!(answer.problem(404), "not_found", "{method} {target}");
        }
    }
}

#[tokio::test]
async fn an_event_type_that_one_tenant_puts_is_not_the_others_of_the_same_name() {
    let world = World::new().await;
    let path = "/api/event-types/booking.confirmed";
    let admin = |tenant| world.key_of(tenant, Role::Admin);
    let mine = Some(json!({"dedupe": "entity"}));
    world.ask("PUT", path, &admin(MINE), mine).await.expect(200);
    world.ask("GET", path, &admin(OTHER), None).await.expect(404);
    let theirs = Some(json!({"dedupe": "event"}));
    world.ask("PUT", path, &admin(OTHER), theirs).await.expect(200);
    let kept = world.ask("GET", path, &admin(MINE), None).await.expect(200);
    assert_eq!((&kept["dedupe"], &kept["version"]), (&json!("entity"), &json!(1)));
}

#[tokio::test]
async fn the_same_names_in_two_tenants_are_two_things() {
    let world = World::new().await;
    for tenant in [MINE, OTHER] {
        let key = world.key_of(tenant, Role::Admin);
        let body = json!({"listName": "ops", "body": "x", "idempotencyKey": "order-7"});
        let answer = world
            .ask("POST", "/api/notifications", &key, Some(body))
            .await
            .expect(202);
        assert_eq!(answer["duplicate"], false, "{tenant}");
    }
    assert_eq!(world.rows().await, 1);
}

#[tokio::test]
async fn ops_chooses_a_tenant_and_the_others_may_only_name_their_own() {
    let world = World::new().await;
    let theirs = world.submitted_by(OTHER, "theirs").await;
    let path = format!("/api/notifications/{theirs}");
    let with_tenant = |key: String, tenant: &str| {
        axum::http::Request::get(&path)
            .header("authorization", format!("Bearer {key}"))
            .header("waypost-tenant", tenant)
            .body(axum::body::Body::empty())
            .unwrap()
    };
    let ops = world.key(Role::Ops);
    assert_eq!(
        world.ask("GET", &path, &ops, None).await.problem(404),
        "not_found"
    );
    assert_eq!(
        world.send(with_tenant(ops.clone(), OTHER)).await.expect(200)["subject"],
        "theirs"
    );
    let by_query = world
        .ask("GET", &format!("{path}?tenant={OTHER}"), &ops, None)
        .await;
    assert_eq!(by_query.expect(200)["subject"], "theirs");
    assert_eq!(
        world.send(with_tenant(ops, "nobody")).await.problem(404),
        "not_found"
    );
    for tenant in [OTHER, "nobody"] {
        let answer = world.send(with_tenant(world.key(Role::Admin), tenant)).await;
        assert_eq!(answer.problem(403), "forbidden", "{tenant}");
    }
    world
        .send(with_tenant(world.key_of(OTHER, Role::Viewer), OTHER))
        .await
        .expect(200);
}

#[tokio::test]
async fn a_tenant_is_made_with_its_first_key() {
    let world = World::new().await;
    let ops = world.key(Role::Ops);
    let body = json!({"name": "acme", "adminKey": "first"});
    let made = world
        .ask("POST", "/api/tenants", &ops, Some(body.clone()))
        .await
        .expect(201);
    assert_eq!(
        (&made["name"], &made["adminKey"]["role"]),
        (&json!("acme"), &json!("admin"))
    );
    let key = made["adminKey"]["key"].as_str().unwrap();
    let lists = world.ask("GET", "/api/lists", key, None).await.expect(200);
    assert_eq!(lists["items"], json!([]));
    assert_eq!(
        world
            .ask("POST", "/api/tenants", &ops, Some(body))
            .await
            .problem(409),
        "conflict"
    );
    let bare = world
        .ask("POST", "/api/tenants", &ops, Some(json!({"name": "zeta"})))
        .await
        .expect(201);
    assert_eq!(bare["adminKey"], Value::Null);
    let bad = world
        .ask(
            "POST",
            "/api/tenants",
            &ops,
            Some(json!({"name": "a b", "adminKey": "", "x": 1})),
        )
        .await;
    let mut named = bad.bad_fields();
    named.sort_unstable();
    assert_eq!(named, ["adminKey", "name", "x"]);
    let listed = world.ask("GET", "/api/tenants", &ops, None).await;
    assert!(!listed.text.contains(key));
}

#[tokio::test]
async fn a_tenant_goes_only_when_nothing_hangs_on_it_and_is_told_what_does() {
    let world = World::new().await;
    let ops = world.key(Role::Ops);
    let admin = world.key_of(OTHER, Role::Admin);
    let remove = || world.ask("DELETE", "/api/tenants/other", &ops, None);
    let refused = remove().await;
    assert_eq!(refused.problem(409), "conflict");
    assert!(refused.text.contains("1 provider"), "{}", refused.text);

    world
        .ask("DELETE", "/api/providers/mail", &admin, None)
        .await
        .expect(204);
    let submission = json!({"listName": "ops", "subject": "a", "body": "b"});
    let sent = world
        .ask("POST", "/api/notifications", &admin, Some(submission.clone()))
        .await
        .expect(202);
    let refused = remove().await;
    assert_eq!(refused.problem(409), "conflict");
    assert!(
        refused.text.contains("1 waiting notification"),
        "{}",
        refused.text
    );

    let cancel = format!(
        "/api/notifications/{}/cancel",
        sent["notificationId"].as_str().unwrap()
    );
    world.ask("POST", &cancel, &admin, None).await.expect(200);
    remove().await.expect(204);
    assert_eq!(remove().await.problem(404), "not_found");
    let late = world
        .ask("POST", "/api/notifications", &admin, Some(submission))
        .await;
    assert_eq!(late.problem(401), "unauthorized");
    let listed = world.ask("GET", "/api/tenants", &ops, None).await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let first = world.ask("DELETE", "/api/tenants/default", &ops, None).await;
    assert_eq!(first.problem(409), "conflict");
}
