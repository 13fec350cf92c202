//! What services are sent for a template's header, its named parameters and its ids, and for a text inside a conversation.

use crate::{
    answers::{fixed_adapter, services},
    world::*,
};
use delivery::{Captured, Registry, adapter::TemplateUse};
use serde_json::{Value, json};
use simulator::{HttpOptions, HttpReceiver, http::HttpRule};
use std::sync::Arc;

const TO: &str = "+919876543210";

/// What the service is asked for a message with this data, under settings with these changes.
async fn asked(kind: &str, changes: Value, data: &Value, body: &str) -> (Value, Option<String>) {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let service = services()
        .into_iter()
        .find(|service| service.kind == kind)
        .unwrap();
    let mut settings = service.settings_at(&receiver);
    for (name, value) in changes.as_object().unwrap() {
        settings[name] = value.clone();
    }
    let mut message = service.message(&[TO]);
    message.content.type_data = Some(data.to_string());
    message.content.subject = String::new();
    message.content.body = body.to_owned();
    assert_delivered(
        &fixed_adapter(kind, settings)
            .deliver(&message, long_attempt())
            .await,
    );
    let requests = receiver.requests();
    let last = requests.last().unwrap();
    (last.json(), last.header("authorization").map(str::to_owned))
}

#[tokio::test]
async fn a_header_goes_where_each_service_wants_it() {
    let bill = "https://a.example/bills/7.pdf";
    for (header, of_meta, of_interakt) in [
        (
            json!({"text": "Hello"}),
            json!({"type": "text", "text": "Hello"}),
            json!(["Hello"]),
        ),
        (
            json!({"image": "https://a.example/i.png"}),
            json!({"type": "image", "image": {"link": "https://a.example/i.png"}}),
            json!(["https://a.example/i.png"]),
        ),
        (
            json!({"document": bill, "fileName": "bill.pdf"}),
            json!({"type": "document", "document": {"link": bill, "filename": "bill.pdf"}}),
            json!([bill]),
        ),
        (
            json!({"document": bill}),
            json!({"type": "document", "document": {"link": bill, "filename": "7.pdf"}}),
            json!([bill]),
        ),
    ] {
        let data = json!({"template": {"name": "hot", "header": header}});
        let (meta, _) = asked("meta", json!({}), &data, "").await;
        let wanted = json!([{"type": "header", "parameters": [of_meta]}]);
        assert_eq!(meta["template"]["components"], wanted, "{header}");
        let (interakt, _) = asked("interakt", json!({}), &data, "").await;
        assert_eq!(interakt["template"]["headerValues"], of_interakt, "{header}");
        let name = header["fileName"].as_str().unwrap_or("7.pdf");
        match header["document"].is_string() {
            true => assert_eq!(interakt["template"]["fileName"], name),
            false => assert_eq!(interakt["template"].get("fileName"), None),
        }
    }
}

#[tokio::test]
async fn named_parameters_keep_their_names_where_the_service_knows_names() {
    let data = json!({"template": {"name": "hot", "params": {"guest": "Ann", "amount": 7}}});
    let (meta, _) = asked("meta", json!({}), &data, "").await;
    let wanted = json!([
        {"type": "text", "parameter_name": "amount", "text": "7"},
        {"type": "text", "parameter_name": "guest", "text": "Ann"},
    ]);
    assert_eq!(meta["template"]["components"][0]["parameters"], wanted);
    let (interakt, _) = asked("interakt", json!({}), &data, "").await;
    assert_eq!(interakt["template"]["bodyValues"], json!(["7", "Ann"]));
    let (msg91, _) = asked("msg91", json!({}), &data, "").await;
    assert_eq!(
        msg91["recipients"],
        json!([{"guest": "Ann", "amount": "7", "mobiles": "919876543210"}])
    );
}

#[tokio::test]
async fn inside_a_conversation_the_text_itself_goes_out_and_is_cut_at_its_limit() {
    let long = "ä".repeat(5_000);
    for (body, chars) in [("See you", 7), (long.as_str(), 4096)] {
        let (meta, _) = asked("meta", json!({}), &json!({}), body).await;
        assert_eq!(meta["type"], "text");
        let (interakt, _) = asked("interakt", json!({}), &json!({}), body).await;
        assert_eq!(interakt["type"], "Text");
        for text in [&meta["text"]["body"], &interakt["data"]["message"]] {
            let text = text.as_str().unwrap();
            assert_eq!(text.chars().count(), chars);
            assert_eq!(text.ends_with("[cut: too long for this service]"), chars == 4096);
            assert!(text.starts_with(&body[..6]));
        }
    }
}

