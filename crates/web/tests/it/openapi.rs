//! The OpenAPI document against the API it describes.

use crate::world::World;
use delivery::{Captured, Outside, Registry};
use domain::SystemClock;
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, sync::Arc};
use store::directory::Role;

pub fn document() -> Value {
    serde_json::from_slice(&web::openapi::json()).unwrap()
}

/// Method, path and operation of every route in the document.
pub fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let mut all = vec![];
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            all.push((method.to_uppercase(), path.clone(), operation));
        }
    }
    all
}

/// A body the route accepts, if it takes one.
pub fn sample_body(document: &Value, operation: &Value) -> Option<Value> {
    let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
    let name = schema["$ref"].as_str()?.rsplit('/').next()?;
    assert!(document["components"]["schemas"][name].is_object());
    Some(match name {
        "SubmitRequest" => json!({"to": ["a@example.com"], "body": "x"}),
        "BatchRequest" => json!([{"to": ["a@example.com"], "body": "x"}]),
        "BulkRequest" | "SiteBulkRequest" | "EventReplayRequest" | "ScheduleReplayRequest" => {
            json!({"filter": {}, "dryRun": true})
        }
        "ListRequest" | "HoldRequest" | "ReasonRequest" | "ResendRequest" => json!({}),
        "EntryRequest" => json!({"address": "b@example.com"}),
        "ProviderRequest" => json!({"kind": "test-hook"}),
        "TestRequest" => json!({"to": "a@example.com"}),
        "KeyRequest" => json!({"name": "sample"}),
        "UserRequest" => json!({"name": "sample"}),
        "UserChange" => json!({}),
        "SiteRequest" => json!({"id": "a sample"}),
        "TenantRequest" => json!({"name": "a sample"}),
        "TemplateRequest" => json!({"eventType": "sample", "channel": "Email", "body": "x", "version": 1}),
        "UnsavedPreviewRequest" => json!({"eventType": "sample", "channel": "Email", "body": "x"}),
        "PreviewRequest" | "TemplateTestRequest" => json!({"payload": {}}),
        "SuppressionRequest" => json!({"address": "sample@example.com"}),
        "ChannelRequest" => json!({"failover": true}),
        "TemplateSettingsView" | "ReplayBody" => json!({}),
        "EventRequest" => json!({"eventType": "sample", "entityId": "1"}),
        "EventTypeRequest" => json!({"dedupe": "event"}),
        "EntityResendRequest" => json!({"channel": "Email"}),
        other => panic!("no sample for {other}"),
    })
}

#[tokio::test]
async fn the_document_is_openapi_3_1_and_every_reference_resolves() {
    let world = World::new().await;
    let served = world.ask("GET", "/openapi.json", "", None).await;
    assert_eq!(served.headers["content-type"], "application/json");
    let document = served.expect(200);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut refs = BTreeSet::new();
    collect_refs(&document, &mut refs);
    for link in refs {
        let name = link
            .strip_prefix("#/components/schemas/")
            .unwrap_or_else(|| panic!("{link}"));
        assert!(schemas.contains_key(name), "{link} leads nowhere");
    }
    let ids: Vec<_> = operations(&document)
        .iter()
        .map(|(_, _, o)| o["operationId"].to_string())
        .collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
}

fn collect_refs(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (name, inner) in map {
                match inner {
                    Value::String(link) if name == "$ref" => drop(into.insert(link.clone())),
                    inner => collect_refs(inner, into),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_refs(item, into)),
        _ => {}
    }
}

#[test]
fn every_operation_says_what_it_takes_answers_and_who_may() {
    let document = document();
    for (method, path, operation) in operations(&document) {
        let route = format!("{method} {path}");
        assert!(operation["summary"].is_string(), "{route}");
        let answers = operation["responses"].as_object().unwrap();
        assert!(answers.keys().any(|status| status.starts_with('2')), "{route}");
        for name in path
            .split('/')
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        {
            let known = operation["parameters"].as_array().unwrap();
            assert!(
                known.iter().any(|p| p["name"] == name && p["in"] == "path"),
                "{route} {name}"
            );
        }
        if path.starts_with("/api/") {
            assert!(
                operation["security"][0]["apiKey"]
                    .as_array()
                    .is_some_and(|r| !r.is_empty()),
                "{route}"
            );
            assert!(
                answers.contains_key("401") && answers.contains_key("403"),
                "{route}"
            );
        }
        if operation["requestBody"].is_object() {
            assert!(
                answers.contains_key("422") && answers.contains_key("413"),
                "{route}"
            );
        }
    }
}

