//! What a form must carry.

use super::visitor::{Visitor, filled, location};
use crate::world::World;
use axum::http::StatusCode;
use domain::{ProviderId, TenantId};
use serde_json::json;
use store::directory::Role;
use web::{access::Access, console::routes};

#[tokio::test]
async fn a_form_without_the_sessions_secret_changes_nothing() {
    let mut world = World::new().await;
    let id = world.parked("something").await;
    let other = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    for secret in ["", "wrong", other.csrf.as_str()] {
        for route in routes() {
            if route.method != "POST" || route.access == Access::Open {
                continue;
            }
            let role = if route.access.allows(Role::Admin) {
                Role::Admin
            } else {
                Role::Ops
            };
            let mut visitor = Visitor::new(&world, TenantId::DEFAULT, role).await;
            let answer = visitor
                .post_only(&filled(&route, &id), &[("csrf", secret)], &[])
                .await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{route:?}");
        }
    }
    assert_eq!(world.status(&id).await, "Parked");
}

#[tokio::test]
async fn a_form_from_another_site_is_refused_even_with_the_secret() {
    let mut world = World::new().await;
    let id = world.parked("something").await;
    let path = format!("/notifications/{id}/discard");
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let secret = visitor.csrf.clone();
    for (header, value) in [
        ("origin", "https://evil.example"),
        ("sec-fetch-site", "cross-site"),
        ("origin", "null"),
    ] {
        let answer = visitor
            .post_only(&path, &[("csrf", &secret)], &[(header, value)])
            .await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{header}: {value}");
    }
    assert_eq!(world.status(&id).await, "Parked");
    let ours = [
        ("origin", "https://waypost.example"),
        ("sec-fetch-site", "same-origin"),
    ];
    let answer = visitor.post_only(&path, &[("csrf", &secret)], &ours).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    assert_eq!(world.status(&id).await, "Discarded");
}

#[tokio::test]
async fn a_form_that_worked_answers_with_a_redirect_so_that_reloading_does_not_repeat_it() {
    let mut world = World::new().await;
    let id = world.parked("something").await;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    for (path, fields) in [
        (format!("/notifications/{id}/retry"), vec![]),
        ("/lists".to_owned(), vec![("name", "night")]),
        (
            "/lists/night/add".to_owned(),
            vec![("address", "a@example.com"), ("type", "Email")],
        ),
        ("/providers/mail/hold".to_owned(), vec![("reason", "because")]),
        ("/providers/mail/resume".to_owned(), vec![]),
        ("/theme".to_owned(), vec![("theme", "dark"), ("back", "/lists")]),
    ] {
        let answer = visitor.post(&path, &fields).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{path}: {}", answer.text);
    }
}

#[tokio::test]
async fn an_address_for_receipts_is_shown_once_and_only_an_admin_makes_one() {
    let world = World::new().await;
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    assert!(
        admin
            .get("/providers/mail")
            .await
            .text
            .contains("id=\"make-callback\"")
    );
    let made = admin.post("/providers/mail/callback", &[]).await;
    assert_eq!(
        (made.status, location(&made)),
        (StatusCode::SEE_OTHER, "/providers/mail")
    );
    let shown = admin.get(location(&made)).await.text;
    let (_, rest) = shown.split_once("id=\"callback-url\">").unwrap();
    let (url, _) = rest.split_once('<').unwrap();
    assert!(
        url.starts_with("https://waypost.example/callbacks/mail/"),
        "{url}"
    );
    let page = admin.get("/providers/mail").await.text;
    assert!(!page.contains(url) && page.contains("Make another address"));
    let mut viewer = Visitor::new(&world, TenantId::DEFAULT, Role::Viewer).await;
    assert!(
        !viewer
            .get("/providers/mail")
            .await
            .text
            .contains("id=\"make-callback\"")
    );
    let refused = viewer.post("/providers/mail/callback", &[]).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_kept_secret_that_would_be_sent_elsewhere_is_asked_for_beside_its_field_and_can_be_removed() {
    let world = World::new().await;
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let page = admin.get("/providers/mail/edit").await.text;
    for choice in ["keep", "replace", "clear"] {
        let offered = format!("name=\"secret.settings.password\" value=\"{choice}\"");
        assert!(page.contains(&offered), "{choice}: {page}");
    }
    assert!(
        !page.contains("secret.settings.hook"),
        "nothing is kept there: {page}"
    );
    let fields = [("version", "1"), ("name", "mail"), ("enabled", "true")];
    let moved = [("settings.host", "evil.example")];
    let refused = admin
        .post("/providers/mail/edit", &[&fields[..], &moved].concat())
        .await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        refused.text.contains("id=\"settings-password-error\""),
        "{}",
        refused.text
    );
    let removed = [
        ("settings.host", "elsewhere.example"),
        ("secret.settings.password", "clear"),
    ];
    let done = admin
        .post("/providers/mail/edit", &[&fields[..], &removed].concat())
        .await;
    assert_eq!(done.status, StatusCode::SEE_OTHER, "{}", done.text);
    let id = ProviderId::new("mail");
    let stored = world.temp.store.provider(TenantId::DEFAULT, &id).await;
    assert!(stored.unwrap().unwrap().provider.secrets.is_empty());
}

