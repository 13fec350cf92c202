//! What each service is sent, as its file in `tests/answers` has it.

use crate::{
    answers::{Service, fixed_adapter, services},
    world::*,
};
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