#[tokio::test]
async fn a_raw_key_of_interakt_is_encoded_and_another_is_not() {
    for (key, raw, header) in [
        ("c2VjcmV0LXNlY3JldA==", false, "Basic c2VjcmV0LXNlY3JldA=="),
        ("Basic c2VjcmV0LXNlY3JldA==", false, "Basic c2VjcmV0LXNlY3JldA=="),
        ("secret-secret", true, "Basic c2VjcmV0LXNlY3JldDo="),
    ] {
        let changes = json!({"apiKey": key, "apiKeyIsRaw": raw});
        let (_, sent) = asked("interakt", changes, &json!({}), "hello").await;
        assert_eq!(sent.as_deref(), Some(header));
    }
}

#[tokio::test]
async fn a_raw_key_is_shown_in_no_form_when_the_service_repeats_it() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    receiver.on(HttpRule::status(401).body("no: secret-secret, c2VjcmV0LXNlY3JldDo="));
    let all = services();
    let service = all.iter().find(|service| service.kind == "interakt").unwrap();
    let mut settings = service.settings_at(&receiver);
    settings["apiKey"] = json!("secret-secret");
    settings["apiKeyIsRaw"] = json!(true);
    let adapter = fixed_adapter("interakt", settings);
    let refused = failure(adapter.deliver(&service.message(&[TO]), long_attempt()).await);
    assert!(!refused.detail.contains("secret"), "{}", refused.detail);
    assert!(!refused.detail.contains("c2VjcmV0"), "{}", refused.detail);
}

#[tokio::test]
async fn a_template_that_the_register_refuses_is_named_by_its_id_there() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    receiver.on(HttpRule::status(200).body(&json!({"type": "error", "message": "631"}).to_string()));
    let all = services();
    let service = all.iter().find(|service| service.kind == "msg91").unwrap();
    let mut settings = service.settings_at(&receiver);
    settings["templates"] = json!({"hot": "64f0 dlt=1107161234567890123 entity=1101234567890123456"});
    let adapter = fixed_adapter("msg91", settings);
    let refused = failure(adapter.deliver(&service.message(&[TO]), long_attempt()).await);
    assert!(
        refused
            .detail
            .ends_with("(DLT template 1107161234567890123, entity 1101234567890123456)"),
        "{}",
        refused.detail
    );
}

#[test]
fn a_category_that_would_let_advertising_out_at_night_is_refused_when_it_is_saved() {
    let registry = Registry::standard(Arc::new(outside()), Captured::default());
    let check = |category: &str| {
        let templates = json!({"offer": format!("64f0 category={category}")});
        let settings = json!({"authkey": "k", "templates": templates});
        registry
            .get("msg91")
            .unwrap()
            .check(settings.as_object().unwrap())
    };
    for known in ["promotional", "transactional", "service", "Promotional"] {
        assert_eq!(check(known), [], "{known}");
    }
    for unknown in ["promo", "marketing", ""] {
        let problems = check(unknown);
        assert_eq!(problems[0].field, "settings.templates.offer");
        let words = &problems[0].problem;
        assert!(words.contains("promotional, transactional or service"), "{words}");
    }
}

#[tokio::test]
async fn what_is_made_of_a_template_does_not_go_on_to_a_provider_without_it() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    for (kind, knows) in [
        ("msg91", true),
        ("meta", true),
        ("interakt", true),
        ("twilio", false),
    ] {
        let all = services();
        let service = all.iter().find(|service| service.kind == kind).unwrap();
        let mut settings = service.settings_at(&receiver);
        if knows {
            settings["templates"] = json!({"hot": "64f0"});
        }
        let adapter = fixed_adapter(kind, settings);
        let (hot, cold) = match knows {
            true => (TemplateUse::Known, TemplateUse::Unknown),
            false => (TemplateUse::SendsText, TemplateUse::SendsText),
        };
        assert_eq!(adapter.template_use("hot"), hot, "{kind}");
        assert_eq!(adapter.template_use("cold"), cold, "{kind}");
        if knows {
            let mut message = service.message(&[TO]);
            message.content.type_data = Some(json!({"template": {"name": "cold"}}).to_string());
            let refused = failure(adapter.deliver(&message, long_attempt()).await);
            assert_eq!(
                (refused.code.as_ref(), refused.ours),
                ("TEMPLATE", true),
                "{kind}"
            );
        }
    }
    assert_eq!(receiver.counts().requests, 0, "nobody was asked");
}