#[test]
fn bodies_that_may_be_longer_than_a_megabyte_say_how_long() {
    let document = document();
    for (name, longest) in [
        ("SubmitRequest", web::body::MAX_SUBMIT_BYTES),
        ("BatchRequest", web::body::MAX_BATCH_BYTES),
        ("EventRequest", web::body::MAX_EVENT_BYTES),
    ] {
        let told = document["components"]["schemas"][name]["description"]
            .as_str()
            .unwrap();
        let said = format!("at most {} MiB", longest >> 20);
        assert!(told.contains(&said), "{name}: {told}");
    }
}

#[test]
fn what_answers_leave_out_is_named_in_the_docs() {
    let page = include_str!("../../../../docs/http-api.md");
    let (_, told) = page.split_once("Left out when").unwrap();
    let (told, _) = told.split_once("\n- ").unwrap();
    let mut seen = 0;
    for shape in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/dto")).unwrap() {
        let text = std::fs::read_to_string(shape.unwrap().path()).unwrap();
        for (_, after) in text
            .match_indices("skip_serializing_if")
            .map(|(at, _)| text.split_at(at))
        {
            let (_, field) = after.split_once("pub ").unwrap();
            let (field, _) = field.split_once(':').unwrap();
            let name = in_camel_case(field);
            assert!(told.contains(&format!("`{name}`")), "{name}");
            seen += 1;
        }
    }
    assert!(seen >= 7, "only {seen} were found");
}

fn in_camel_case(field: &str) -> String {
    let mut words = field.split('_');
    let first = words.next().unwrap().to_owned();
    words.fold(first, |name, word| {
        let (letter, rest) = word.split_at(1);
        name + &letter.to_uppercase() + rest
    })
}

#[tokio::test]
async fn every_documented_route_is_served_and_every_documented_parameter_is_read() {
    let world = World::new().await;
    let document = document();
    for (method, path, operation) in operations(&document) {
        if path == "/api/stream" {
            continue;
        }
        let key = if path.starts_with("/api/tenants") {
            world.key(Role::Ops)
        } else {
            world.key(Role::Admin)
        };
        let filled = path
            .replace("{name}", "ops")
            .replace("{address}", "x")
            .replace("{messageId}", "x")
            .replace("{version}", "1")
            .replace("{token}", "x")
            .replace("{id}", "x");
        let body = || sample_body(&document, operation);
        let bare = world.ask(&method, &filled, &key, body()).await;
        assert_ne!(bare.status.as_u16(), 405, "{method} {path}");
        assert!(!bare.text.contains("nothing at this path"), "{method} {path}");
        for param in operation["parameters"].as_array().into_iter().flatten() {
            let name = param["name"].as_str().unwrap();
            if param["in"] != "query" || name == "tenant" {
                continue;
            }
            let answer = world
                .ask(&method, &format!("{filled}?{name}=x"), &key, body())
                .await;
            assert!(
                !answer.text.contains("not a known parameter"),
                "{method} {path} {name}"
            );
        }
    }
}

/// The names of an object's fields, those of its parts too.
fn fields_of(document: &Value, schema: &Value) -> Vec<String> {
    if let Some(link) = schema["$ref"].as_str() {
        let name = link.rsplit('/').next().unwrap();
        return fields_of(document, &document["components"]["schemas"][name]);
    }
    let own = schema["properties"].as_object().into_iter().flatten();
    let parts = schema["allOf"].as_array().into_iter().flatten();
    own.map(|(name, _)| name.clone())
        .chain(parts.flat_map(|part| fields_of(document, part)))
        .collect()
}

#[tokio::test]
async fn every_documented_field_of_a_body_is_read() {
    let world = World::new().await;
    let document = document();
    let mut seen = 0;
    for (method, path, operation) in operations(&document) {
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let Some(name) = schema["$ref"].as_str().and_then(|link| link.rsplit('/').next()) else {
            continue;
        };
        let fields = fields_of(&document, &document["components"]["schemas"][name]);
        assert!(!fields.is_empty(), "{name}");
        let nulls: Map<String, Value> = fields.into_iter().map(|field| (field, Value::Null)).collect();
        let key = if path.starts_with("/api/tenants") {
            world.key(Role::Ops)
        } else {
            world.key(Role::Admin)
        };
        let target = path
            .replace("{name}", "ops")
            .replace("{address}", "ops@example.com")
            .replace("{messageId}", "x")
            .replace("{version}", "1")
            .replace("{token}", "x")
            .replace("{id}", "mail");
        let answer = world
            .ask(&method, &target, &key, Some(Value::Object(nulls)))
            .await;
        // `version` is for changing a provider, not for making one.
        let text = answer
            .text
            .replace("\"field\":\"version\",\"problem\":\"is not a known field\"", "");
        assert!(
            !text.contains("is not a known field"),
            "{method} {path}: {}",
            answer.text
        );
        seen += 1;
    }
    assert!(seen >= 13, "{seen}");
}

