//! Markup and script from outside are shown as text, wherever they come in and wherever they come out. The page's
//! policy would keep them from running; it is switched off here, so that the escaping alone has to hold.

use super::{Browser, Scripts, World, until};
use crate::{
    node::KEY,
    site_agent::{AgentProcess, SiteSetup},
};
use client::{List, ProviderDraft, Recipient};
use domain::Status;
use serde_json::{Value, json};
use simulator::{HttpOptions, HttpReceiver, http::HttpRule};
use store::Users;

/// Tries to leave an attribute, a tag and a text; runs if it is taken for markup anywhere.
const PLANTED: &str = r#"'"></title></textarea><img src=x data-planted onerror="window.planted=1"><script data-planted>window.planted=1</script>"#;

/// As part of an address.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Whether anything of it came to life.
async fn is_harmless(browser: &Browser, path: &str) {
    let ran = browser.run("return window.planted === undefined").await;
    assert_eq!(ran, true, "script ran at {path}");
    let alive = browser.count("[data-planted], [onerror]").await;
    assert_eq!(alive, 0, "markup came to life at {path}");
}

/// Sends JSON to the API from within the page.
async fn post(browser: &Browser, path: &str, body: Value) -> Value {
    let script = format!(
        "const done = arguments[arguments.length - 1];\
         fetch({path:?}, {{ method: 'POST', body: JSON.stringify({body}), \
         headers: {{ 'content-type': 'application/json', authorization: 'Bearer {KEY}' }} }})\
         .then((answer) => answer.json()).then(done, (e) => done(String(e)));"
    );
    browser.run_async(&script).await
}

