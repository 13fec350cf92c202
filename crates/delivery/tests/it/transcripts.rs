//! What was said in an attempt can be read afterwards, without secrets.

use crate::world::*;
use delivery::{Attempt, Message, Recorder, Transcript, transcript::Side};
use domain::Channel;
use serde_json::json;
use simulator::{
    HttpOptions, HttpReceiver, SmtpOptions,
    http::HttpRule,
    smtp::{Mechanism, Phase, SmtpRule},
};
use std::sync::Arc;

const PASSWORD: &str = "hunter2-hunter2";

async fn recorded(adapter: &Arc<dyn delivery::Adapter>, message: &Message) -> Transcript {
    let recorder = Recorder::on();
    let attempt = Attempt {
        recorder: recorder.clone(),
        ..long_attempt()
    };
    adapter.deliver(message, attempt).await;
    recorder.transcript().unwrap()
}

fn said(transcript: &Transcript, side: Side) -> Vec<&str> {
    let parts = transcript.parts.iter().filter(|part| part.side == side);
    parts.map(|part| part.text.as_str()).collect()
}

#[tokio::test]
async fn a_webhooks_request_and_answer_are_written_down() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    receiver.on(HttpRule::status(503)
        .retry_after("9")
        .body("busy with abcdef123456"));
    let settings = json!({"url": receiver.url("/hooks/T0KEN-IN-PATH"), "headers": {"X-Key": "abcdef123456"}});
    let transcript = recorded(&adapter("webhook", settings), &message(Channel::Webhook, &[])).await;
    let (sent, received) = (said(&transcript, Side::Sent), said(&transcript, Side::Received));
    let ([sent], [received]) = (sent.as_slice(), received.as_slice()) else {
        panic!("{transcript:?}")
    };
    assert!(sent.starts_with("POST •••\nhost: 127.0.0.1:"), "{sent}");
    assert!(
        sent.contains("webhook-id: ") && sent.contains("Pump 3 is hot"),
        "{sent}"
    );
    assert!(received.starts_with("503 Service Unavailable"), "{received}");
    assert!(
        received.contains("retry-after: 9") && received.ends_with("busy with •••"),
        "{received}"
    );
    let all = format!("{transcript:?}");
    assert!(
        !all.contains("abcdef123456") && !all.contains("T0KEN-IN-PATH"),
        "{all}"
    );
}

#[tokio::test]
async fn a_far_end_that_is_gone_is_written_down_too() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let adapter = adapter("webhook", json!({"url": receiver.url("/")}));
    receiver.stop().await;
    let transcript = recorded(&adapter, &message(Channel::Webhook, &[])).await;
    assert!(
        said(&transcript, Side::Received)[0].starts_with("(no answer: "),
        "{transcript:?}"
    );
}

#[tokio::test]
async fn a_mail_servers_dialogue_is_written_down_on_new_and_on_kept_sessions() {
    let server = smtp(SmtpOptions {
        auth: Mechanism::ALL.to_vec(),
        ..SmtpOptions::default()
    })
    .await;
    for auth in ["plain", "login"] {
        let adapter = smtp_adapter(
            &server,
            json!({"auth": auth, "username": "user", "password": PASSWORD}),
        );
        let first = recorded(&adapter, &mail(&["a@example.com"])).await;
        let sent = said(&first, Side::Sent);
        assert!(sent[0].starts_with("EHLO "), "{first:?}");
        assert!(
            sent.iter()
                .any(|s| *s == format!("AUTH {} •••", auth.to_uppercase())),
            "{first:?}"
        );
        assert!(
            sent.iter().any(|s| s.contains("RCPT TO:<a@example.com>")),
            "{first:?}"
        );
        assert!(
            sent.iter().any(|s| s.contains("Subject: Pump 3 is hot")),
            "{first:?}"
        );
        assert!(
            said(&first, Side::Received).iter().any(|s| s.starts_with("354")),
            "{first:?}"
        );
        server.on(SmtpRule::at(Phase::AfterDot).reply(&format!("550 5.7.1 not with {PASSWORD}")));
        let second = recorded(&adapter, &mail(&["a@example.com"])).await;
        assert!(
            said(&second, Side::Sent)[0].starts_with("MAIL FROM"),
            "{second:?}"
        );
        assert_eq!(
            said(&second, Side::Received).last(),
            Some(&"550 5.7.1 not with •••")
        );
        server.behave();
        assert_delivered(&adapter.deliver(&mail(&["a@example.com"]), long_attempt()).await);
        let third = recorded(&adapter, &mail(&["a@example.com"])).await;
        assert_eq!(
            said(&third, Side::Sent).len(),
            2,
            "what was said before is not in it: {third:?}"
        );
    }
}