#[tokio::test]
async fn a_secret_that_is_to_be_kept_is_not_replaced_by_what_was_typed_before() {
    let world = World::new().await;
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let id = ProviderId::new("mail");
    let stored = async || {
        let found = world.temp.store.provider(TenantId::DEFAULT, &id).await;
        found.unwrap().unwrap().provider.secrets
    };
    let before = stored().await;
    let fields = [
        ("version", "1"),
        ("name", "renamed"),
        ("enabled", "true"),
        ("secret.settings.password", "keep"),
        ("settings.password", "abandoned"),
    ];
    let refused = admin.post("/providers/mail/edit", &fields).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(
        refused.text.contains("id=\"settings-password-error\""),
        "{}",
        refused.text
    );
    assert_eq!(stored().await, before);
}

#[tokio::test]
async fn everything_that_is_wrong_with_a_provider_is_told_at_once_beside_its_field() {
    let world = World::new().await;
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let fields = [
        ("version", "1"),
        ("name", "mail"),
        ("order", "first"),
        ("settings.tls", "ssl"),
        ("secret.settings.password", "replace"),
        ("limits.concurrency", "0"),
    ];
    let refused = admin.post("/providers/mail/edit", &fields).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    for id in ["order", "settings-tls", "settings-password", "limits-concurrency"] {
        let error = format!("id=\"{id}-error\"");
        assert!(refused.text.contains(&error), "{id}: {}", refused.text);
    }
    let api = json!({"kind": "test-mail", "order": "first", "settings": {"tls": "ssl"}});
    let answer = world
        .ask("PUT", "/api/providers/mail", &world.key(Role::Admin), Some(api))
        .await;
    assert_eq!(answer.bad_fields(), ["order", "settings.tls"]);
}

#[tokio::test]
async fn a_test_of_a_provider_has_a_page_of_its_own_that_can_be_reloaded() {
    let world = World::new().await;
    let mut operator = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
    let sent = operator
        .post("/providers/mail/test", &[("to", "ops@example.com")])
        .await;
    assert_eq!(sent.status, StatusCode::SEE_OTHER, "{}", sent.text);
    let place = location(&sent).to_owned();
    assert!(place.starts_with("/providers/mail/tests/"), "{place}");
    for _ in 0..2 {
        let page = operator.get(&place).await;
        assert!(
            page.text.contains("It works.") && page.text.contains("ops@example.com"),
            "{}",
            page.text
        );
    }
    assert_eq!(world.mail.received().len(), 1, "reloading sends nothing");
    let mut stranger = Visitor::new(&world, TenantId(2), Role::Operator).await;
    let elsewhere = stranger.get(&place).await;
    assert!(
        !elsewhere.text.contains("It works."),
        "another tenant's provider of that name"
    );
    let gone = operator.get("/providers/mail/tests/none").await;
    assert_eq!(gone.status, StatusCode::OK);
    assert!(gone.text.contains("no longer kept"), "{}", gone.text);
    let without = operator.post("/providers/mail/test", &[]).await;
    assert_eq!(
        location(&without),
        "/providers/mail",
        "said where it was asked for"
    );
}

