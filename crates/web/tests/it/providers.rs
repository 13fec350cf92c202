//! Providers: set up, changed, tried out, held; and their secrets, which never come out again.

use crate::world::World;
use axum::http::StatusCode;
use domain::{Failure, HoldReason, Outcome, Scope};
use serde_json::{Value, json};
use store::directory::Role;

async fn put(world: &World, path: &str, body: Value) -> crate::world::Answer {
    world.ask("PUT", path, &world.key(Role::Admin), Some(body)).await
}

#[tokio::test]
async fn a_provider_is_set_up_with_its_kinds_defaults() {
    let world = World::new().await;
    let made = world
        .post(
            "/api/providers",
            json!({"name": "Main mail", "kind": "test-mail"}),
        )
        .await;
    let provider = made.expect(201);
    assert_eq!(made.headers["location"], "/api/providers/main-mail");
    assert_eq!(
        (&provider["id"], &provider["type"]),
        (&json!("main-mail"), &json!("Email"))
    );
    assert_eq!(
        (&provider["enabled"], &provider["order"]),
        (&json!(true), &json!(0))
    );
    assert_eq!(
        (&provider["retry"]["shape"], &provider["retry"]["maxAttempts"]),
        (&json!("fixed"), &json!(10))
    );
    assert_eq!(
        (&provider["onAmbiguous"], &provider["hold"]),
        (&json!("resend"), &Value::Null)
    );
    let twice = world
        .post("/api/providers", json!({"id": "main-mail", "kind": "test-mail"}))
        .await;
    assert_eq!(twice.problem(409), "conflict");
}

#[tokio::test]
async fn what_is_left_out_of_retry_is_the_kinds_default() {
    let world = World::new().await;
    let body =
        json!({"id": "m2", "kind": "test-mail", "retry": {"maxAttempts": 3}, "limits": {"perSecond": 2.5}});
    let provider = world.post("/api/providers", body).await.expect(201);
    let wanted = (&json!("fixed"), &json!("1m"), &json!(3));
    assert_eq!(
        (
            &provider["retry"]["shape"],
            &provider["retry"]["interval"],
            &provider["retry"]["maxAttempts"]
        ),
        wanted
    );
    assert_eq!(
        (
            &provider["limits"]["perSecond"],
            &provider["limits"]["concurrency"]
        ),
        (&json!(2.5), &json!(32))
    );
}

#[tokio::test]
async fn every_bad_field_of_a_provider_is_named() {
    let world = World::new().await;
    let bad = json!({"kind": "test-mail", "enabled": 1, "retry": {"tries": 3, "interval": "soon"}, "colour": "red"});
    let mut named = world.post("/api/providers", bad).await.bad_fields();
    named.sort_unstable();
    assert_eq!(named, ["colour", "enabled", "retry.interval", "retry.tries"]);
    let deep = json!({"kind": "test-mail", "id": "a b", "settings": {"tls": "maybe", "password": 7},
                      "retry": {"maxAttempts": 0}, "limits": {"concurrency": 0}});
    let mut named = world.post("/api/providers", deep).await.bad_fields();
    named.sort_unstable();
    let wanted = [
        "id",
        "limits.concurrency",
        "retry.maxAttempts",
        "settings.password",
        "settings.tls",
    ];
    assert_eq!(named, wanted);
    assert_eq!(
        world
            .post("/api/providers", json!({"kind": "pigeon"}))
            .await
            .bad_fields(),
        ["kind"]
    );
    assert_eq!(
        world
            .post("/api/providers", json!({"id": "x"}))
            .await
            .bad_fields(),
        ["kind"]
    );
}

#[tokio::test]
async fn secrets_appear_in_no_answer_and_survive_a_round_trip() {
    let mut world = World::new().await;
    world.mail.script(|_, settings| {
        assert_eq!(settings["password"], "hunter2", "the adapter gets the real one");
        testkit::Reply::accepted()
    });
    let shown = world.get("/api/providers/mail").await.expect(200);
    assert_eq!(shown["settings"]["password"], "•••");
    // What was read can be sent back: version, type and hold included.
    let back = put(&world, "/api/providers/mail", shown.clone()).await;
    assert_eq!(back.expect(200)["settings"]["password"], "•••");
    put(&world, "/api/providers/mail", json!({"settings": {"host": "h"}}))
        .await
        .expect(200);
    let held = world.act("/api/providers/mail/hold").await;
    held.expect(200);
    let resumed = world.act("/api/providers/mail/resume").await;
    let tested = world
        .ask(
            "POST",
            "/api/providers/mail/test",
            &world.key(Role::Operator),
            Some(json!({"to": "a@b"})),
        )
        .await;
    assert_eq!(tested.expect(200)["ok"], true);
    let id = world.submitted("x").await;
    world.dispatcher.sweep().await.unwrap();
    assert_eq!(world.status(&id).await, "Delivered");
    let refused = put(
        &world,
        "/api/providers/mail",
        json!({"settings": {"password": "hunter2", "tls": "maybe"}}),
    )
    .await;
    assert_eq!(refused.problem(422), "validation_failed");
    for answer in [back, held, resumed, tested, refused] {
        assert!(!answer.text.contains("hunter2"), "{}", answer.text);
    }
    for path in [
        "/api/providers",
        "/api/providers/mail",
        "/api/audit?limit=1000",
        "/api/lanes",
        "/api/provider-kinds",
    ] {
        let answer = world.get(path).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert!(!answer.text.contains("hunter2"), "{path}");
    }
}

