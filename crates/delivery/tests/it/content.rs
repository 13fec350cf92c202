//! What no provider of a kind could send is told before anything is sent, by the same words where it comes in.

use crate::{answers::services, world::*};
use delivery::{Captured, Registry};
use domain::{Content, FailureKind, Scope, field_error::in_words};
use serde_json::{Value, json};
use std::sync::Arc;

fn content(data: &Value) -> Content {
    Content {
        subject: "Pump 3".into(),
        body: "is hot".into(),
        type_data: Some(data.to_string()),
        ..Content::default()
    }
}

/// Kind, type data, and the field that is wrong with it.
fn cases() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("ntfy", json!({"priority": 6}), "typeData.priority"),
        ("ntfy", json!({"priority": "high"}), "typeData"),
        ("slack", json!({"blocks": "none"}), "typeData"),
        ("discord", json!({"embeds": {}}), "typeData"),
        ("telegram", json!({"messageThreadId": "first"}), "typeData"),
        ("telegram", json!({"parseMode": "BBCode"}), "typeData.parseMode"),
        (
            "teams",
            json!({"actions": [{"title": "Open", "url": format!("https://a.example/{}", "x".repeat(10_000))}]}),
            "typeData.actions",
        ),
        (
            "meta",
            json!({"template": {"name": "hot", "header": {"text": "a", "image": "b"}}}),
            "typeData",
        ),
        ("pushover", json!({"priority": 3}), "typeData.priority"),
        ("pushover", json!({"priority": 2, "retry": 5}), "typeData.retry"),
        (
            "pushover",
            json!({"priority": 2, "expire": 10_801}),
            "typeData.expire",
        ),
        ("pushbullet", json!({"url": 7}), "typeData"),
        ("teams", json!({"actions": [{"title": "no address"}]}), "typeData"),
        (
            "homeassistant",
            json!({"service": "lock.unlock"}),
            "typeData.service",
        ),
        (
            "homeassistant",
            json!({"service": "notify.../lock"}),
            "typeData.service",
        ),
        (
            "homeassistant",
            json!({"entityId": "lock.door"}),
            "typeData.entityId",
        ),
        ("apprise", json!({"type": "alarm"}), "typeData.type"),
        ("apprise", json!({"format": "rtf"}), "typeData.format"),
        ("twilio", json!(["not an object"]), "typeData"),
        ("msg91", json!({}), "typeData.template.name"),
        ("meta", json!({"template": {}}), "typeData.template.name"),
        (
            "interakt",
            json!({"template": {"name": " "}}),
            "typeData.template.name",
        ),
    ]
}

fn registry() -> Registry {
    Registry::standard(Arc::new(outside()), Captured::default())
}

#[test]
fn every_kind_names_what_it_could_not_send() {
    let registry = registry();
    for (kind, data, field) in cases() {
        let problems = registry.get(kind).unwrap().problems(&content(&data));
        let named: Vec<_> = problems.iter().map(|p| p.field.as_str()).collect();
        assert_eq!(named, [field], "{kind} {data}");
    }
    let blank = Content {
        subject: " ".into(),
        ..Content::default()
    };
    let problems = registry.get("pushover").unwrap().problems(&blank);
    assert_eq!(problems[0].field, "body", "{problems:?}");
}

#[test]
fn what_the_services_files_send_is_sendable_to_every_one_of_them() {
    let registry = registry();
    for service in services() {
        let message = service.message(&[]);
        let problems = registry.get(&service.kind).unwrap().problems(&message.content);
        assert_eq!(problems, [], "{}", service.kind);
    }
}

#[tokio::test]
async fn an_attempt_with_such_a_message_ends_as_validation_and_nothing_is_sent() {
    let receiver = simulator::HttpReceiver::start(simulator::HttpOptions::default())
        .await
        .unwrap();
    let registry = registry();
    for service in services() {
        let adapter = adapter(&service.kind, service.settings_at(&receiver));
        for (_, data, _) in cases().into_iter().filter(|case| case.0 == service.kind) {
            let mut message = service.message(&service.to.as_deref().into_iter().collect::<Vec<_>>());
            message.content.type_data = Some(data.to_string());
            let failed = failure(adapter.deliver(&message, long_attempt()).await);
            assert_eq!(
                (failed.kind, failed.scope, failed.code.as_ref()),
                (FailureKind::Permanent, Scope::Message, "VALIDATION"),
                "{} {data}",
                service.kind
            );
            let told = registry.get(&service.kind).unwrap().problems(&message.content);
            assert_eq!(failed.detail, in_words(&told), "the same words");
        }
    }
    assert_eq!(receiver.requests().len(), 0);
}