#[tokio::test]
async fn kinds_are_shown_by_type_and_found_by_words() {
    let world = World::new().await;
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let all = admin.get("/providers/new").await.text;
    assert!(
        all.contains("<h2>E-mail</h2>") && all.contains("data-kind=\"test-hook\""),
        "{all}"
    );
    let found = admin.get("/providers/new?q=MAIL%20test").await.text;
    assert!(
        found.contains("data-kind=\"test-mail\"") && !found.contains("data-kind=\"test-hook\""),
        "{found}"
    );
    let none = admin.get("/providers/new?q=pigeon").await.text;
    assert!(none.contains("No kind of provider is like that"), "{none}");
}

#[tokio::test]
async fn what_the_form_of_a_provider_does_not_show_it_does_not_change() {
    let world = World::new().await;
    let admin = world.key(Role::Admin);
    let with = json!({
        "kind": "test-mail",
        "retry": {"shape": "fixed", "interval": "1m", "maxAttempts": 7, "unknownRetries": 4},
    });
    let path = "/api/providers/mail";
    let before = world.ask("PUT", path, &admin, Some(with)).await.expect(200);
    assert_eq!(before["retry"]["unknownRetries"], 4);
    let version = before["version"].to_string();
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let fields = [
        ("version", version.as_str()),
        ("name", "Mail"),
        ("enabled", "true"),
        ("order", "3"),
        ("retry.shape", "fixed"),
        ("retry.interval", "1m"),
        ("retry.cap", "1m"),
        ("retry.factor", "1"),
        ("retry.jitter", "0"),
        ("retry.maxAttempts", "9"),
        ("limits.concurrency", "5"),
        ("onAmbiguous", "resend"),
    ];
    let answer = visitor.post("/providers/mail/edit", &fields).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
    let after = world.get(path).await.expect(200);
    assert_eq!(
        (&after["retry"]["maxAttempts"], &after["order"]),
        (&9.into(), &3.into())
    );
    assert_eq!(after["retry"]["unknownRetries"], 4);
}

