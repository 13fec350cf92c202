//! The far ends as somebody uses them by hand: faults while they run, and a look at what arrived.

use crate::{answers::services, world::*};
use domain::FailureKind;
use serde_json::{Value, json};
use simulator::{HttpOptions, HttpReceiver, SmtpOptions};
use std::sync::Arc;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// One request to the control API: the status, and the body.
pub async fn ask(receiver: &HttpReceiver, method: &str, path: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(receiver.address()).await.unwrap();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: simulator\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}

async fn received(receiver: &HttpReceiver) -> Vec<Value> {
    let (status, body) = ask(receiver, "GET", "/simulator/received", "").await;
    assert_eq!(status, 200);
    let answer: Value = serde_json::from_str(&body).unwrap();
    answer["items"].as_array().unwrap().clone()
}

async fn receiver() -> HttpReceiver {
    HttpReceiver::start(HttpOptions::default()).await.unwrap()
}

#[tokio::test]
async fn what_every_service_is_sent_is_shown_as_its_reader_would_see_it() {
    let receiver = receiver().await;
    for service in services() {
        ask(&receiver, "DELETE", "/simulator/received", "").await;
        let adapter = adapter(&service.kind, service.settings_at(&receiver));
        let message = service.message(&service.to.as_deref().into_iter().collect::<Vec<_>>());
        assert_delivered(&adapter.deliver(&message, long_attempt()).await);
        let shown = received(&receiver).await;
        let [one] = shown.as_slice() else {
            panic!("{}: {shown:?}", service.kind)
        };
        assert_eq!(one["service"], json!(service.kind), "{one}");
        assert_eq!(one["taken"], json!(true), "{one}");
        // A template shows what it is filled with instead of the text.
        let templates = one["title"].as_str().unwrap().starts_with("template ");
        let text = one["text"].as_str().unwrap();
        assert!(templates && !text.is_empty() || text.contains("87 °C"), "{one}");
        if let Some(to) = &service.to {
            let to = to.trim_start_matches(['+', '#']);
            assert!(one["to"].as_str().unwrap().contains(to), "{one}");
        }
        let (_, page) = ask(&receiver, "GET", "/simulator", "").await;
        assert!(
            page.contains(text.lines().next().unwrap()),
            "{}: {page}",
            service.kind
        );
    }
}

#[tokio::test]
async fn faults_are_put_on_the_dial_and_taken_off_while_it_runs() {
    let mail = Arc::new(smtp(SmtpOptions::default()).await);
    let receiver = HttpReceiver::start(HttpOptions {
        mail: Some(mail.clone()),
        ..HttpOptions::default()
    })
    .await
    .unwrap();
    let all = services();
    let slack = all.iter().find(|service| service.kind == "slack").unwrap();
    let chat = adapter("slack", slack.settings_at(&receiver));
    let post = adapter("smtp", smtp_settings(&mail, json!({})));
    let (message, letter) = (slack.message(&[]), mail_to_one());
    let fault = json!({"service": "slack", "status": 429, "retryAfter": 30, "times": 1}).to_string();
    assert_eq!(ask(&receiver, "POST", "/simulator/faults", &fault).await.0, 204);
    let refusal = json!({"service": "smtp", "reply": "450 4.2.1 later"}).to_string();
    assert_eq!(ask(&receiver, "POST", "/simulator/faults", &refusal).await.0, 204);
    let busy = failure(chat.deliver(&message, long_attempt()).await);
    assert_eq!(busy.retry_after.map(|wait| wait.as_secs()), Some(30), "{busy:?}");
    assert_delivered(&chat.deliver(&message, long_attempt()).await);
    assert_eq!(received(&receiver).await.len(), 2);
    let later = failure(post.deliver(&letter, long_attempt()).await);
    assert_eq!(later.kind, FailureKind::Transient, "{later:?}");
    let (_, listed) = ask(&receiver, "GET", "/simulator/faults", "").await;
    assert!(listed.contains("450 4.2.1 later"), "{listed}");
    assert_eq!(ask(&receiver, "DELETE", "/simulator/faults", "").await.0, 204);
    assert_delivered(&post.deliver(&letter, long_attempt()).await);
    let shown = received(&receiver).await;
    let caught = shown.iter().find(|one| one["service"] == "smtp").unwrap();
    assert_eq!(
        (&caught["title"], &caught["to"]),
        (&json!("Pump 3 is hot"), &json!("a@example.com"))
    );
    let cut = json!({"service": "slack", "cut": true}).to_string();
    ask(&receiver, "POST", "/simulator/faults", &cut).await;
    let silent = failure(chat.deliver(&message, long_attempt()).await);
    assert_eq!(silent.kind, FailureKind::Ambiguous, "{silent:?}");
    ask(&receiver, "DELETE", "/simulator/faults", "").await;
    // One at once, and the next one in a quarter of an hour.
    let one_at_once = json!({"service": "slack", "rate": 0.001}).to_string();
    ask(&receiver, "POST", "/simulator/faults", &one_at_once).await;
    assert_delivered(&chat.deliver(&message, long_attempt()).await);
    let over = failure(chat.deliver(&message, long_attempt()).await);
    assert_eq!(over.code, "RATE_LIMITED", "{over:?}");
    assert_eq!(
        ask(&receiver, "POST", "/simulator/faults", "{\"colour\": 1}")
            .await
            .0,
        422
    );
}

