//! The local API over real sockets: what scripts send, what they are told, and what is refused by name.

use crate::{central::Central, world::until};
use base64::{Engine, engine::general_purpose::STANDARD};
use delivery::{
    Outside,
    call::{Auth, System, SystemSettings},
};
use domain::{Clock, SiteId, SystemClock};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use simulator::{
    HttpReceiver,
    http::{HttpOptions, HttpRule},
};
use site::{
    Agent, Settings, Site,
    api::{Access, Api, ServeError, serve},
    categories::{CachedDbWrites, ExternalSystems, Targets},
};
use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};
use store::{Buffer, buffer::Options, external::External};
use testkit::Folder;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const TOKEN: &str = "a-token-nobody-guesses";
/// Nothing here is about a far end that takes too long: a process that stands still for a while is none.
const PATIENT: Duration = Duration::from_secs(60);

struct Local {
    address: SocketAddr,
    erp: HttpReceiver,
    central: Arc<Central>,
    agent: Arc<Agent>,
    http: Client,
    /// Last, so that it goes when nobody writes into it any more.
    folder: Folder,
}

pub async fn api(folder: &Folder, erp: &HttpReceiver, central: Arc<Central>, access: Access) -> Api {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let outside = Outside::new(clock.clone());
    let settings = SystemSettings {
        auth: Auth::Bearer("very-secret-token".to_owned().into()),
        timeout: PATIENT,
        ..SystemSettings::at(erp.url("/api"))
    };
    let systems = BTreeMap::from([("erp".to_owned(), System::new(settings, &outside).unwrap())]);
    let url = format!("sqlite://{}", folder.path().join("history.db").display());
    let history = External::new(&url, PATIENT).unwrap();
    let connections = BTreeMap::from([("history".to_owned(), history)]);
    let targets = Targets {
        systems: Arc::new(ExternalSystems::new(systems, clock.clone())),
        connections: Arc::new(CachedDbWrites::new(connections)),
    };
    let options = Options {
        max_bytes: 10_000_000,
        ..Options::at(folder.path().join("sf.db"))
    };
    let buffer = Arc::new(Buffer::open(&options, clock.clone()).unwrap());
    let mut settings = Settings::of(SiteId::new("north"));
    settings.timer = Duration::from_millis(100);
    let site = Site::new(settings, buffer, targets.handlers(), clock);
    site.connect(central);
    Api {
        agent: Arc::new(Agent::start(site).await.unwrap()),
        targets,
        metrics: None,
        access,
    }
}

thread_local! {
    /// Of the test on this thread, whose runtime has no other.
    static FIGURES: &'static PrometheusRecorder = Box::leak(Box::new(PrometheusBuilder::new().build_recorder()));
}

impl Local {
    async fn new() -> Self {
        Self::with(Access::local()).await
    }

    async fn with(access: Access) -> Self {
        Self::over(Folder::of_this_test(), access).await
    }

    async fn over(folder: Folder, access: Access) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let erp = HttpReceiver::start(HttpOptions::default()).await.unwrap();
        let central = Arc::new(Central::new());
        let mut api = api(&folder, &erp, central.clone(), access).await;
        api.metrics = Some(FIGURES.with(|figures| figures.handle()));
        let agent = api.agent.clone();
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let listening = serve(api, any, CancellationToken::new()).await.unwrap();
        Self {
            folder,
            address: listening.address,
            erp,
            central,
            agent,
            http: Client::new(),
        }
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http
            .request(method, format!("http://{}{path}", self.address))
    }

    async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        answer(self.request(Method::POST, path).json(&body)).await
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        answer(self.request(Method::GET, path)).await
    }

    /// What is scraped from it.
    async fn figures(&self) -> String {
        let recorder = FIGURES.with(|figures| *figures);
        let _guard = metrics::set_default_local_recorder(recorder);
        self.get("/metrics").await.1.as_str().unwrap().to_owned()
    }

    /// The fields a request is refused for.
    async fn refused(&self, path: &str, body: Value) -> Vec<String> {
        let (status, said) = self.post(path, body.clone()).await;
        assert!(status.is_client_error(), "{path} {body}: {status} {said}");
        let errors = said["errors"].as_array().cloned().unwrap_or_default();
        errors
            .iter()
            .map(|e| e["field"].as_str().unwrap().to_owned())
            .collect()
    }
}