/// A notification with markup in every field that takes text.
async fn submitted(browser: &Browser) -> String {
    let answer = post(
        browser,
        "/api/notifications",
        json!({
            "providerId": "hook", "subject": PLANTED, "body": PLANTED, "bodyHtml": PLANTED,
            "typeData": { PLANTED: PLANTED }, "ruleName": PLANTED, "runId": PLANTED,
            "entityType": PLANTED, "entityId": PLANTED, "sourceSiteId": PLANTED, "sourceInstanceId": PLANTED,
            "sourceScript": PLANTED, "originExecutionId": PLANTED, "originParentExecutionId": PLANTED,
            "idempotencyKey": PLANTED, "siteEnqueuedAt": "2026-01-01T00:00:00Z",
        }),
    )
    .await;
    let id = answer["notificationId"].as_str();
    id.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// An event with markup in everything but its name, which takes none.
async fn emitted(browser: &Browser) -> String {
    let event = json!({
        "eventType": "planted", "entityType": PLANTED, "entityId": PLANTED, "topic": PLANTED,
        "correlationId": PLANTED, "payload": { PLANTED: PLANTED },
    });
    let answer = post(browser, "/api/events", event).await;
    let id = answer["eventId"].as_str();
    id.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

async fn plant_settings(world: &World) {
    let client = &world.node.client;
    let member = Recipient {
        name: Some(PLANTED.into()),
        address: PLANTED.into(),
        // A type whose addresses may be anything.
        channel: Some(client::Channel::Capture),
        enabled: true,
    };
    let list = List {
        name: PLANTED.into(),
        recipients: vec![member],
    };
    client.create_list(&list).await.unwrap();
    let settings = json!({ "url": world.hook.url("/x?q='%22%3E"), "headers": { "X-Planted": PLANTED } });
    let draft = ProviderDraft {
        id: Some("planted".into()),
        name: Some(PLANTED.into()),
        kind: "webhook".into(),
        settings: settings.as_object().cloned().unwrap(),
        ..ProviderDraft::default()
    };
    client.create_provider(&draft).await.unwrap();
    client.hold_provider("planted", Some(PLANTED)).await.unwrap();
    client.create_key(PLANTED, "viewer").await.unwrap();
    world.user(&["add", PLANTED, "--role", "admin"], "");
}

/// A site whose far end answers with markup, so that it is parked there with it.
async fn plant_site(world: &World, erp: &HttpReceiver) -> AgentProcess {
    erp.on(HttpRule::status(400).body(PLANTED));
    let setup = SiteSetup {
        id: "north".into(),
        folder: world.folder().into(),
        central: format!("http://{}", world.node.link),
        key: world.node.client.register_site("north").await.unwrap().key,
        more: format!("[[site.system]]\nname = \"erp\"\nbase_url = {:?}\n", erp.url("/")),
    };
    let agent = AgentProcess::start(&setup).await;
    let path = format!("/{}", PLANTED.replace(' ', "%20"));
    agent
        .site
        .call("erp")
        .post(path)
        .already_tried()
        .send()
        .await
        .unwrap();
    until("central to know of the call", async || {
        !world.node.client.site_calls("north").await.unwrap().is_empty()
    })
    .await;
    until("the site to say what is parked", async || {
        let site = world.node.client.site("north").await.unwrap();
        site.report.is_some_and(|report| report.parked == 1)
    })
    .await;
    agent
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn markup_from_anywhere_is_shown_as_text_everywhere() {
    let world = World::start().await;
    let erp = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    plant_settings(&world).await;
    let _agent = plant_site(&world, &erp).await;
    let browser = world.signed_in_as(PLANTED, Scripts::On).await;
    browser
        .devtools("Page.setBypassCSP", json!({ "enabled": true }))
        .await;
    world.hook.on(HttpRule::status(400).body(PLANTED));
    let id = submitted(&browser).await;
    world.comes_to_be(id.parse().unwrap(), Status::Parked).await;
    let event = emitted(&browser).await;

    let user = world.store.user_by_name(PLANTED).await.unwrap().unwrap().id;
    let q = encoded(PLANTED);
    for path in [
        "/".to_owned(),
        "/notifications".to_owned(),
        format!("/notifications?q={q}&site={q}&list={q}&errorCode={q}&provider={q}&type={q}&from={q}"),
        format!("/notifications?entityType={q}&entityId={q}&executionId={q}"),
        format!("/notifications?status={q}"),
        format!("/notifications/{id}"),
        "/sites".to_owned(),
        format!("/sites/{q}"),
        "/sites/north".to_owned(),
        "/providers".to_owned(),
        "/providers/planted".to_owned(),
        "/providers/planted/edit".to_owned(),
        format!("/providers/new?kind={q}"),
        "/lists".to_owned(),
        format!("/lists/{q}"),
        format!("/send?list={q}"),
        "/events".to_owned(),
        format!("/events?eventType={q}&entityId={q}"),
        format!("/events?status={q}"),
        format!("/events/{event}"),
        "/schedules".to_owned(),
        format!("/communications?entityType={q}&entityId={q}"),
        "/audit".to_owned(),
        format!("/audit?actor={q}&kind={q}"),
        "/keys".to_owned(),
        "/users".to_owned(),
        format!("/users/{user}"),
        "/loops".to_owned(),
        "/account".to_owned(),
        format!("/{q}"),
        format!("/?span={q}"),
    ] {
        browser.open(&path).await;
        is_harmless(&browser, &path).await;
    }
    // Where it must be seen, it is seen, letter by letter.
    for (path, css) in [
        (format!("/notifications/{id}"), "h1"),
        (format!("/notifications/{id}"), "#content pre"),
        (format!("/notifications/{id}"), "#last-error"),
        (format!("/events/{event}"), "#payload"),
        (format!("/events/{event}"), "h1"),
        ("/sites/north".to_owned(), "#parked .far-end"),
        ("/providers/planted".to_owned(), "#health"),
        (format!("/lists/{q}"), "#recipients th[scope=row]"),
    ] {
        browser.open(&path).await;
        browser
            .shows(css, "<script data-planted>window.planted=1</script>")
            .await;
    }
    bulk_is_harmless(&browser).await;
    test_send_is_harmless(&browser).await;
    changes_are_harmless(&world, &browser).await;
}

/// The question before a bulk action, and the messages after one.
async fn bulk_is_harmless(browser: &Browser) {
    browser
        .open(&format!("/notifications?status=Parked&q={}", encoded("planted")))
        .await;
    browser.click("#notifications input[name=id]").await;
    browser.click("#discard-selected").await;
    browser.shows("#confirm-yes", "Yes, discard").await;
    is_harmless(browser, "the question before a bulk action").await;
}

async fn test_send_is_harmless(browser: &Browser) {
    browser.open("/providers/hook").await;
    browser.click("#send-test").await;
    browser.shows("#tested", "data-planted").await;
    is_harmless(browser, "the answer to a test").await;
}

/// What comes in while a page is open.
async fn changes_are_harmless(world: &World, browser: &Browser) {
    world
        .node
        .client
        .hold_provider("hook", Some("wait"))
        .await
        .unwrap();
    let answer = post(
        browser,
        "/api/notifications",
        json!({ "providerId": "hook", "subject": PLANTED, "body": PLANTED }),
    )
    .await;
    let id = answer["notificationId"].as_str().unwrap().to_owned();
    browser.open("/notifications").await;
    browser.shows(&format!("#n-{id}"), "Pending").await;
    browser.shows("#live-state", "Live").await;
    world.node.client.resume_provider("hook").await.unwrap();
    browser.shows(&format!("#n-{id}"), "Parked").await;
    is_harmless(browser, "a row that changed by itself").await;
}
