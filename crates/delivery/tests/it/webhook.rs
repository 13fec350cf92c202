//! Webhooks against a receiver that misbehaves as told.

use crate::world::*;
use delivery::{Adapter, Message, Outside};
use domain::{
    Channel,
    FailureKind::{Ambiguous, Permanent, Transient},
    HoldReason, ManualClock, Outcome, Scope, SystemClock,
};
use serde_json::{Value, json};
use simulator::{HttpOptions, HttpReceiver, Identity, http::HttpRule};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

async fn receiver() -> HttpReceiver {
    HttpReceiver::start(HttpOptions::default()).await.unwrap()
}

fn webhook(receiver: &HttpReceiver, changes: Value) -> Arc<dyn Adapter> {
    let mut settings = json!({"url": receiver.url("/hooks/T0KEN-IN-PATH")});
    for (name, value) in changes.as_object().unwrap() {
        settings[name] = value.clone();
    }
    adapter("webhook", settings)
}

/// For so long an idle connection is certainly kept.
const KEPT: Duration = Duration::from_secs(3);

/// How many connections a receiver saw of this. It is said to another one where this machine stood still in between for so long that
/// idle connections were closed.
async fn connections_of(said: impl AsyncFn(&HttpReceiver, &dyn Adapter)) -> u64 {
    for _ in 0..20 {
        let receiver = receiver().await;
        let (adapter, began) = (webhook(&receiver, json!({})), Instant::now());
        said(&receiver, adapter.as_ref()).await;
        if began.elapsed() < KEPT {
            return receiver.counts().connections;
        }
    }
    panic!("this machine stands still all the time");
}

fn event() -> Message {
    message(Channel::Webhook, &[])
}

#[tokio::test]
async fn the_request_is_what_standard_webhooks_asks_for() {
    let receiver = receiver().await;
    let adapter = webhook(
        &receiver,
        json!({"secret": SECRET, "headers": {"X-Team": "night shift"}}),
    );
    let message = event();
    assert_delivered(&adapter.deliver(&message, long_attempt()).await);
    let request = &receiver.requests()[0];
    assert_eq!(request.method, "POST");
    assert_eq!(request.path, "/hooks/T0KEN-IN-PATH");
    assert_eq!(
        request.header("webhook-id"),
        Some(message.id.to_string().as_str())
    );
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(
        request.header("content-length"),
        Some(request.body.len().to_string().as_str())
    );
    assert_eq!(request.header("x-team"), Some("night shift"));
    assert_eq!(
        request.json(),
        json!({"type": "notification", "timestamp": "2026-01-01T00:00:00.000Z", "data": {
            "notificationId": message.id.to_string(), "subject": "Pump 3 is hot", "body": "87 °C\n.\nand rising",
            "typeData": {"severity": "high"}, "site": "plant-7", "createdAt": "2026-01-01T00:00:00.000Z",
        }})
    );
    standardwebhooks::Webhook::new(SECRET)
        .unwrap()
        .verify(&request.body, &request.headers)
        .unwrap();
}

#[tokio::test]
async fn a_repeat_has_the_same_id_and_body_and_its_own_timestamp() {
    let receiver = receiver().await;
    let clock = Arc::new(ManualClock::default());
    let outside = Outside::new(clock.clone()).allowing(vec!["127.0.0.0/8".parse().unwrap()]);
    let adapter = adapter_in(
        outside,
        "webhook",
        json!({"url": receiver.url("/"), "secret": "any text that is long enough"}),
    );
    let message = event();
    for _ in 0..2 {
        assert_delivered(&adapter.deliver(&message, long_attempt()).await);
        clock.advance(Duration::from_secs(60));
    }
    let requests = receiver.requests();
    let [first, second] = requests.as_slice() else {
        panic!()
    };
    assert_eq!((&first.id, &first.body), (&second.id, &second.body));
    let at = |r: &simulator::http::Received| r.header("webhook-timestamp").unwrap().parse::<i64>().unwrap();
    assert_eq!(at(second) - at(first), 60);
    assert_ne!(
        first.header("webhook-signature"),
        second.header("webhook-signature")
    );
    assert_eq!(receiver.deliveries_of(&message.id.to_string()), 2);
}