#[tokio::test]
async fn an_address_is_checked_where_it_is_put_on_a_list() {
    let world = World::new().await;
    let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    for (address, kind) in [
        ("rubbish", "Email"),
        ("a@x.example, b@x.example", "Email"),
        ("ops@example.com", "Sms"),
        ("ops@example.com", "Webhook"),
    ] {
        let fields = [("address", address), ("type", kind)];
        let answer = visitor.post("/lists/ops/add", &fields).await;
        assert_eq!(
            answer.status,
            StatusCode::UNPROCESSABLE_ENTITY,
            "{address} {kind}"
        );
    }
    let list = world.get("/api/lists/ops").await.expect(200);
    assert_eq!(list["recipients"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn resuming_a_provider_that_is_switched_off_changes_nothing_and_says_why() {
    let world = World::new().await;
    let admin = world.key(Role::Admin);
    let off = json!({"kind": "test-mail", "enabled": false});
    world
        .ask("PUT", "/api/providers/mail", &admin, Some(off))
        .await
        .expect(200);
    for action in ["resume", "hold"] {
        let path = format!("/api/providers/mail/{action}");
        assert_eq!(world.act(&path).await.problem(409), "conflict");
        let mut visitor = Visitor::new(&world, TenantId::DEFAULT, Role::Operator).await;
        let answer = visitor.post(&format!("/providers/mail/{action}"), &[]).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        let page = visitor.get("/providers/mail").await.text;
        assert!(
            page.contains("switched off") && !page.contains("id=\"resume\""),
            "{page}"
        );
    }
    let provider = world.get("/api/providers/mail").await.expect(200);
    assert_eq!(provider["hold"]["reason"], "disabled");
}

async fn with_real_kinds() -> World {
    let outside = std::sync::Arc::new(delivery::Outside::new(std::sync::Arc::new(domain::SystemClock)));
    let real = delivery::Registry::standard(outside, delivery::Captured::default());
    World::with_kinds(real.iter().cloned().collect()).await
}

#[tokio::test]
async fn an_emptied_limit_is_none_and_one_that_was_not_shown_is_the_kinds() {
    let world = with_real_kinds().await;
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let form = admin.get("/providers/new?kind=slack").await.text;
    assert!(form.contains("Empty: no limit."), "{form}");
    let per_second = async |name: &str| {
        let provider = world.get(&format!("/api/providers/{name}")).await.expect(200);
        provider["limits"]["perSecond"].clone()
    };
    for (name, limit, stored) in [
        ("emptied", Some(""), json!(null)),
        ("typed", Some("2.5"), json!(2.5)),
        ("unshown", None, json!(1.0)),
    ] {
        let mut fields = vec![
            ("kind", "slack"),
            ("name", name),
            ("enabled", "true"),
            ("settings.url", "https://hooks.slack.com/services/T/B/x"),
        ];
        fields.extend(limit.map(|limit| ("limits.perSecond", limit)));
        let made = admin.post("/providers/new", &fields).await;
        assert_eq!(made.status, StatusCode::SEE_OTHER, "{}", made.text);
        assert_eq!(per_second(name).await, stored, "{name}");
    }
}

#[tokio::test]
async fn headers_are_rows_of_name_and_value_and_a_value_without_a_name_is_refused() {
    let world = with_real_kinds().await;
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    let form = admin.get("/providers/new?kind=webhook").await.text;
    for shown in ["Signing secret", "settings.headers.name", "On the other side"] {
        assert!(form.contains(shown), "{shown}: {form}");
    }
    let general = [
        ("kind", "webhook"),
        ("name", "Night"),
        ("enabled", "true"),
        ("settings.url", "https://example.com/hook"),
    ];
    let nameless = [("settings.headers.name", ""), ("settings.headers.value", "x")];
    let refused = admin
        .post("/providers/new", &[&general[..], &nameless].concat())
        .await;
    assert!(
        refused.text.contains("id=\"settings-headers-error\""),
        "{}",
        refused.text
    );
    let rows = [
        ("settings.headers.name", "X-Team"),
        ("settings.headers.value", "ops"),
        ("settings.headers.name", ""),
        ("settings.headers.value", ""),
        ("settings.headers.name", "X-Shift"),
        ("settings.headers.value", "night: late"),
    ];
    let made = admin
        .post("/providers/new", &[&general[..], &rows].concat())
        .await;
    assert_eq!(made.status, StatusCode::SEE_OTHER, "{}", made.text);
    let stored = world
        .temp
        .store
        .provider(TenantId::DEFAULT, &ProviderId::new("night"))
        .await;
    let opened = world
        .central
        .directory
        .open(&stored.unwrap().unwrap().provider)
        .unwrap();
    assert_eq!(
        opened["headers"],
        json!({"X-Team": "ops", "X-Shift": "night: late"})
    );
    let smtp = admin.get("/providers/new?kind=smtp").await.text;
    assert!(
        smtp.contains("data-when=\"settings.auth\" data-is=\"plain login\""),
        "a password only for logins with one: {smtp}"
    );
}

#[tokio::test]
async fn what_is_made_in_secret_is_shown_once_after_a_redirect_to_whoever_made_it() {
    let world = World::new().await;
    let mut admin = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
    for (form, fields, page, shown) in [
        (
            "/keys",
            vec![("name", "line 4"), ("role", "producer")],
            "/keys",
            "id=\"key-text\">",
        ),
        (
            "/users",
            vec![("name", "bob"), ("role", "viewer")],
            "/users",
            "id=\"link-text\">",
        ),
        ("/sites", vec![("id", "north")], "/sites", "id=\"site-key\">"),
    ] {
        let made = admin.post(form, &fields).await;
        assert_eq!(
            (made.status, location(&made)),
            (StatusCode::SEE_OTHER, page),
            "{}",
            made.text
        );
        assert!(!made.text.contains(shown));
        // Neither another page nor another person takes it away.
        assert!(!admin.get("/lists").await.text.contains(shown));
        let mut other = Visitor::new(&world, TenantId::DEFAULT, Role::Admin).await;
        assert!(!other.get(page).await.text.contains(shown), "{form}");
        assert!(admin.get(page).await.text.contains(shown), "{form}");
        assert!(
            !admin.get(page).await.text.contains(shown),
            "{form} is shown twice"
        );
    }
    // One that nobody came for is not shown to whoever comes much later.
    admin
        .post("/keys", &[("name", "late"), ("role", "producer")])
        .await;
    world.temp.clock.advance(std::time::Duration::from_secs(600));
    assert!(!admin.get("/keys").await.text.contains("id=\"key-text\">"));
}