async fn answer(request: reqwest::RequestBuilder) -> (StatusCode, Value) {
    let answer = request.send().await.unwrap();
    let status = answer.status();
    let text = answer.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

#[tokio::test]
async fn a_notification_is_taken_and_followed_to_central() {
    let local = Local::new().await;
    local.central.goes_down();
    let id = Uuid::now_v7();
    let (status, said) = local
        .post(
            "/notify",
            json!({"to": "ops", "subject": "full", "body": "98 %", "instance": "tank-4", "notificationId": id.simple().to_string()}),
        )
        .await;
    assert_eq!(
        (status, said["notificationId"].as_str()),
        (StatusCode::ACCEPTED, Some(id.to_string().as_str()))
    );
    let (_, said) = local.get(&format!("/notify/{id}")).await;
    assert_eq!(
        (said["status"].as_str(), said["where"].as_str()),
        (Some("Forwarding"), Some("site"))
    );
    local.central.comes_back();
    until("an empty buffer", || {
        local.agent.site.buffer.depth().waiting() == 0
    })
    .await;
    let (_, said) = local.get(&format!("/notify/{}", id.simple())).await;
    assert_eq!(
        (said["status"].as_str(), said["where"].as_str()),
        (Some("Pending"), Some("central"))
    );
    local.central.goes_down();
    let (status, said) = local.get(&format!("/notify/{id}")).await;
    assert_eq!(
        (status, said["status"].as_str()),
        (StatusCode::OK, Some("Unknown"))
    );
    assert_eq!(said["lastKnown"]["status"], "Pending");
    assert!(said["handedOverAt"].is_string() && said["detail"].as_str().unwrap().contains("not reachable"));
    let (status, said) = local.get(&format!("/notify/{}", Uuid::now_v7())).await;
    assert_eq!(
        (status, said["code"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("central_unreachable"))
    );
}

#[tokio::test]
async fn a_script_may_say_what_any_sender_may_say() {
    let local = Local::new().await;
    let said = json!({"to": ["+491511234567"], "type": "sms", "providerId": "modem", "subject": "s", "body": "b",
        "bodyHtml": "<p>b</p>", "typeData": {"a": 1}, "entityType": "tank", "entityId": "4", "ruleName": "High",
        "ruleId": "r7", "runId": "u1", "supersedesKey": "k", "sendAt": "2026-01-01T00:00:00Z",
        "expiresAt": "2026-01-02T00:00:00Z"});
    let (status, answer) = local.post("/notify", said).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{answer}");
    let late = json!({"to": "ops", "body": "b", "sendAt": "2026-01-02T00:00:00Z",
        "expiresAt": "2026-01-01T00:00:00Z", "entityId": "x".repeat(256)});
    assert_eq!(local.refused("/notify", late).await, ["entityId", "expiresAt"]);
    let never = json!({"to": "ops", "body": "b", "sendAt": "soon"});
    assert_eq!(local.refused("/notify", never).await, ["sendAt"]);
}

#[tokio::test]
async fn a_call_gives_back_the_systems_answer_and_carries_its_credentials() {
    let local = Local::new().await;
    let (status, said) = local
        .post(
            "/calls",
            json!({"system": "erp", "method": "PUT", "path": "/orders/7?x=1", "headers": {"X-Line": "3"}, "body": {"n": 1}}),
        )
        .await;
    assert_eq!(status, StatusCode::OK, "{said}");
    assert_eq!(
        (said["accepted"].as_bool(), said["wasBuffered"].as_bool()),
        (Some(true), Some(false))
    );
    assert_eq!(said["result"]["status"], 200);
    let seen = &local.erp.requests()[0];
    assert_eq!(
        (seen.method.as_str(), seen.path.as_str()),
        ("PUT", "/api/orders/7")
    );
    assert_eq!(seen.headers["authorization"], "Bearer very-secret-token");
    assert_eq!(seen.headers["x-line"], "3");
    assert_eq!(seen.headers["content-type"], "application/json");
    let id = said["trackedOperationId"].as_str().unwrap();
    assert_eq!(seen.headers["idempotency-key"], id);
    let (_, tracked) = local
        .get(&format!("/tracking/{}", id.replace('-', "").to_uppercase()))
        .await;
    assert_eq!(
        (tracked["status"].as_str(), tracked["httpStatus"].as_u64()),
        (Some("Delivered"), Some(200))
    );
    assert_eq!(tracked["targetSummary"], "PUT /orders/7");
}

#[tokio::test]
async fn a_refusal_of_the_system_is_told_at_once_without_its_secrets() {
    let local = Local::new().await;
    local
        .erp
        .on(HttpRule::status(400).body("bad token very-secret-token"));
    let (status, said) = local.post("/calls", json!({"system": "erp", "path": "x"})).await;
    assert_eq!(
        (status, said["code"].as_str()),
        (StatusCode::UNPROCESSABLE_ENTITY, Some("permanent_failure"))
    );
    assert_eq!(
        (said["accepted"].as_bool(), said["error"]["httpStatus"].as_u64()),
        (Some(false), Some(400))
    );
    assert!(!said.to_string().contains("very-secret-token"), "{said}");
    assert_eq!(local.agent.site.buffer.depth().waiting(), 0);
    local.erp.behave();
    local.erp.on(HttpRule::status(503));
    let (status, said) = local.post("/calls", json!({"system": "erp", "path": "x"})).await;
    assert_eq!(
        (status, said["wasBuffered"].as_bool()),
        (StatusCode::ACCEPTED, Some(true))
    );
    assert_eq!(local.agent.site.buffer.depth().waiting(), 1);
}

#[tokio::test]
async fn a_write_is_made_at_once_or_waits_for_its_database() {
    let local = Local::new().await;
    let insert = json!({"connection": "history", "statement": statement(), "params": [1, "full"]});
    let (status, said) = local.post("/db-writes", insert.clone()).await;
    assert_eq!(
        (status, said["wasBuffered"].as_bool()),
        (StatusCode::ACCEPTED, Some(true)),
        "{said}"
    );
    let id = said["trackedOperationId"].as_str().unwrap().to_owned();
    // The database appears; the next write goes through at once.
    let url = format!("sqlite://{}", local.folder.path().join("history.db").display());
    std::fs::write(local.folder.path().join("history.db"), b"").unwrap();
    let theirs = External::new(&url, PATIENT).unwrap();
    theirs
        .execute(
            "create table readings (id integer primary key, tag text not null)",
            &[],
        )
        .await
        .unwrap();
    let (status, said) = local.post("/db-writes", insert.clone()).await;
    assert_eq!(
        (status, said["result"]["rowsAffected"].as_u64()),
        (StatusCode::OK, Some(1)),
        "{said}"
    );
    let (status, said) = local.post("/db-writes", insert).await;
    assert_eq!(
        (status, said["error"]["code"].as_str()),
        (StatusCode::UNPROCESSABLE_ENTITY, Some("CONSTRAINT"))
    );
    let (_, tracked) = local.get(&format!("/tracking/{id}")).await;
    assert_eq!(
        (tracked["status"].as_str(), tracked["kind"].as_str()),
        (Some("Retrying"), Some("CachedDbWrite"))
    );
}

#[tokio::test]
async fn a_write_that_an_earlier_attempt_made_is_done_if_it_says_by_which_constraint() {
    let local = Local::new().await;
    let path = local.folder.path().join("history.db");
    std::fs::write(&path, b"").unwrap();
    let theirs = External::new(&format!("sqlite://{}", path.display()), PATIENT).unwrap();
    theirs
        .execute(
            "create table readings (id integer primary key, tag text not null)",
            &[],
        )
        .await
        .unwrap();
    // As after a crash between the database's answer and our own note of it.
    let params = json!([1, "full"]);
    theirs
        .execute(&statement(), params.as_array().unwrap())
        .await
        .unwrap();
    let write = json!({"connection": "history", "statement": statement(), "params": params,
        "idempotent": true, "constraint": "readings.id"});
    let (status, said) = local.post("/db-writes", write.clone()).await;
    assert_eq!(status, StatusCode::OK, "{said}");
    assert_eq!(said["result"], json!({"rowsAffected": 0, "alreadyThere": true}));
    let mut queued = write;
    queued["attemptImmediateDelivery"] = false.into();
    let (_, said) = local.post("/db-writes", queued).await;
    let id = said["trackedOperationId"].as_str().unwrap();
    until("the write", || local.agent.site.buffer.depth().waiting() == 0).await;
    let (_, tracked) = local.get(&format!("/tracking/{id}")).await;
    assert_eq!(tracked["status"], "Delivered", "{tracked}");
}

/// Put together here, so that a reader of the sources finds statements only where they belong.
fn statement() -> String {
    ["insert", "into readings (id, tag)", "values (?1, ?2)"].join(" ")
}

/// Notifications, and the fields that are wrong in each.
fn bad_notifications() -> Vec<(Value, Vec<&'static str>)> {
    vec![
        (json!({}), vec!["body", "to"]),
        (json!({"to": " ", "body": "b"}), vec!["to"]),
        (json!({"to": 7, "body": "b"}), vec!["to"]),
        (json!({"to": ["a@b", " "], "body": "b"}), vec!["to[1]"]),
        (json!({"to": [], "body": "b"}), vec!["to"]),
        (
            json!({"to": ["a@b", "rubbish", "c@d, e@f"], "body": "b"}),
            vec!["to[1]", "to[2]"],
        ),
        (json!({"to": ["a@b"], "type": "Sms", "body": "b"}), vec!["to[0]"]),
        (json!({"type": "Webhook", "to": ["a@b"], "body": "b"}), vec!["to"]),
        (json!({"type": "Teams", "to": "ops", "body": "b"}), vec!["to"]),
        (json!({"to": "ops", "body": ""}), vec!["body"]),
        (json!({"to": "ops", "body": "b", "subject": 7}), vec!["subject"]),
        (
            json!({"to": "ops", "body": "b", "subject": "x".repeat(1001)}),
            vec!["subject"],
        ),
        (
            json!({"to": "ops", "body": "x".repeat((1 << 20) + 1)}),
            vec!["body"],
        ),
        (json!({"to": "ops", "body": "nul\u{0}"}), vec!["body"]),
        (
            json!({"to": "ops", "body": "b", "notificationId": "7"}),
            vec!["notificationId"],
        ),
        (
            json!({"to": "ops", "body": "b", "messageId": "not-a-guid"}),
            vec!["messageId"],
        ),
        (
            json!({"to": "ops", "body": "b", "messageId": Uuid::now_v7(), "notificationId": Uuid::now_v7()}),
            vec!["messageId"],
        ),
    ]
}

/// The same of what is said besides the content.
fn bad_options() -> Vec<(Value, Vec<&'static str>)> {
    vec![
        (
            json!({"to": "ops", "body": "b", "maxRetries": -1}),
            vec!["maxRetries"],
        ),
        (
            json!({"to": "ops", "body": "b", "maxRetries": 1.5}),
            vec!["maxRetries"],
        ),
        (
            json!({"to": "ops", "body": "b", "retryInterval": "0s"}),
            vec!["retryInterval"],
        ),
        (
            json!({"to": "ops", "body": "b", "retryInterval": "soon"}),
            vec!["retryInterval"],
        ),
        (
            json!({"to": "ops", "body": "b", "attemptImmediateDelivery": "no"}),
            vec!["attemptImmediateDelivery"],
        ),
        (
            json!({"to": "ops", "body": "b", "instance": "x".repeat(256)}),
            vec!["instance"],
        ),
        (
            json!({"to": "ops", "body": "b", "recipent": "x"}),
            vec!["recipent"],
        ),
        (json!({"to": "ops", "body": null}), vec!["body"]),
        (json!({"to": "ops", "body": "b", "type": "Pigeon"}), vec!["type"]),
        (
            json!({"to": "ops", "body": "b", "executionId": "run-1", "parentExecutionId": "x"}),
            vec!["executionId", "parentExecutionId"],
        ),
        (
            json!({"to": "ops", "body": "b", "notificationId": Uuid::nil()}),
            vec!["notificationId"],
        ),
        (
            json!({"to": "ops", "body": "b", "messageId": Uuid::nil().simple().to_string()}),
            vec!["messageId"],
        ),
    ]
}

#[tokio::test]
async fn every_bad_field_of_a_notification_is_named() {
    let local = Local::new().await;
    for (body, fields) in bad_notifications().into_iter().chain(bad_options()) {
        assert_eq!(local.refused("/notify", body.clone()).await, fields, "{body}");
    }
    assert_eq!(local.agent.site.buffer.depth().waiting(), 0);
}

/// Calls, and the fields that are wrong in each.
fn bad_calls() -> Vec<(Value, Vec<&'static str>)> {
    vec![
        (json!({}), vec!["system"]),
        (json!({"system": "erpp", "path": "/"}), vec!["system"]),
        (json!({"system": "erp", "body": null}), vec!["body"]),
        (json!({"system": "erp", "method": "TRACE"}), vec!["method"]),
        (json!({"system": "erp", "path": "../../admin"}), vec!["path"]),
        (json!({"system": "erp", "path": "x#y"}), vec!["path"]),
        (
            json!({"system": "erp", "headers": {"Authorization": "x"}}),
            vec!["headers.Authorization"],
        ),
        (
            json!({"system": "erp", "headers": {"Host": "x", "fine": "x", "no name": "x"}}),
            vec!["headers.Host", "headers.no name"],
        ),
        (
            json!({"system": "erp", "headers": {"a b": "x"}}),
            vec!["headers.a b"],
        ),
        (json!({"system": "erp", "headers": {"a": 1}}), vec!["headers"]),
        (
            json!({"system": "erp", "maxRetries": -3, "body": "x".repeat(2 << 20)}),
            vec!["maxRetries", "body"],
        ),
        (
            json!({"system": null, "messageId": Uuid::nil(), "executionId": "7"}),
            vec!["system", "executionId", "messageId"],
        ),
    ]
}

/// The same of database writes.
fn bad_writes() -> Vec<(Value, Vec<&'static str>)> {
    let two = [statement(), statement()].join("; ");
    vec![
        (
            json!({"connection": "history", "statement": null}),
            vec!["statement"],
        ),
        (
            json!({"connection": "history", "statement": statement(), "idempotent": true}),
            vec!["constraint"],
        ),
        (
            json!({"connection": "history", "statement": statement(), "constraint": "readings.id"}),
            vec!["constraint"],
        ),
        (json!({}), vec!["connection", "statement"]),
        (
            json!({"connection": "x", "statement": statement()}),
            vec!["connection"],
        ),
        (
            json!({"connection": "history", "statement": two}),
            vec!["statement"],
        ),
        (
            json!({"connection": "history", "statement": "pragma x"}),
            vec!["statement"],
        ),
        (
            json!({"connection": "history", "statement": statement(), "params": "1"}),
            vec!["params"],
        ),
    ]
}

#[tokio::test]
async fn every_bad_field_of_a_call_or_write_is_named() {
    let local = Local::new().await;
    for (path, bad) in [("/calls", bad_calls()), ("/db-writes", bad_writes())] {
        for (body, fields) in bad {
            assert_eq!(local.refused(path, body.clone()).await, fields, "{path} {body}");
        }
    }
    let (_, said) = local.post("/calls", json!({"system": "erpp"})).await;
    assert!(
        said["detail"].as_str().unwrap().contains("it knows erp"),
        "{said}"
    );
    assert_eq!(local.erp.counts().requests, 0);
}

#[tokio::test]
async fn a_call_never_leaves_the_host_it_is_configured_for() {
    let local = Local::new().await;
    for path in [
        "//evil.example/x",
        "/@evil.example",
        "http://evil.example/",
        "\\\\evil.example",
        "?a=b",
        ":1/x",
    ] {
        let (status, said) = local.post("/calls", json!({"system": "erp", "path": path})).await;
        assert!(
            status.is_success() || status == StatusCode::UNPROCESSABLE_ENTITY,
            "{path}: {said}"
        );
    }
    assert!(local.erp.requests().iter().all(|r| r.path.starts_with("/api")));
}

#[tokio::test]
async fn what_is_no_request_is_refused_in_words() {
    let local = Local::new().await;
    let raw = |path: &str, kind: &str, body: Vec<u8>| {
        answer(
            local
                .request(Method::POST, path)
                .header("content-type", kind)
                .body(body),
        )
    };
    let (status, said) = raw("/notify", "application/json", b"{\"to\": ".to_vec()).await;
    assert_eq!(
        (status, said["code"].as_str()),
        (StatusCode::BAD_REQUEST, Some("invalid_json"))
    );
    let (status, said) = raw("/notify", "application/json", b"[]".to_vec()).await;
    assert_eq!(
        (status, said["code"].as_str()),
        (StatusCode::UNPROCESSABLE_ENTITY, Some("validation_failed"))
    );
    let (status, _) = raw("/notify", "text/plain", b"{}".to_vec()).await;
    assert_eq!(status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let (status, said) = raw("/notify", "application/json", vec![b' '; (4 << 20) + 1]).await;
    assert_eq!(
        (status, said["code"].as_str()),
        (StatusCode::PAYLOAD_TOO_LARGE, Some("too_large"))
    );
    for path in ["/notify/7", "/tracking/zz", "/notify/0190a0e0-0000"] {
        let (status, said) = local.get(path).await;
        assert_eq!(
            (status, said["errors"][0]["field"].as_str()),
            (StatusCode::UNPROCESSABLE_ENTITY, Some("id")),
            "{path}"
        );
    }
    for path in [
        "/parked/7/retry",
        "/parked/7/discard",
        "/waiting/7/try",
        "/waiting/7/discard",
    ] {
        let (status, _) = answer(local.request(Method::POST, path)).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    }
    let unknown = Uuid::now_v7();
    for path in [
        format!("/parked/{unknown}/retry"),
        format!("/parked/{unknown}/discard"),
        format!("/waiting/{unknown}/try"),
        format!("/waiting/{unknown}/discard"),
    ] {
        let (status, _) = answer(local.request(Method::POST, &path)).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
    }
    for (path, field) in [
        ("/parked?limit=0", "limit"),
        ("/parked?limit=x", "limit"),
        ("/parked?cursor=-1", "cursor"),
        ("/parked?category=Pigeon", "category"),
        ("/parked?offset=1", "offset"),
        ("/events?limit=100000", "limit"),
        ("/waiting?limit=0", "limit"),
        ("/waiting?category=Pigeon", "category"),
        ("/waiting?target=erp", "target"),
    ] {
        let (status, said) = local.get(path).await;
        assert_eq!(
            (status, said["errors"][0]["field"].as_str()),
            (StatusCode::UNPROCESSABLE_ENTITY, Some(field)),
            "{path}"
        );
    }
    assert_eq!(local.get("/nowhere").await.0, StatusCode::NOT_FOUND);
    assert_eq!(local.get("/calls").await.0, StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn parked_messages_are_seen_and_acted_on() {
    let local = Local::new().await;
    local.erp.on(HttpRule::status(400));
    let call = json!({"system": "erp", "path": "x", "attemptImmediateDelivery": false});
    let (_, said) = local.post("/calls", call).await;
    let id = said["trackedOperationId"].as_str().unwrap().to_owned();
    until("it to be parked", || {
        local.agent.site.buffer.depth().all_parked() == 1
    })
    .await;
    let (_, parked) = local.get("/parked?category=ExternalSystem").await;
    assert_eq!(
        (parked["total"].as_u64(), parked["items"][0]["messageId"].as_str()),
        (Some(1), Some(id.as_str()))
    );
    let (status, page) = local.get("/").await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.as_str().unwrap().contains(&id) && page.as_str().unwrap().contains("Central is reachable"));
    local.erp.behave();
    let (status, said) =
        answer(local.request(Method::POST, &format!("/parked/{}/retry", id.replace('-', "")))).await;
    assert_eq!(
        (status, said["status"].as_str()),
        (StatusCode::OK, Some("Pending"))
    );
    until("the delivery", || local.erp.counts().taken == 1).await;
    let (_, events) = local.get("/events").await;
    let what: Vec<_> = events["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["what"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        what.iter().any(|w| w == "Retry") && what.iter().any(|w| w == "Parked"),
        "{what:?}"
    );
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_not_waited_for_for_ever() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let local = Local::new().await;
    let mut slow = tokio::net::TcpStream::connect(local.address).await.unwrap();
    slow.write_all(
        b"POST /notify HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
    )
    .await
    .unwrap();
    // From here on time passes when nobody has anything to do.
    tokio::time::pause();
    let mut answer = vec![0; 4096];
    let read = slow.read(&mut answer).await.unwrap();
    let said = String::from_utf8_lossy(&answer[..read]).into_owned();
    assert!(
        said.starts_with("HTTP/1.1 408") && said.contains("\"timeout\""),
        "{said}"
    );
}

#[tokio::test]
async fn what_waits_is_seen_tried_at_a_persons_word_and_given_up() {
    let local = Local::new().await;
    local.erp.on(HttpRule::status(503));
    let mut ids = vec![];
    for _ in 0..3 {
        let (status, said) = local.post("/calls", json!({"system": "erp", "path": "x"})).await;
        assert_eq!(status, StatusCode::ACCEPTED);
        ids.push(said["trackedOperationId"].as_str().unwrap().to_owned());
    }
    let (_, first) = local.get("/waiting?limit=2").await;
    let cursor = first["nextCursor"].as_str().unwrap();
    let (_, rest) = local.get(&format!("/waiting?cursor={cursor}")).await;
    let seen: Vec<_> = [&first, &rest]
        .iter()
        .flat_map(|page| page["items"].as_array().unwrap())
        .map(|m| m["messageId"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!((seen, first["total"].as_u64()), (ids.clone(), Some(3)));
    let item = &first["items"][0];
    assert!(item["dueAt"].as_str() > item["createdAt"].as_str(), "{item}");
    assert_eq!(item["summary"], "POST /x");
    let act = |id: &str, what: &str| answer(local.request(Method::POST, &format!("/waiting/{id}/{what}")));
    let (status, said) = act(&ids[0], "try").await;
    assert_eq!(
        (status, said["status"].as_str()),
        (StatusCode::OK, Some("Retrying")),
        "{said}"
    );
    assert!(said["lastError"].as_str().unwrap().contains("503"), "{said}");
    local.erp.behave();
    let (_, said) = act(&ids[0].replace('-', ""), "try").await;
    assert_eq!(said["status"], "Delivered", "{said}");
    let (status, said) = act(&ids[1], "discard").await;
    assert_eq!(
        (status, said["status"].as_str()),
        (StatusCode::OK, Some("Discarded"))
    );
    let (_, tracked) = local.get(&format!("/tracking/{}", ids[1])).await;
    assert_eq!(tracked["status"], "Discarded");
    assert_eq!(act(&ids[1], "try").await.0, StatusCode::NOT_FOUND);
    // A browser is sent back to the page.
    let browser = local
        .request(Method::POST, &format!("/waiting/{}/try", ids[2]))
        .header("accept", "text/html");
    let (status, page) = answer(browser).await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.as_str().unwrap().contains("<h1>Site north</h1>"));
    assert_eq!(local.agent.site.buffer.depth().waiting(), 0);
}

#[tokio::test]
async fn health_tells_when_messages_are_refused_and_that_the_link_is_down_is_no_illness() {
    let local = Local::new().await;
    local.central.goes_down();
    let (status, said) = local.get("/healthz").await;
    assert_eq!(
        (status, said["link"]["up"].as_bool()),
        (StatusCode::OK, Some(false))
    );
    let body = "x".repeat(1 << 20);
    let why = loop {
        let (status, said) = local.post("/notify", json!({"to": "ops", "body": body})).await;
        if status == StatusCode::INSUFFICIENT_STORAGE {
            break said["detail"].as_str().unwrap().to_owned();
        }
        assert_eq!(status, StatusCode::ACCEPTED);
    };
    assert!(why.contains("max_buffer_bytes"), "{why}");
    // Small ones still fit; the rest of the room is filled with them.
    while local
        .post("/notify", json!({"to": "ops", "body": "x".repeat(100_000)}))
        .await
        .0
        == StatusCode::ACCEPTED
    {}
    while local.post("/notify", json!({"to": "ops", "body": "x"})).await.0 == StatusCode::ACCEPTED {}
    let (status, said) = local.get("/healthz").await;
    assert_eq!(
        (status, said["status"].as_str()),
        (StatusCode::SERVICE_UNAVAILABLE, Some("refusing"))
    );
    let (_, page) = local.get("/").await;
    assert!(
        page.as_str().unwrap().contains("Messages are refused: "),
        "{page}"
    );
    assert!(
        local
            .figures()
            .await
            .contains("waypost_site_refusing{site=\"north\"} 1\n")
    );
    local.central.comes_back();
    until("room", || local.agent.site.buffer.refusing().is_none()).await;
    assert_eq!(local.get("/healthz").await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_loop_that_fails_on_every_run_is_an_illness_until_it_works_again() {
    let local = Local::new().await;
    assert_eq!(local.get("/healthz").await.1["status"], "ok");
    let url = format!("sqlite://{}", local.folder.path().join("sf.db").display());
    let file = External::new(&url, Duration::from_secs(10)).unwrap();
    let hide = file.execute("alter table sf_messages rename to hidden", &[]);
    hide.await.unwrap();
    let health = async || local.get("/healthz").await;
    testkit::until("the sweep to fail", async || {
        health().await.1["failing"] == json!(["due"])
    })
    .await;
    let (status, said) = health().await;
    assert_eq!(
        (status, said["status"].as_str()),
        (StatusCode::OK, Some("degraded")),
        "{said}"
    );
    let show = file.execute("alter table hidden rename to sf_messages", &[]);
    show.await.unwrap();
    testkit::until("the sweep to work", async || health().await.1["status"] == "ok").await;
}

#[tokio::test]
async fn the_agents_loops_are_seen_in_its_health_and_on_its_page() {
    let local = Local::new().await;
    until("forwarding, while the link is up", || {
        local.agent.loops.reports()["forward"].running_since.is_some()
    })
    .await;
    let (_, said) = local.get("/healthz").await;
    let loops = said["loops"].as_array().unwrap();
    let names: Vec<_> = loops.iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["due", "forward", "purge", "report"]);
    assert!(loops.iter().all(|one| one["ok"] == true && one["panics"] == 0));
    assert!(loops[1]["runningSince"].is_string());
    let (_, page) = local.get("/").await;
    for report in local.agent.loops.reports().values() {
        let row = format!("<td>{}: {}</td>", report.about.name, report.about.what);
        assert!(page.as_str().unwrap().contains(&row), "{row}");
    }
}

#[tokio::test]
async fn with_a_token_nothing_is_answered_without_it() {
    let local = Local::with(Access::token(TOKEN)).await;
    for (method, path) in [
        (Method::GET, "/"),
        (Method::POST, "/notify"),
        (Method::GET, "/notify/7"),
        (Method::POST, "/calls"),
        (Method::POST, "/db-writes"),
        (Method::GET, "/tracking/7"),
        (Method::GET, "/parked"),
        (Method::POST, "/parked/7/retry"),
        (Method::POST, "/parked/7/discard"),
        (Method::GET, "/waiting"),
        (Method::POST, "/waiting/7/try"),
        (Method::POST, "/waiting/7/discard"),
        (Method::GET, "/events"),
        (Method::GET, "/damage"),
        (Method::POST, "/damage/acknowledge"),
        (Method::POST, "/recover"),
        (Method::GET, "/metrics"),
        (Method::GET, "/nowhere"),
    ] {
        let (status, said) = answer(local.request(method.clone(), path)).await;
        assert_eq!(
            (status, said["code"].as_str()),
            (StatusCode::UNAUTHORIZED, Some("unauthorized")),
            "{method} {path}"
        );
        let (status, _) = answer(local.request(method, path).bearer_auth("wrong")).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED, "{path}");
    }
    assert_eq!(local.get("/healthz").await.0, StatusCode::OK);
    let (status, _) = answer(local.request(Method::GET, "/parked").bearer_auth(TOKEN)).await;
    assert_eq!(status, StatusCode::OK);
    let basic = format!("Basic {}", STANDARD.encode(format!("anybody:{TOKEN}")));
    let (status, _) = answer(local.request(Method::GET, "/").header("authorization", basic)).await;
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test]
async fn whatever_is_posted_a_body_is_refused_in_the_same_words() {
    let local = Local::new().await;
    for path in [
        "/notify",
        "/calls",
        "/db-writes",
        "/parked/retry",
        "/parked/discard",
        "/damage/acknowledge",
        "/recover",
        "/pair/promote",
    ] {
        for (kind, body, wanted) in [
            ("text/plain", "{}", (415, "unsupported_media_type")),
            ("application/json", "{bad", (400, "invalid_json")),
            ("application/json", r#"{"nope": 1}"#, (422, "validation_failed")),
        ] {
            let request = local.request(Method::POST, path);
            let (status, said) = answer(request.header("content-type", kind).body(body)).await;
            let found = (status.as_u16(), said["code"].as_str().unwrap_or_default());
            assert_eq!(found, wanted, "{path} {body}: {said}");
        }
    }
}

#[tokio::test]
async fn an_address_others_can_reach_needs_a_token() {
    let folder = Folder::of_this_test();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let erp = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let api = api(&folder, &erp, Arc::new(Central::new()), Access::local()).await;
    let open: SocketAddr = "0.0.0.0:0".parse().unwrap();
    let refused = serve(api, open, CancellationToken::new()).await;
    assert!(matches!(refused, Err(ServeError::TokenNeeded(_))), "{refused:?}");
}

#[tokio::test]
async fn a_page_of_another_site_cannot_use_a_browser_on_this_machine() {
    let local = Local::new().await;
    let body = json!({"to": "ops", "body": "b"});
    let crossed = local
        .request(Method::POST, "/notify")
        .json(&body)
        .header("origin", "https://evil.example");
    assert_eq!(answer(crossed).await.0, StatusCode::FORBIDDEN);
    let rebound = local
        .request(Method::GET, "/parked")
        .header("host", "evil.example");
    assert_eq!(answer(rebound).await.0, StatusCode::FORBIDDEN);
    let own = format!("http://{}", local.address);
    let same = local
        .request(Method::POST, "/notify")
        .json(&body)
        .header("origin", own);
    assert_eq!(answer(same).await.0, StatusCode::ACCEPTED);
}

#[tokio::test]
async fn damage_is_shown_everywhere_until_somebody_acknowledges_it() {
    let folder = Folder::of_this_test();
    std::fs::write(folder.path().join("sf.db"), b"this is no database".repeat(500)).unwrap();
    let local = Local::over(folder, Access::local()).await;
    let (status, said) = local.get("/healthz").await;
    assert_eq!(
        (status, said["status"].as_str()),
        (StatusCode::OK, Some("degraded"))
    );
    let file = said["damage"][0]["file"].as_str().unwrap().to_owned();
    assert!(file.contains(".damaged-"), "{said}");
    let (_, page) = local.get("/").await;
    assert!(page.as_str().unwrap().contains("Damaged, "), "{page}");
    let (_, events) = local.get("/events").await;
    assert_eq!(events["items"][0]["what"], "Damaged", "{events}");
    assert!(
        local
            .figures()
            .await
            .contains("waypost_site_damage{site=\"north\"} 1\n")
    );
    let report = local.agent.site.report().await;
    assert_eq!(report.damage.len(), 1, "central is told");
    let (status, _) = local.post("/notify", json!({"to": "ops", "body": "x"})).await;
    assert_eq!(status, StatusCode::ACCEPTED, "messages are taken all the same");
    let id = said["damage"][0]["id"].clone();
    let (status, _) = local.post("/damage/acknowledge", json!({"id": 7_000})).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, said) = local.post("/damage/acknowledge", json!({ "id": id })).await;
    assert_eq!((status, said["acknowledged"].as_u64()), (StatusCode::OK, Some(1)));
    assert_eq!(local.get("/healthz").await.1["status"], "ok");
    assert_eq!(local.get("/damage").await.1["items"], json!([]));
    assert!(std::path::Path::new(&file).exists(), "the file itself stays");
    // It is no database: nothing comes back, and that is said.
    let (status, said) = local.post("/recover", json!({ "file": file })).await;
    let words = said["detail"].as_str().unwrap();
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{said}");
    assert!(words.contains("file is not a database"), "{said}");
    for elsewhere in ["/etc/passwd", "/etc/sf.db.damaged-1", "other.db", ""] {
        assert_eq!(
            local.refused("/recover", json!({ "file": elsewhere })).await,
            ["file"],
            "{elsewhere}"
        );
    }
}

#[tokio::test]
async fn a_notification_that_is_parked_here_and_sent_again_is_not_said_to_be_on_its_way() {
    let local = Local::new().await;
    local.central.goes_down();
    let id = Uuid::now_v7();
    let sent = || {
        local.post(
            "/notify",
            json!({"to": "ops", "body": "b", "notificationId": id.to_string()}),
        )
    };
    sent().await;
    let (status, said) = sent().await;
    assert_eq!(
        (status, said["status"].as_str()),
        (StatusCode::ACCEPTED, Some("Forwarding"))
    );
    let buffer = &local.agent.site.buffer;
    let seq = buffer.forwardable(0, 1, 1).await.unwrap()[0].seq;
    buffer.park_forward(seq, "REFUSED: no").await.unwrap();
    let (status, said) = sent().await;
    assert_eq!(
        (status, said["status"].as_str(), said["duplicate"].as_bool()),
        (StatusCode::ACCEPTED, Some("Parked"), Some(true))
    );
}