#[tokio::test]
async fn answers_are_understood_over_the_wire() {
    type Row = (
        HttpRule,
        domain::FailureKind,
        Scope,
        Option<HoldReason>,
        Option<u64>,
        &'static str,
    );
    #[rustfmt::skip]
    let table = || -> Vec<Row> { vec![
        (HttpRule::status(500),                     Transient, Scope::Lane,        None, None, "HTTP_500"),
        (HttpRule::status(503).retry_after("120"),  Transient, Scope::Lane,        None, Some(120), "HTTP_503"),
        (HttpRule::status(429).retry_after("soon"), Transient, Scope::Lane,        None, None, "HTTP_429"),
        (HttpRule::status(401),                     Permanent, Scope::Lane,        Some(HoldReason::Auth), None, "HTTP_401"),
        (HttpRule::status(404),                     Permanent, Scope::Message,     None, None, "HTTP_404"),
        (HttpRule::status(410),                     Permanent, Scope::Lane,        Some(HoldReason::Config), None, "HTTP_410"),
        (HttpRule::status(502).header("webhook-delivery", "abort-message"),
                                                    Permanent, Scope::Message,     None, None, "abort-message"),
    ] };
    let connections = connections_of(async |receiver, adapter| {
        for (rule, kind, scope, hold, wait, code) in table() {
            receiver.on(rule.body("as told"));
            let failure = failure(adapter.deliver(&event(), long_attempt()).await);
            assert_eq!(
                (failure.kind, failure.scope, failure.hold, own_code(&failure)),
                (kind, scope, hold, code)
            );
            assert_eq!(failure.retry_after, wait.map(Duration::from_secs));
            assert!(failure.detail.contains("as told"), "{failure:?}");
            receiver.behave();
        }
    });
    assert_eq!(connections.await, 1, "answers leave the connection usable");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let receiver = receiver().await;
    receiver.on(HttpRule::status(302)
        .header("location", &receiver.url("/elsewhere"))
        .path("/hooks/T0KEN-IN-PATH"));
    let adapter = webhook(&receiver, json!({}));
    let failure = failure(adapter.deliver(&event(), long_attempt()).await);
    assert_eq!((failure.kind, own_code(&failure)), (Transient, "HTTP_302"));
    assert_eq!(receiver.counts().requests, 1);
}

#[tokio::test]
async fn a_request_that_went_out_without_an_answer_is_ambiguous() {
    let receiver = receiver().await;
    let adapter = webhook(&receiver, json!({}));
    receiver.on(HttpRule::cut().times(1));
    let cut = failure(adapter.deliver(&event(), long_attempt()).await);
    assert_eq!(
        (cut.kind, own_code(&cut), cut.scope),
        (Ambiguous, "CONNECTION_LOST", Scope::Lane)
    );
    receiver.on(HttpRule::stall());
    let has_it = receiver.wait_for(2);
    let silent = failure(silence_after(adapter, event(), has_it).await);
    assert_eq!(
        (silent.kind, own_code(&silent), silent.scope),
        (Ambiguous, "TIMEOUT", Scope::Lane)
    );
    assert_eq!(receiver.counts().taken, 2, "the receiver had it both times");
}

#[tokio::test]
async fn a_receiver_that_cannot_be_reached_has_certainly_not_got_it() {
    let receiver = receiver().await;
    let adapter = webhook(&receiver, json!({}));
    receiver.stop().await;
    let refused = failure(adapter.deliver(&event(), long_attempt()).await);
    assert_eq!((refused.kind, own_code(&refused)), (Transient, "CONNECT"));
    // Accepts connections and never completes a handshake.
    let deaf = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/", deaf.local_addr().unwrap());
    let silent = failure(
        crate::world::adapter("webhook", json!({"url": url}))
            .deliver(&event(), short_attempt())
            .await,
    );
    assert_eq!((silent.kind, own_code(&silent)), (Transient, "TIMEOUT"));
}

