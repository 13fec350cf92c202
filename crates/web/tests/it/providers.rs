//! Providers: set up, changed, tried out, held; and their secrets, which never come out again.

use crate::{
    console::visitor::Visitor,
    world::{MINE, OTHER, World},
};
use axum::http::StatusCode;
use delivery::capture::CaptureKind;
use domain::{Failure, HoldReason, Outcome, ProviderId, Scope, TenantId};
use serde_json::{Value, json};
use std::sync::Arc;
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
async fn a_limit_that_the_kind_has_of_its_own_can_be_taken_off_and_stays_off() {
    let outside = Arc::new(delivery::Outside::new(Arc::new(domain::SystemClock)));
    let real = delivery::Registry::standard(outside, delivery::Captured::default());
    let world = World::with_kinds(vec![real.get("slack").unwrap().clone()]).await;
    let slack = |limits: Value| {
        json!({"id": "chat", "kind": "slack", "settings": {"url": "https://hooks.slack.com/services/T/B/x"},
               "limits": limits})
    };
    let made = world.post("/api/providers", slack(json!({}))).await.expect(201);
    assert_eq!(made["limits"]["perSecond"], json!(1.0));
    let replaced = async |limits: Value| {
        put(&world, "/api/providers/chat", slack(limits))
            .await
            .expect(200)
    };
    let without = replaced(json!({"perSecond": null})).await;
    assert_eq!(without["limits"]["perSecond"], Value::Null);
    // What was read can be sent back.
    let again = replaced(without["limits"].clone()).await;
    assert_eq!(again["limits"], without["limits"]);
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
    put(
        &world,
        "/api/providers/mail",
        json!({"settings": {"tls": "none"}}),
    )
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

/// What a viewer sees and what the database holds of it.
async fn everything_about(world: &World, id: &str) -> String {
    let shown = world
        .ask(
            "GET",
            &format!("/api/providers/{id}"),
            &world.key(Role::Viewer),
            None,
        )
        .await;
    let stored = world
        .temp
        .store
        .provider(TenantId::DEFAULT, &ProviderId::new(id))
        .await;
    format!("{} {:?}", shown.text, stored.unwrap().unwrap())
}

#[tokio::test]
async fn a_secret_under_its_dotted_name_is_sealed_like_any_other() {
    let world = World::new().await;
    let dotted = json!({"oauth.clientSecret": "hunter3", "oauth.tokenUrl": "https://id.example/token"});
    let made = world
        .post(
            "/api/providers",
            json!({"id": "dotted", "kind": "test-mail", "settings": dotted}),
        )
        .await
        .expect(201);
    let nested = json!({"oauth": {"clientSecret": "•••", "tokenUrl": "https://id.example/token"}});
    assert_eq!(made["settings"], nested);
    put(
        &world,
        "/api/providers/mail",
        json!({"settings": {"oauth.clientSecret": "hunter3", "password": "hunter2", "oauth": {"tokenUrl": "https://id.example/token"}}}),
    )
    .await
    .expect(200);
    for id in ["dotted", "mail"] {
        let all = everything_about(&world, id).await;
        assert!(!all.contains("hunter3"), "{all}");
    }
    let both = json!({"oauth.clientSecret": "hunter3", "oauth": {"clientSecret": "hunter4"}});
    let twice = world
        .post(
            "/api/providers",
            json!({"id": "both", "kind": "test-mail", "settings": both}),
        )
        .await;
    assert_eq!(twice.bad_fields(), ["settings.oauth.clientSecret"]);
}

#[tokio::test]
async fn of_a_secret_url_only_scheme_host_and_port_are_shown() {
    let world = World::new().await;
    let url = "https://user:hunter3@hooks.example.com:8443/T0KEN?key=hunter4";
    let made = world
        .post(
            "/api/providers",
            json!({"id": "hook", "kind": "test-mail", "settings": {"hook": url}}),
        )
        .await
        .expect(201);
    assert_eq!(made["settings"]["hook"], "https://hooks.example.com:8443/•••");
    let all = everything_about(&world, "hook").await;
    for secret in ["hunter3", "T0KEN", "hunter4"] {
        assert!(!all.contains(secret), "{all}");
    }
    // What was shown, sent back, keeps it; a part of it does not pass for a new one.
    let back = json!({"settings": made["settings"], "name": "Other"});
    put(&world, "/api/providers/hook", back).await.expect(200);
    world.mail.script(move |_, settings| {
        assert_eq!(settings["hook"], url);
        testkit::Reply::accepted()
    });
    let test = Some(json!({"to": "a@b"}));
    let tested = world
        .ask(
            "POST",
            "/api/providers/hook/test",
            &world.key(Role::Operator),
            test,
        )
        .await;
    assert_eq!(tested.expect(200)["ok"], true);
    let part = json!({"settings": {"hook": "https://evil.example/•••"}});
    assert_eq!(
        put(&world, "/api/providers/hook", part).await.bad_fields(),
        ["settings.hook"]
    );
}

#[tokio::test]
async fn a_kept_secret_is_asked_for_again_when_it_would_be_sent_elsewhere() {
    let world = World::new().await;
    let id = "https://id.example/token";
    let first = json!({"host": "mail.example.com", "oauth": {"tokenUrl": id, "clientSecret": "hunter3"}});
    put(&world, "/api/providers/mail", json!({"settings": first}))
        .await
        .bad_fields();
    let mut given = first.clone();
    given["password"] = "hunter2".into();
    let shown = put(&world, "/api/providers/mail", json!({"settings": given}))
        .await
        .expect(200);
    let moved = |name: &str, place: &str| {
        let mut settings = shown["settings"].clone();
        match name {
            "host" => settings["host"] = place.into(),
            _ => settings["oauth"]["tokenUrl"] = place.into(),
        }
        settings
    };
    // Sent back as they were shown, or left out: either way they are kept.
    let elsewhere = moved("host", "evil.example");
    let refused = put(&world, "/api/providers/mail", json!({"settings": elsewhere})).await;
    assert_eq!(refused.bad_fields(), ["settings.password"]);
    assert!(refused.text.contains("given again"), "{}", refused.text);
    let elsewhere = moved("oauth.tokenUrl", "https://evil.example/token");
    let refused = put(&world, "/api/providers/mail", json!({"settings": elsewhere})).await;
    assert_eq!(
        refused.bad_fields(),
        ["settings.password", "settings.oauth.clientSecret"]
    );
    let refused = put(
        &world,
        "/api/providers/mail",
        json!({"settings": {"host": "evil.example"}}),
    )
    .await;
    assert_eq!(
        refused.bad_fields(),
        ["settings.password", "settings.oauth.clientSecret"],
        "the token's address is gone as well"
    );
    let mut again = moved("host", "new.example.com");
    again["password"] = "hunter2".into();
    put(&world, "/api/providers/mail", json!({"settings": again}))
        .await
        .expect(200);
}

#[tokio::test]
async fn an_optional_secret_is_removed_by_null() {
    let world = World::new().await;
    let gone = put(
        &world,
        "/api/providers/mail",
        json!({"settings": {"password": null, "oauth": null, "host": "elsewhere.example"}}),
    )
    .await
    .expect(200);
    assert_eq!(gone["settings"].get("password"), None, "{gone}");
    let id = ProviderId::new("mail");
    let stored = world.temp.store.provider(TenantId::DEFAULT, &id).await;
    assert!(stored.unwrap().unwrap().provider.secrets.is_empty());
}

#[tokio::test]
async fn a_test_of_a_provider_is_on_record_with_who_made_it() {
    let world = World::new().await;
    for (outcome, status) in [
        (Outcome::Delivered(Default::default()), "Delivered"),
        (
            Failure::permanent(Scope::Message, "SMTP_550", "no such user").into(),
            "Failed",
        ),
    ] {
        world.mail.answers(outcome);
        world
            .ask(
                "POST",
                "/api/providers/mail/test",
                &world.key(Role::Operator),
                Some(json!({"to": "a@example.com"})),
            )
            .await
            .expect(200);
        let log = world.get("/api/audit?kind=ProviderTested").await.expect(200);
        let newest = &log["items"][0];
        assert_eq!(
            (&newest["status"], &newest["actor"], &newest["target"]),
            (&json!(status), &json!("key:operator"), &json!("mail"))
        );
        assert!(
            newest["detail"].as_str().unwrap().starts_with("a@example.com"),
            "{newest}"
        );
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
    assert_eq!(
        (&mail["type"], &mail["setup"]),
        (&json!("Email"), &json!("Nothing."))
    );
    let password = mail["settings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["name"] == "password")
        .unwrap();
    assert_eq!(
        (&password["secret"], &password["type"], &password["label"]),
        (&json!(true), &json!("text"), &json!("Password"))
    );
}

/// Sends through the capture provider `cap` of this tenant.
async fn captured(world: &mut World, tenant: &'static str, subject: &str) {
    let key = world.key_of(tenant, Role::Admin);
    let body = json!({"providerId": "cap", "subject": subject, "body": "<b>text</b>"});
    world
        .ask("POST", "/api/notifications", &key, Some(body))
        .await
        .expect(202);
    world.dispatcher.sweep().await.unwrap();
}

#[tokio::test]
async fn what_a_capture_provider_kept_is_its_tenants_alone_and_comes_in_pages() {
    let mut world = World::with_kinds(vec![Arc::new(CaptureKind::default())]).await;
    for tenant in [MINE, OTHER] {
        let key = world.key_of(tenant, Role::Admin);
        let provider = json!({"id": "cap", "kind": "capture"});
        world
            .ask("POST", "/api/providers", &key, Some(provider))
            .await
            .expect(201);
    }
    captured(&mut world, OTHER, "theirs").await;
    for subject in ["one", "two", "three"] {
        captured(&mut world, MINE, subject).await;
    }
    let page = world.get("/api/providers/cap/captured?limit=2").await.expect(200);
    let subjects = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap();
        items
            .iter()
            .map(|m| m["subject"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(subjects(&page), ["three", "two"]);
    let next = page["nextCursor"].as_str().unwrap();
    let rest = world
        .get(&format!("/api/providers/cap/captured?cursor={next}"))
        .await
        .expect(200);
    assert_eq!(
        (subjects(&rest), &rest["nextCursor"]),
        (vec!["one".to_owned()], &Value::Null)
    );

    // New settings do not forget what was captured under the old ones.
    let changed = json!({"kind": "capture", "name": "Trap"});
    let admin = world.key(Role::Admin);
    world
        .ask("PUT", "/api/providers/cap", &admin, Some(changed))
        .await
        .expect(200);
    captured(&mut world, MINE, "four").await;
    let page = world.get("/api/providers/cap/captured").await.expect(200);
    assert_eq!(subjects(&page).len(), 4);

    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    let shown = visitor.get("/providers/cap/captured").await;
    assert_eq!(shown.status, 200);
    assert!(shown.text.contains("three") && !shown.text.contains("theirs"));
    assert!(!shown.text.contains("<b>text"), "what was sent stays text");
    let mail = world.get("/api/providers/mail/captured").await;
    assert_eq!(mail.problem(409), "conflict");
}

/// Answers one request with `thanks`.
async fn a_receiver() -> std::net::SocketAddr {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 16 << 10]).await;
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nthanks";
        let _ = stream.write_all(answer).await;
    });
    address
}

#[tokio::test]
async fn a_test_tells_what_was_sent_and_what_came_back_without_secrets() {
    let clock = Arc::new(domain::SystemClock);
    let outside = delivery::Outside::new(clock).allowing(vec!["127.0.0.0/8".parse().unwrap()]);
    let registry = delivery::Registry::standard(Arc::new(outside), delivery::Captured::default());
    let world = World::with_kinds(vec![registry.get("webhook").unwrap().clone()]).await;
    let key = world.key(Role::Admin);
    let url = format!("http://{}/hooks/T0KEN-IN-PATH", a_receiver().await);
    let provider = json!({"id": "real", "kind": "webhook", "settings": {"url": url}});
    world
        .ask("POST", "/api/providers", &key, Some(provider))
        .await
        .expect(201);
    let tested = world
        .ask("POST", "/api/providers/real/test", &key, Some(json!({})))
        .await
        .expect(200);
    assert_eq!(tested["ok"], true, "{tested}");
    let parts = tested["transcript"].as_array().unwrap();
    let sides: Vec<_> = parts.iter().map(|part| part["side"].as_str().unwrap()).collect();
    assert_eq!(sides, ["sent", "received"]);
    assert!(
        parts[0]["text"].as_str().unwrap().contains("Waypost test"),
        "{tested}"
    );
    assert!(parts[1]["text"].as_str().unwrap().ends_with("thanks"), "{tested}");
    assert!(!tested.to_string().contains("T0KEN-IN-PATH"), "{tested}");
}