#[tokio::test]
async fn a_change_in_between_is_told_by_the_version() {
    let world = World::new().await;
    let version = world.get("/api/providers/mail").await.expect(200)["version"].clone();
    put(
        &world,
        "/api/providers/mail",
        json!({"name": "A", "version": version}),
    )
    .await
    .expect(200);
    let late = put(
        &world,
        "/api/providers/mail",
        json!({"name": "B", "version": version}),
    )
    .await;
    assert_eq!(late.problem(409), "conflict");
    assert_eq!(
        put(&world, "/api/providers/nope", json!({})).await.problem(404),
        "not_found"
    );
    assert_eq!(
        put(&world, "/api/providers/mail", json!({"id": "x"}))
            .await
            .bad_fields(),
        ["id"]
    );
    assert_eq!(
        put(&world, "/api/providers/mail", json!({"kind": "test-hook"}))
            .await
            .bad_fields(),
        ["kind"]
    );
}

#[tokio::test]
async fn a_test_tells_what_the_far_end_said() {
    let world = World::new().await;
    let test = async |body| {
        world
            .ask(
                "POST",
                "/api/providers/mail/test",
                &world.key(Role::Operator),
                body,
            )
            .await
    };
    let to = Some(json!({"to": "a@example.com"}));
    let fine = test(to.clone()).await.expect(200);
    assert_eq!(
        (&fine["ok"], &fine["outcome"]),
        (&json!(true), &json!("Delivered"))
    );
    let refusal = Failure::permanent(Scope::Lane, "SMTP_535", "bad credentials").holding(HoldReason::Auth);
    world.mail.answers(Outcome::Failed(refusal));
    let refused = test(to).await.expect(200);
    assert_eq!(
        (&refused["ok"], &refused["code"]),
        (&json!(false), &json!("SMTP_535"))
    );
    assert_eq!(
        (&refused["outcome"], &refused["hold"]),
        (&json!("Permanent"), &json!("auth"))
    );
    assert!(refused["durationMs"].is_u64());
    // Somebody to send to is missing.
    assert_eq!(test(None).await.problem(422), "validation_failed");
    assert_eq!(test(Some(json!({"too": "x"}))).await.bad_fields(), ["too"]);
    assert_eq!(
        world.act("/api/providers/nope/test").await.problem(404),
        "not_found"
    );
    assert_eq!(world.rows().await, 0, "a test leaves no notification");
}

#[tokio::test]
async fn a_held_provider_keeps_its_notifications_until_it_is_resumed() {
    let mut world = World::new().await;
    let why = Some(json!({"reason": "maintenance"}));
    let held = world
        .ask(
            "POST",
            "/api/providers/mail/hold",
            &world.key(Role::Operator),
            why,
        )
        .await
        .expect(200);
    assert_eq!(
        (&held["hold"]["reason"], &held["hold"]["detail"]),
        (&json!("operator"), &json!("maintenance"))
    );
    let id = world.submitted("x").await;
    world.dispatcher.sweep().await.unwrap();
    assert_eq!(world.status(&id).await, "Pending");
    let busy = world
        .ask("DELETE", "/api/providers/mail", &world.key(Role::Admin), None)
        .await;
    assert_eq!(busy.problem(409), "conflict");
    let resumed = world.act("/api/providers/mail/resume").await.expect(200);
    assert_eq!(resumed["hold"], Value::Null);
    world.dispatcher.sweep().await.unwrap();
    assert_eq!(world.status(&id).await, "Delivered");
    world
        .ask("DELETE", "/api/providers/mail", &world.key(Role::Admin), None)
        .await
        .expect(204);
    assert_eq!(world.get("/api/providers/mail").await.problem(404), "not_found");
    for action in ["hold", "resume"] {
        assert_eq!(
            world
                .act(&format!("/api/providers/mail/{action}"))
                .await
                .problem(404),
            "not_found"
        );
    }
}

#[tokio::test]
async fn kinds_say_which_settings_they_take() {
    let world = World::new().await;
    let kinds = world.get("/api/provider-kinds").await.expect(200);
    let mail = kinds["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|k| k["kind"] == "test-mail")
        .unwrap();
    assert_eq!(mail["type"], "Email");
    let password = mail["settings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["name"] == "password")
        .unwrap();
    assert_eq!(
        (&password["secret"], &password["type"]),
        (&json!(true), &json!("text"))
    );
}