#[tokio::test]
async fn certificates_are_checked() {
    let secured = HttpReceiver::start(HttpOptions {
        tls: Some(Identity::local().unwrap()),
        ..HttpOptions::default()
    })
    .await
    .unwrap();
    let settings = json!({"url": format!("https://localhost:{}/", secured.address().port())});
    let stranger = adapter_in(outside(), "webhook", settings.clone());
    let failure = failure(stranger.deliver(&event(), long_attempt()).await);
    assert_eq!(
        (failure.kind, own_code(&failure)),
        (Transient, "TLS"),
        "{failure:?}"
    );
    let trusting = outside().trusting(secured.ca_pem().unwrap()).unwrap();
    let adapter = adapter_in(trusting, "webhook", settings);
    assert_delivered(&adapter.deliver(&event(), long_attempt()).await);
}

#[tokio::test]
async fn addresses_are_vetted_whether_they_are_written_or_resolved() {
    let receiver = receiver().await;
    let port = receiver.address().port();
    for host in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "2130706433",
        "0x7f.1",
        "[::ffff:127.0.0.1]",
    ] {
        let nobody = Outside::new(Arc::new(SystemClock));
        let adapter = adapter_in(
            nobody,
            "webhook",
            json!({"url": format!("http://{host}:{port}/")}),
        );
        let failure = failure(adapter.deliver(&event(), long_attempt()).await);
        assert_eq!(
            (own_code(&failure), failure.hold),
            ("ADDRESS_REFUSED", Some(HoldReason::Config)),
            "{host}: {failure:?}"
        );
        assert!(
            failure.detail.contains("delivery.allow_addresses"),
            "{}",
            failure.detail
        );
    }
    assert_eq!(receiver.counts().connections, 0);
    let metadata = adapter(
        "webhook",
        json!({"url": "http://169.254.169.254/latest/meta-data"}),
    );
    let never = failure(metadata.deliver(&event(), long_attempt()).await);
    assert!(!never.detail.contains("allow_addresses"), "{}", never.detail);
}

#[tokio::test]
async fn an_endless_answer_is_cut_short() {
    let receiver = receiver().await;
    receiver.on(HttpRule::status(500).body(&"x".repeat(4 << 20)));
    let adapter = webhook(&receiver, json!({}));
    let failure = failure(adapter.deliver(&event(), long_attempt()).await);
    assert!(failure.detail.len() <= delivery::redact::MAX_DETAIL_BYTES);
    receiver.behave();
    assert_delivered(&adapter.deliver(&event(), long_attempt()).await);
}

#[tokio::test]
async fn many_messages_share_a_connection() {
    let connections = connections_of(async |receiver, adapter| {
        for _ in 0..20 {
            assert_delivered(&adapter.deliver(&event(), long_attempt()).await);
        }
        assert_eq!(receiver.counts().taken, 20);
    });
    assert_eq!(connections.await, 1);
}

#[tokio::test]
async fn the_far_ends_words_are_kept_with_a_delivery() {
    let receiver = receiver().await;
    receiver.on(HttpRule::status(202).body("thanks"));
    let Outcome::Delivered(accepted) = webhook(&receiver, json!({}))
        .deliver(&event(), long_attempt())
        .await
    else {
        panic!("delivered");
    };
    assert_eq!(accepted.detail.as_deref(), Some("202 Accepted: thanks"));
}

#[tokio::test]
async fn type_data_that_is_no_json_is_told_and_nothing_is_sent() {
    let receiver = receiver().await;
    let mut broken = event();
    broken.content.type_data = Some("{\"severity\": ".into());
    let failure = failure(
        webhook(&receiver, json!({}))
            .deliver(&broken, long_attempt())
            .await,
    );
    assert_eq!((failure.kind, failure.scope), (Permanent, Scope::Message));
    assert_eq!(failure.code, "VALIDATION");
    assert_eq!(receiver.counts().requests, 0);
}