#[tokio::test]
async fn the_page_for_people_lists_every_operation_and_loads_nothing_from_elsewhere() {
    let world = World::new().await;
    let page = world.ask("GET", "/docs", "", None).await;
    assert_eq!(page.status.as_u16(), 200);
    assert!(
        page.headers["content-security-policy"]
            .to_str()
            .unwrap()
            .starts_with("default-src 'none'")
    );
    for (method, path, operation) in operations(&document()) {
        assert!(
            page.text.contains(&format!("<code>{method} {path}</code>")),
            "{method} {path}"
        );
        let id = operation["operationId"].as_str().unwrap();
        assert!(
            page.text.contains(&format!("<a href=\"#{id}\">")),
            "{id} is in the table of contents"
        );
    }
    for code in web::problem::Code::ALL {
        assert!(
            page.text.contains(&format!("id=\"{}\"", code.as_str())),
            "{}",
            code.as_str()
        );
    }
    for (name, kind) in [("limit", "integer"), ("stuck", "boolean")] {
        let (_, rest) = page
            .text
            .split_once(&format!("<code>{name}</code></th><td>query</td><td>"))
            .unwrap();
        assert!(rest.starts_with(kind), "{name}: {}", &rest[..40]);
    }
    assert!(!page.text.contains("<script"));
    for elsewhere in ["src=\"http", "href=\"http", "src=\"//", "href=\"//"] {
        assert!(!page.text.contains(elsewhere), "{elsewhere}");
    }
}

#[tokio::test]
async fn no_example_of_the_document_is_refused_as_wrong() {
    let document = document();
    let mut bodies = 0;
    for (method, path, operation) in operations(&document) {
        let content = &operation["requestBody"]["content"]["application/json"];
        let Some(body) = content.get("example") else {
            assert!(content.is_null(), "{method} {path} has no example");
            continue;
        };
        let params = operation["parameters"].as_array().cloned().unwrap_or_default();
        let mut target = path.clone();
        for param in params.iter().filter(|param| param["in"] == "path") {
            let (name, value) = (&param["name"], param["example"].as_str().unwrap());
            let name = format!("{{{}}}", name.as_str().unwrap());
            target = target.replace(&name, &web::api::lists::encode(value));
        }
        let outside = Arc::new(Outside::new(Arc::new(SystemClock)));
        let real = Registry::standard(outside, Captured::default());
        let world = World::with_kinds(real.iter().cloned().collect()).await;
        let roles = operation["security"][0]["apiKey"].as_array().unwrap();
        let role = if roles.contains(&json!("admin")) {
            Role::Admin
        } else {
            Role::Ops
        };
        if path.starts_with("/api/providers") {
            world
                .ask("DELETE", "/api/providers/mail", &world.key(role), None)
                .await
                .expect(204);
            let made = web::examples::body("ProviderRequest", false);
            if method == "PUT" {
                world
                    .ask("POST", "/api/providers", &world.key(role), made)
                    .await
                    .expect(201);
            }
        }
        let answer = world
            .ask(&method, &target, &world.key(role), Some(body.clone()))
            .await;
        // What it is about need not be there; what it says must be right.
        let status = answer.status.as_u16();
        assert!(
            status < 300 || [404, 409, 503].contains(&status),
            "{method} {target}: {status} {}",
            answer.text
        );
        bodies += 1;
    }
    assert!(bodies >= 15, "{bodies}");
}

#[test]
fn the_document_names_every_field_that_a_key_is_made_of_where_none_is_given() {
    let schemas = &document()["components"]["schemas"];
    let parts = schemas["SubmitRequest"]["allOf"].as_array().unwrap();
    let key = &parts.last().unwrap()["properties"]["idempotencyKey"];
    let said = key["description"].as_str().unwrap();
    for field in [
        "runId",
        "ruleId",
        "ruleName",
        "providerId",
        "type",
        "listName",
        "to",
        "subject",
        "body",
        "bodyHtml",
        "typeData",
    ] {
        assert!(said.contains(&format!("`{field}`")), "{field}: {said}");
    }
}

#[test]
fn the_limits_in_the_document_are_those_that_are_checked() {
    use domain::submission::limit;
    let schemas = &document()["components"]["schemas"];
    for (shape, field, most) in [
        ("SubmitRequest", "idempotencyKey", limit::KEY),
        ("Heading", "listName", limit::LIST_NAME),
        ("Heading", "subject", limit::SUBJECT),
        ("Heading", "entityId", limit::NAME),
        ("Heading", "supersedesKey", limit::KEY),
        ("Source", "sourceSiteId", limit::NAME),
    ] {
        let all = match schemas[shape]["allOf"].as_array() {
            Some(parts) => &parts.last().unwrap()["properties"],
            None => &schemas[shape]["properties"],
        };
        assert_eq!(all[field]["maxLength"], most, "{shape}.{field}");
    }
}
