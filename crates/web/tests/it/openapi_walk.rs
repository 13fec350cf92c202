//! Every operation of the OpenAPI document, asked with requests made from its own schemas, good and bad: what it
//! answers must be in the document.

use crate::{
    openapi::{document, operations},
    schema::{Schema, any_text, junk, likely},
    sites::{Linked, linked_as},
    world::World,
};
use axum::{
    body::{Body, to_bytes},
    http::Request,
};
use delivery::{Captured, Outside, Registry};
use domain::SystemClock;
use proptest::{
    collection, option,
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner},
};
use serde_json::{Value, json};
use std::{fmt::Write, sync::Arc};
use store::directory::Role;
use testkit::{Database, site::ASite};
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// Requests to each operation, besides those that must be accepted.
fn requests_each() -> u32 {
    match std::env::var("WAYPOST_TEST_SIZE").as_deref() {
        Ok("soak") => 400,
        _ => 40,
    }
}

/// What is asked, as far as it differs.
#[derive(Debug, Clone)]
pub struct GeneratedRequest {
    target: String,
    key: String,
    accept: &'static str,
    pub body: Option<(String, &'static str)>,
}

/// What is there to be asked about.
pub struct Furnished {
    world: World,
    notifications: Vec<String>,
    job: String,
    key: String,
    user: String,
    template: String,
    suppression: String,
    /// One that became a message, and one that nobody has said anything about.
    event: String,
    deferred: String,
    /// North, connected, with messages that are parked there and some that wait.
    _site: Linked,
}

#[test]
fn every_answer_to_generated_requests_is_in_the_document_and_fits_its_schema() {
    let runtime = Runtime::new().unwrap();
    let document = document();
    let mut wrong = String::new();
    for (method, path, operation) in operations(&document) {
        let route = format!("{method} {path}");
        let furnished = runtime.block_on(Furnished::on(Database::Sqlite));
        let check = |asked: &GeneratedRequest| -> Result<u16, String> {
            let answer = runtime.block_on(furnished.ask(&method, asked));
            answer.misfit(&document, operation).map_or(Ok(answer.status), Err)
        };
        let mut accepted = false;
        for asked in furnished.acceptable(&document, &path, operation) {
            match check(&asked) {
                Ok(status) => accepted |= status < 300,
                Err(why) => _ = writeln!(wrong, "{route}: {why}\n    {asked:?}"),
            }
        }
        if !accepted {
            _ = writeln!(wrong, "{route}: not one good request was accepted");
        }
        // The same requests in every run: what fails here fails again for whoever looks into it.
        let config = Config {
            cases: requests_each(),
            failure_persistence: None,
            max_shrink_iters: 200,
            ..Config::default()
        };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let tried = runner.run(&furnished.requests(&document, &path, operation), |asked| {
            check(&asked).map(drop).map_err(TestCaseError::fail)
        });
        match tried {
            Ok(()) => {}
            Err(TestError::Fail(why, asked)) => _ = writeln!(wrong, "{route}: {why}\n    {asked:?}"),
            Err(TestError::Abort(why)) => _ = writeln!(wrong, "{route}: {why}"),
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

impl Furnished {
    pub async fn on(database: Database) -> Self {
        let outside = Arc::new(Outside::new(Arc::new(SystemClock)));
        let real = Registry::standard(outside, Captured::default());
        let mut world = World::on(database, real.iter().cloned().collect()).await;
        let made = async |path: &str, body: Value| world.post(path, body).await.json();
        let hook = json!({"id": "hook", "kind": "test-hook"});
        made("/api/providers", hook).await;
        made("/api/providers", json!({"id": "trap", "kind": "capture"})).await;
        let spare = Some(json!({"name": "spare"}));
        world
            .ask("POST", "/api/tenants", &world.key(Role::Ops), spare)
            .await
            .expect(201);
        let site = linked_as(
            &world,
            ASite {
                many: 5.into(),
                ..ASite::default()
            },
        )
        .await;
        let key = made("/api/keys", json!({"name": "spare", "role": "viewer"})).await["id"].to_string();
        let user = made("/api/users", json!({"name": "ann", "role": "viewer"})).await["id"].to_string();
        let template = json!({"eventType": "booking.confirmed", "channel": "Email", "body": "{{guestName}}"});
        let template = made("/api/message-templates", template).await["id"].to_string();
        let suppression = json!({"address": "gone@example.com"});
        let suppression = made("/api/suppressions", suppression).await["id"].to_string();
        let event_type = json!({"dedupe": "entity", "addresses": {"Email": "guestEmail"}});
        world
            .ask(
                "PUT",
                "/api/event-types/booking.confirmed",
                &world.key(Role::Admin),
                Some(event_type),
            )
            .await
            .expect(200);
        let payload = json!({"guestName": "Asha", "guestEmail": "asha@example.com"});
        let event = json!({"eventType": "booking.confirmed", "entityId": "12345", "payload": payload});
        let event = made("/api/events", event).await["eventId"]
            .as_str()
            .unwrap()
            .to_owned();
        let deferred = made("/api/events", json!({"eventType": "unheard.of", "entityId": "1"})).await;
        let deferred = deferred["eventId"].as_str().unwrap().to_owned();
        world.central.events.sweep().await.unwrap();
        let job = made("/api/notifications/retry", json!({"filter": {"q": "x"}})).await;
        let notifications = vec![
            world.parked("parked").await,
            world.delivered("delivered").await,
            world.submitted("pending").await,
        ];
        Self {
            notifications,
            job: job["id"].as_str().unwrap().to_owned(),
            key,
            user,
            template,
            suppression,
            event,
            deferred,
            _site: site,
            world,
        }
    }

    pub async fn ask(&self, method: &str, asked: &GeneratedRequest) -> Answer {
        let mut request = Request::builder().method(method).uri(&asked.target);
        if !asked.key.is_empty() {
            request = request.header("authorization", format!("Bearer {}", asked.key));
        }
        if !asked.accept.is_empty() {
            request = request.header("accept", asked.accept);
        }
        let body = match &asked.body {
            None => Body::empty(),
            Some((text, media)) => {
                request = request.header("content-type", *media);
                Body::from(text.clone())
            }
        };
        let request = request.body(body).unwrap();
        let response = self.world.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let media = parts
            .headers
            .get("content-type")
            .map_or("", |v| v.to_str().unwrap());
        let media = media.split(';').next().unwrap_or_default().to_owned();
        let text = match media.as_str() {
            // It has no end.
            "text/event-stream" => String::new(),
            _ => {
                let bytes = to_bytes(body, usize::MAX).await.unwrap();
                String::from_utf8_lossy(&bytes).into_owned()
            }
        };
        Answer {
            status: parts.status.as_u16(),
            media,
            text,
        }
    }

    /// Of a link that this world made.
    fn unsubscribe_token(&self) -> String {
        let sealer = self.world.central.directory.sealer().clone();
        let unsubscribing = central::unsubscribe::Unsubscribing::new(sealer, Some("http://x"));
        let link = unsubscribing
            .link(domain::TenantId::DEFAULT, "ann@example.com", None)
            .unwrap();
        link.rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// Values of a path parameter, the useful ones first.
    fn in_path(&self, path: &str, name: &str) -> Vec<String> {
        let known = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let resource = path.split('/').nth(2).unwrap_or_default();
        let mut values = match (resource, name) {
            ("notifications", "n") => known(&["1"]),
            ("notifications", _) => self.notifications.clone(),
            ("jobs", _) => vec![self.job.clone()],
            ("keys", _) => vec![self.key.clone()],
            ("users", _) => vec![self.user.clone()],
            ("message-templates", "id") => vec![self.template.clone()],
            ("message-templates", "version") => known(&["1"]),
            (_, "token") => vec![self.unsubscribe_token()],
            ("suppressions", _) => vec![self.suppression.clone()],
            ("events", _) if path.ends_with("/replay") => vec![self.deferred.clone()],
            ("automation-schedules" | "schedules" | "events", _) => vec![self.event.clone()],
            ("outbox", _) => vec![self.deferred.clone()],
            ("event-types", _) => known(&["booking.confirmed"]),
            ("channels", _) => known(&["Email"]),
            ("entities", "type") => known(&["booking"]),
            ("bookings" | "entities", _) => known(&["12345"]),
            ("sites", "id") => known(&["north"]),
            ("sites", "messageId") if path.ends_with("/try") => known(&["w1"]),
            ("sites", "messageId") if path.contains("/waiting/") => known(&["w2"]),
            ("sites", "messageId") if path.ends_with("/discard") => known(&["p2"]),
            ("sites", "messageId") => known(&["p1"]),
            ("providers", _) => known(&["hook", "mail", "trap"]),
            ("tenants", _) => known(&["spare"]),
            (_, "name") => known(&["ops"]),
            (_, "address") => known(&["ops%40example.com"]),
            _ => vec![],
        };
        values.extend(known(&[
            "nobody",
            "0190b6d8-7c1e-7a3e-8f5c-2d1f0a9b8c7d",
            "99999999999999999999",
            "%00",
            "%FF",
            "a%2Fb",
            "%20",
        ]));
        values
    }

    /// A key of a role that may.
    fn welcome_key(&self, operation: &Value) -> String {
        let roles = operation["security"][0]["apiKey"].as_array();
        let best = roles.and_then(|roles| roles.iter().rev().find(|role| *role != "ops").or(roles.first()));
        match best.and_then(Value::as_str) {
            Some(role) => self.world.key(role.parse().unwrap()),
            None => String::new(),
        }
    }

    /// Requests of which at least one must be accepted.
    pub fn acceptable(&self, document: &Value, path: &str, operation: &Value) -> Vec<GeneratedRequest> {
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let name = schema["$ref"].as_str().and_then(|link| link.rsplit('/').next());
        let body = name.map(|name| {
            assert!(document["components"]["schemas"][name].is_object());
            (good_body(name, path).to_string(), "application/json")
        });
        let accepts: &[&'static str] = match operation["responses"]["200"]["content"]["text/csv"].is_object()
        {
            true => &["", "text/csv"],
            false => &[""],
        };
        let firsts = match path.contains("{id}") {
            true => self.in_path(path, "id"),
            false => vec![String::new()],
        };
        let mut all = vec![];
        for accept in accepts {
            for first in &firsts {
                let target = fill(path, |name| match name {
                    "id" => first.clone(),
                    name => self.in_path(path, name)[0].clone(),
                });
                all.push(GeneratedRequest {
                    target: format!("{target}{}", needed_query(path)),
                    key: self.welcome_key(operation),
                    accept,
                    body: body.clone(),
                });
            }
        }
        all
    }

    /// Good and bad requests to one operation.
    fn requests(
        &self,
        document: &Value,
        path: &str,
        operation: &Value,
    ) -> impl Strategy<Value = GeneratedRequest> + use<> {
        let names: Vec<&str> = path.split(['{', '}']).skip(1).step_by(2).collect();
        let in_path: Vec<_> = names
            .iter()
            .map(|name| proptest::sample::select(self.in_path(path, name)))
            .collect();
        let template = path.to_owned();
        let target = in_path.prop_map(move |values| {
            let mut values = values.into_iter();
            fill(&template, |_| values.next().unwrap_or_default())
        });
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let body = match schema.is_object() {
            true => bodies(&Schema::read(document, schema)),
            false => option::weighted(0.1, Just(("{}".to_owned(), "application/json"))).boxed(),
        };
        let welcome = self.welcome_key(operation);
        let others = Role::ALL.map(|role| self.world.key(role));
        let others = [&others[..], &[String::new(), "wp_nonsense".into()]].concat();
        let key = prop_oneof![4 => Just(welcome), 1 => proptest::sample::select(others)];
        let accept =
            proptest::sample::select(vec!["", "text/csv", "text/html", "application/json", "*/*;q=x"]);
        (target, queries(operation), key, accept, body).prop_map(|(target, query, key, accept, body)| {
            GeneratedRequest {
                target: match query.is_empty() {
                    true => target,
                    false => format!("{target}?{query}"),
                },
                key,
                accept,
                body,
            }
        })
    }
}

/// Known parameters with likely and unlikely values, and now and then one that nobody knows.
fn queries(operation: &Value) -> BoxedStrategy<String> {
    let named = operation["parameters"].as_array().into_iter().flatten();
    let mut pairs: Vec<BoxedStrategy<Option<String>>> = named
        .filter(|p| p["in"] == "query")
        .filter_map(|p| p["name"].as_str())
        .map(|name| {
            let value = prop_oneof![4 => proptest::sample::select(likely(name)).prop_map(str::to_owned), 1 => any_text()];
            let name = name.to_owned();
            option::weighted(0.2, value.prop_map(move |value| format!("{name}={}", encoded(&value)))).boxed()
        })
        .collect();
    let odd = proptest::sample::select(vec!["sort=up", "limit=1&limit=2", "%FF=%FF", "&&", "=", "q=%00"]);
    pairs.push(option::weighted(0.1, odd.prop_map(str::to_owned)).boxed());
    pairs
        .prop_map(|pairs| pairs.into_iter().flatten().collect::<Vec<_>>().join("&"))
        .boxed()
}

/// Bodies that fit the schema, bodies that nearly do, and what is no JSON at all.
fn bodies(schema: &Schema) -> BoxedStrategy<Option<(String, &'static str)>> {
    const JSON: &str = "application/json";
    let fitting = schema.values("");
    let spoiled =
        (schema.values(""), any::<prop::sample::Index>(), junk()).prop_map(|(mut body, at, junk)| {
            if let Value::Object(fields) = &mut body {
                let names: Vec<String> = fields.keys().cloned().chain(["surprise".into()]).collect();
                fields.insert(names[at.index(names.len())].clone(), junk);
            }
            body
        });
    let broken = proptest::sample::select(vec![
        "",
        "{",
        "null",
        "[]",
        "\"x\"",
        "{\"a\":1,}",
        "[[[[[[[[[[",
        "\u{feff}{}",
        "{}{}",
        "1e999",
    ]);
    let deep = Just(format!("{}{}", "[".repeat(500), "]".repeat(500)));
    let media = proptest::sample::select(vec!["text/plain", "", "application/xml", "multipart/form-data"]);
    prop_oneof![
        5 => fitting.prop_map(|body| Some((body.to_string(), JSON))),
        3 => spoiled.prop_map(|body| Some((body.to_string(), JSON))),
        1 => broken.prop_map(|text| Some((text.to_owned(), JSON))),
        1 => deep.prop_map(|text| Some((text, JSON))),
        1 => media.prop_map(|media| Some(("{}".to_owned(), media))),
        1 => collection::vec(junk(), 0..3).prop_map(|items| Some((Value::from(items).to_string(), JSON))),
        1 => Just(None),
    ]
    .boxed()
}

/// A body of this shape that is accepted where it is sent.
pub fn good_body(name: &str, path: &str) -> Value {
    match name {
        "SubmitRequest" => json!({"to": ["a@example.com"], "body": "x"}),
        "BatchRequest" => json!({"notifications": [{"to": ["a@example.com"], "body": "x"}, {}]}),
        "BulkRequest" => json!({"filter": {"q": "nothing"}}),
        "EventReplayRequest" | "ScheduleReplayRequest" => json!({"filter": {"eventType": "nothing"}}),
        "SiteBulkRequest" => json!({"filter": {"target": "erp"}}),
        "ListRequest" if path.contains('{') => json!({"recipients": [{"address": "b@example.com"}]}),
        "ListRequest" => json!({"name": "fresh", "recipients": [{"address": "b@example.com"}]}),
        "EntryRequest" => json!({"address": "b@example.com"}),
        "ProviderRequest" if path.contains('{') => json!({"kind": "test-hook"}),
        "ProviderRequest" => json!({"id": "fresh", "kind": "capture"}),
        "TestRequest" => json!({"to": "a@example.com"}),
        "HoldRequest" | "ReasonRequest" => json!({"reason": "a reason"}),
        "ResendRequest" => json!({"expiresAt": "2099-01-01T00:00:00Z"}),
        "KeyRequest" => json!({"name": "fresh", "role": "producer"}),
        "UserRequest" => json!({"name": "bob", "role": "operator"}),
        "UserChange" => json!({"role": "operator"}),
        "SiteRequest" => json!({"id": "south"}),
        "TenantRequest" => json!({"name": "fresh", "adminKey": "first"}),
        "TemplateRequest" if path.contains('{') => json!({"body": "x {{a}}", "version": 1}),
        "TemplateRequest" => json!({"eventType": "fresh", "channel": "Sms", "body": "x"}),
        "UnsavedPreviewRequest" => {
            json!({"eventType": "fresh", "channel": "Sms", "body": "{{a}}", "payload": {"a": 1}})
        }
        "PreviewRequest" => json!({"payload": {"guestName": "Asha"}}),
        "TemplateTestRequest" => json!({"to": "a@example.com", "payload": {"guestName": "Asha"}}),
        "SuppressionRequest" => json!({"address": "fresh@example.com"}),
        "ChannelRequest" => json!({"failover": true}),
        "TemplateSettingsView" => json!({"dateFormat": "%d.%m.%Y"}),
        "EventRequest" => {
            json!({"eventType": "booking.confirmed", "entityId": "7", "payload": {"guestEmail": "a@example.com"}})
        }
        "EventTypeRequest" => json!({"dedupe": "event", "addresses": {"Email": "guest.email"}}),
        "EntityResendRequest" => json!({"channel": "Email"}),
        "ReplayBody" => json!({"newTemplates": true}),
        other => panic!("no good body of {other}"),
    }
}

/// What a path cannot be asked without.
fn needed_query(path: &str) -> &'static str {
    match path {
        "/api/communication-logs" => "?bookingId=12345",
        _ => "",
    }
}

/// The path with its parameters replaced.
fn fill(path: &str, mut value: impl FnMut(&str) -> String) -> String {
    let parts = path.split('/').map(|part| {
        let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        name.map_or_else(|| part.to_owned(), &mut value)
    });
    parts.collect::<Vec<_>>().join("/")
}

fn encoded(text: &str) -> String {
    web::api::lists::encode(text)
}

/// One answer as far as the document speaks of it.
pub struct Answer {
    pub status: u16,
    media: String,
    pub text: String,
}

impl Answer {
    /// What about it is not in the document.
    pub fn misfit(&self, document: &Value, operation: &Value) -> Option<String> {
        let told = format!("{} {}: {:.600}", self.status, self.media, self.text);
        if self.status == 500 {
            return Some(told);
        }
        let described = &operation["responses"][self.status.to_string()];
        if !described.is_object() {
            return Some(format!("an undocumented status: {told}"));
        }
        let Some(contents) = described["content"].as_object() else {
            return (!self.text.is_empty()).then(|| format!("an undocumented body: {told}"));
        };
        let Some(content) = contents.get(&self.media) else {
            return Some(format!("an undocumented media type: {told}"));
        };
        if !self.media.ends_with("json") {
            return None;
        }
        let body: Value = match serde_json::from_str(&self.text) {
            Ok(body) => body,
            Err(error) => return Some(format!("{error}: {told}")),
        };
        let misfit = Schema::read(document, &content["schema"]).misfit(&body, "it");
        misfit.map(|why| format!("{why}\n    {told}"))
    }
}