fn mail_to_one() -> delivery::Message {
    mail(&["a@example.com"])
}

/// Adapters of services that tell later, and what their callbacks are sent to.
async fn told_by_twilio(far_end: &HttpReceiver, ours: &HttpReceiver, messages: usize) {
    let all = services();
    let twilio = all.iter().find(|service| service.kind == "twilio").unwrap();
    let registry = delivery::Registry::standard(Arc::new(outside()), delivery::Captured::default());
    let owner = delivery::kind::Owner {
        tenant: domain::TenantId::DEFAULT,
        provider: domain::ProviderId::new("sms"),
    };
    let (settings, callback) = (
        twilio.settings_at(far_end),
        ours.url("/callbacks/sms/0123456789abcdef"),
    );
    let kind = registry.get("twilio").unwrap();
    let adapter = kind
        .build_with_receipts(&owner, settings.as_object().unwrap(), &callback)
        .unwrap();
    for _ in 0..messages {
        assert_delivered(
            &adapter
                .deliver(&twilio.message(&["+919876543210"]), long_attempt())
                .await,
        );
    }
}

fn states_told(ours: &HttpReceiver) -> Vec<String> {
    let state = |body: &[u8]| {
        let mut fields = url::form_urlencoded::parse(body);
        let found = fields.find(|(name, _)| name == "MessageStatus");
        found.map_or(String::new(), |(_, value)| value.into_owned())
    };
    ours.requests()
        .iter()
        .map(|request| state(&request.body))
        .collect()
}

#[tokio::test]
async fn what_became_of_what_arrived_is_told_when_somebody_asks_for_it() {
    let (far_end, ours) = (receiver().await, receiver().await);
    told_by_twilio(&far_end, &ours, 3).await;
    assert_eq!(ours.counts().requests, 0, "nothing is told unasked");
    let asked = json!({"service": "twilio", "states": ["delivered", "read"], "lateMs": 1, "secret": "0f1e", "last": 2});
    let (status, answer) = ask(&far_end, "POST", "/simulator/receipts", &asked.to_string()).await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(
        (status, answer),
        (200, json!({"messages": 2, "receipts": 4, "unaddressed": 0}))
    );
    ours.wait_until(|counts| counts.taken >= 4).await;
    let mut told = states_told(&ours);
    told.sort();
    assert_eq!(told, ["delivered", "delivered", "read", "read"]);
    assert!(
        ours.requests()
            .iter()
            .all(|r| r.path == "/callbacks/sms/0123456789abcdef")
    );
    assert!(
        ours.requests()
            .iter()
            .all(|r| r.query.as_deref().unwrap_or_default().starts_with("ref="))
    );

    ours.forget();
    let asked = json!({"states": "accepted,failed", "code": "30005", "twice": true, "shuffled": true, "last": 1, "keep": true});
    ask(&far_end, "POST", "/simulator/receipts", &asked.to_string()).await;
    ours.wait_until(|counts| counts.taken >= 4).await;
    told_by_twilio(&far_end, &ours, 1).await;
    ours.wait_until(|counts| counts.taken >= 8).await;
    let mut told = states_told(&ours);
    told.sort();
    assert_eq!(told, [["sent"; 4], ["undelivered"; 4]].concat());

    let (_, page) = ask(&far_end, "GET", "/simulator", "").await;
    assert!(page.contains("Tell nothing more"), "{page}");
    let (_, dial) = ask(&far_end, "GET", "/simulator/dial", "").await;
    assert!(dial.contains("action=\"/simulator/receipts\""), "{dial}");
    assert_eq!(ask(&far_end, "DELETE", "/simulator/receipts", "").await.0, 204);
    ours.forget();
    told_by_twilio(&far_end, &ours, 1).await;
    let (_, so_far) = ask(&far_end, "GET", "/simulator/receipts", "").await;
    let so_far: Value = serde_json::from_str(&so_far).unwrap();
    assert_eq!(so_far, json!({"plan": null, "taken": 12, "refused": 0}));
    assert_eq!(ours.counts().requests, 0);
    let (status, why) = ask(
        &far_end,
        "POST",
        "/simulator/receipts",
        "{\"states\": [\"lost\"]}",
    )
    .await;
    assert_eq!(status, 422, "{why}");
}

#[tokio::test]
async fn a_service_that_was_told_by_hand_where_to_call_back_is_told_here_too() {
    let (far_end, ours) = (receiver().await, receiver().await);
    let all = services();
    let meta = all.iter().find(|service| service.kind == "meta").unwrap();
    let adapter = adapter("meta", meta.settings_at(&far_end));
    assert_delivered(
        &adapter
            .deliver(&meta.message(&["+919876543210"]), long_attempt())
            .await,
    );
    let (_, answer) = ask(&far_end, "POST", "/simulator/receipts", "{}").await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer, json!({"messages": 1, "receipts": 0, "unaddressed": 1}));
    let asked = json!({"service": "meta", "url": ours.url("/callbacks/wa/0123"), "secret": "app-secret", "states": ["read"]});
    ask(&far_end, "POST", "/simulator/receipts", &asked.to_string()).await;
    ours.wait_for(1).await;
    let requests = ours.requests();
    assert_eq!(
        requests[0].json()["entry"][0]["changes"][0]["value"]["statuses"][0]["status"],
        "read"
    );
    assert!(
        requests[0]
            .header("x-hub-signature-256")
            .unwrap()
            .starts_with("sha256=")
    );
}
