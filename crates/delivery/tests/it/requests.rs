//! What each service is sent, as its file in `tests/answers` has it.

use crate::{
    answers::{Service, fixed_adapter, services},
    world::*,
};
use delivery::{Adapter, Attempt, Message};
use domain::Timestamp;
use serde_json::{Map, Value, json};
use simulator::{HttpOptions, HttpReceiver, http::Received};

/// What a request says, in the words of the files: the headers they name, and the body as the file has it.
fn told(request: &Received, wanted: &Value, id: &str) -> Value {
    let mut told = json!({"path": match &request.query {
        Some(query) => format!("{}?{query}", request.path),
        None => request.path.clone(),
    }});
    for name in wanted["headers"].as_object().into_iter().flat_map(Map::keys) {
        told["headers"][name] = json!(request.header(name));
    }
    if wanted["form"].is_object() {
        let fields = url::form_urlencoded::parse(&request.body);
        told["form"] = fields
            .map(|(name, value)| (name.into_owned(), json!(value)))
            .collect();
    } else {
        told["json"] = request.json();
    }
    serde_json::from_str(&told.to_string().replace(id, "{id}")).unwrap()
}

async fn asked(service: &Service, receiver: &HttpReceiver) -> Value {
    let to: Vec<_> = service.to.as_deref().into_iter().collect();
    let mut message = service.message(&to);
    // Two minutes from now, for the services that can be told.
    message.content.expires_at = Some(Timestamp::from_millis(1_767_225_720_000));
    let adapter = fixed_adapter(&service.kind, service.settings_at(receiver));
    assert_delivered(&adapter.deliver(&message, long_attempt()).await);
    let requests = receiver.requests();
    told(
        requests.last().unwrap(),
        &service.request,
        &message.id.to_string(),
    )
}

#[tokio::test]
async fn every_service_is_sent_what_its_file_says() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    for service in services() {
        assert_eq!(
            asked(&service, &receiver).await,
            service.request,
            "{}",
            service.kind
        );
    }
}

#[tokio::test]
async fn a_message_of_home_assistant_can_name_a_service_that_notifies_and_no_other() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let all = services();
    let home = all
        .iter()
        .find(|service| service.kind == "homeassistant")
        .unwrap();
    let adapter = fixed_adapter("homeassistant", home.settings_at(&receiver));
    for (data, path) in [
        (json!({"service": "notify.kitchen"}), "notify/kitchen"),
        (
            json!({"service": "persistent_notification.create"}),
            "persistent_notification/create",
        ),
        (json!({"entityId": "notify.hall"}), "notify/send_message"),
    ] {
        let mut message = home.message(&[]);
        message.content.type_data = Some(data.to_string());
        assert_delivered(&adapter.deliver(&message, long_attempt()).await);
        let requests = receiver.requests();
        let last = requests.last().unwrap();
        assert!(
            last.path.ends_with(&format!("/api/services/{path}")),
            "{}",
            last.path
        );
    }
    let sent = receiver.counts().requests;
    let mut message = home.message(&[]);
    message.content.type_data = Some(json!({"service": "lock.unlock"}).to_string());
    let refused = failure(adapter.deliver(&message, long_attempt()).await);
    assert_eq!(
        (refused.code.as_ref(), receiver.counts().requests),
        ("VALIDATION", sent)
    );
}

/// The body of a message's attempt in a generation.
async fn body(adapter: &dyn Adapter, receiver: &HttpReceiver, message: &Message, generation: i32) -> Value {
    let attempt = Attempt {
        generation,
        ..long_attempt()
    };
    assert_delivered(&adapter.deliver(message, attempt).await);
    receiver.requests().last().unwrap().json()
}

#[tokio::test]
async fn sent_again_by_a_person_a_message_is_another_where_a_service_drops_repeats_and_the_same_where_it_replaces_them()
 {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let all = services();
    let onto_its_screen = json!({ "service": "persistent_notification" }).to_string();
    for (kind, data, names_the_generation) in [
        ("pushbullet", None, true),
        ("meta", None, true),
        ("interakt", None, true),
        ("ntfy", None, false),
        ("homeassistant", Some(onto_its_screen), false),
    ] {
        let service = all.iter().find(|service| service.kind == kind).unwrap();
        let adapter = fixed_adapter(kind, service.settings_at(&receiver));
        let to: Vec<_> = service.to.as_deref().into_iter().collect();
        let mut message = service.message(&to);
        message.content.type_data = data.or(message.content.type_data);
        let first = body(adapter.as_ref(), &receiver, &message, 0).await;
        assert!(
            first.to_string().contains(&message.id.to_string()),
            "{kind}: {first}"
        );
        let repeat = body(adapter.as_ref(), &receiver, &message, 0).await;
        assert_eq!(first, repeat, "{kind}: an attempt more is no other message");
        let again = body(adapter.as_ref(), &receiver, &message, 1).await;
        assert_eq!(first != again, names_the_generation, "{kind}: {again}");
    }
}

#[tokio::test]
async fn an_emergency_of_pushover_calls_nobody_beyond_its_time() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let all = services();
    let pushover = all.iter().find(|service| service.kind == "pushover").unwrap();
    let adapter = fixed_adapter("pushover", pushover.settings_at(&receiver));
    let in_seconds = |n: i64| Timestamp::from_millis(1_767_225_600_000 + n * 1000);
    for (data, expires, expire) in [
        (json!({"priority": 2}), None, "3600"),
        (json!({"priority": 2}), Some(in_seconds(120)), "120"),
        (json!({"priority": 2, "expire": 60}), Some(in_seconds(120)), "60"),
        (
            json!({"priority": 2, "expire": 10_800}),
            Some(in_seconds(1_000_000)),
            "10800",
        ),
    ] {
        let mut message = pushover.message(&pushover.to());
        message.content.type_data = Some(data.to_string());
        message.content.expires_at = expires;
        assert_delivered(&adapter.deliver(&message, long_attempt()).await);
        let requests = receiver.requests();
        let mut fields = url::form_urlencoded::parse(&requests.last().unwrap().body);
        let told = fields.find(|(name, _)| name == "expire");
        assert_eq!(told.unwrap().1, expire, "{data}, {expires:?}");
    }
}
