//! What one failure keeps from going out besides the message it is about: mostly nothing.

use crate::{
    answers::{Service, fixed_adapter, services},
    world::*,
};
use domain::{
    Failure, OnAmbiguous, Outcome, RetryPolicy, Scope,
    retry::{AttemptFacts, Jitter, Verdict},
};
use serde_json::json;
use simulator::{HttpOptions, HttpReceiver, http::HttpRule};
use std::time::Duration;

fn service(kind: &str) -> Service {
    services()
        .into_iter()
        .find(|service| service.kind == kind)
        .unwrap()
}

async fn receiver() -> HttpReceiver {
    HttpReceiver::start(HttpOptions::default()).await.unwrap()
}

/// The failure that an answer of a service is.
async fn failure_of(kind: &str, rule: HttpRule) -> Failure {
    let (receiver, service) = (receiver().await, service(kind));
    receiver.on(rule);
    let adapter = fixed_adapter(kind, service.settings_at(&receiver));
    let to: Vec<_> = service.to.as_deref().into_iter().collect();
    failure(adapter.deliver(&service.message(&to), long_attempt()).await)
}

fn meta_error(code: u32) -> HttpRule {
    HttpRule::status(400).body(&json!({"error": {"message": "no", "code": code}}).to_string())
}

#[tokio::test]
async fn a_country_that_twilio_may_not_send_to_keeps_no_other_country_waiting() {
    let refused = json!({"code": 21408, "message": "Permission to send an SMS has not been enabled"});
    let failure = failure_of("twilio", HttpRule::status(403).body(&refused.to_string())).await;
    assert_eq!((failure.scope, failure.hold), (Scope::Recipient, None));
    assert_eq!(failure.code, "FORBIDDEN");
    assert_eq!(RetryPolicy::default().pause(&failure, 0), None);
}

#[tokio::test]
async fn an_offer_that_meets_the_marketing_cap_keeps_nothing_else_from_its_recipient() {
    let policy = RetryPolicy::default();
    let capped = failure_of("meta", meta_error(131_049)).await;
    assert_eq!(
        policy.pause(&capped, 0),
        None,
        "the booking confirmation goes out"
    );
    let wait = Duration::from_secs(24 * 3600);
    assert_eq!(capped.retry_after, Some(wait), "the offer itself waits");
    let pair = failure_of("meta", meta_error(131_056)).await;
    assert!(
        policy.pause(&pair, 0).is_some(),
        "too many to one person is another thing"
    );
}

#[tokio::test]
async fn a_message_that_waited_long_is_tried_as_often_by_home_assistant_as_a_new_one() {
    let (receiver, home) = (receiver().await, service("homeassistant"));
    receiver.on(HttpRule::status(400).body("400: Bad Request"));
    let adapter = fixed_adapter("homeassistant", home.settings_at(&receiver));
    let mut message = home.message(&[]);
    message.created_at = domain::Timestamp::EPOCH;
    let missing = failure(adapter.deliver(&message, long_attempt()).await);
    let decided = |number: u32| {
        let facts = AttemptFacts {
            number,
            unknowns: 0,
            age: Duration::from_secs(86_400),
            on_ambiguous: OnAmbiguous::Resend,
            throttles: 0,
        };
        let patient = RetryPolicy {
            max_attempts: 100,
            ..RetryPolicy::fixed(Duration::from_secs(1))
        };
        patient.decide(facts, &missing, Jitter::NONE)
    };
    let again = Verdict::Retry {
        after: Duration::from_secs(60),
    };
    assert_eq!(decided(1), again, "its first attempt");
    assert_eq!(decided(9), again);
    assert!(matches!(decided(10), Verdict::Park(_)), "nine minutes later");
}

#[tokio::test]
async fn a_group_that_became_a_supergroup_gets_the_message_and_its_new_id_is_told() {
    let (receiver, telegram) = (receiver().await, service("telegram"));
    let moved = json!({
        "ok": false, "error_code": 400, "description": "Bad Request: group chat was upgraded to a supergroup chat",
        "parameters": {"migrate_to_chat_id": -1_009_876_543_210_i64},
    });
    receiver.on(HttpRule::status(400).body(&moved.to_string()).times(1));
    let adapter = fixed_adapter("telegram", telegram.settings_at(&receiver));
    for to in [vec!["-123"], vec![]] {
        let outcome = adapter.deliver(&telegram.message(&to), long_attempt()).await;
        let Outcome::Delivered(accepted) = outcome else {
            panic!("{outcome:?}")
        };
        let asked: Vec<_> = receiver
            .requests()
            .iter()
            .map(|r| r.json()["chat_id"].clone())
            .collect();
        if !to.is_empty() {
            assert_eq!(asked, [json!(-123), json!(-1_009_876_543_210_i64)]);
            assert!(accepted.detail.unwrap().contains("-1009876543210"));
        }
    }
    assert_eq!(
        receiver.counts().requests,
        3,
        "asked a second time only where it moved"
    );
}

/// What becomes of a message to this chat of a bot that is told to wait.
async fn limited(adapter: &dyn delivery::Adapter, chat: &str) -> (Scope, Verdict) {
    let failure = failure(
        adapter
            .deliver(&service("telegram").message(&[chat]), long_attempt())
            .await,
    );
    assert_eq!(failure.code, "RATE_LIMITED", "{failure:?}");
    let facts = AttemptFacts {
        number: 1,
        unknowns: 0,
        age: Duration::ZERO,
        on_ambiguous: OnAmbiguous::Resend,
        throttles: 0,
    };
    let verdict = RetryPolicy::default().decide(facts, &failure, Jitter::NONE);
    (failure.scope, verdict)
}

#[tokio::test]
async fn a_limit_that_several_chats_meet_is_the_bots_until_something_is_taken() {
    let (receiver, telegram) = (receiver().await, service("telegram"));
    let adapter = fixed_adapter("telegram", telegram.settings_at(&receiver));
    let slow = json!({"ok": false, "error_code": 429, "description": "Too Many Requests: retry after 34",
        "parameters": {"retry_after": 34}});
    let slow = || HttpRule::status(429).body(&slow.to_string());
    let after = Duration::from_secs(60);
    receiver.on(slow());
    for chat in ["1", "2", "1"] {
        let met = limited(adapter.as_ref(), chat).await;
        assert_eq!(met, (Scope::Recipient, Verdict::Retry { after }), "{chat}");
    }
    for chat in ["3", "1"] {
        let met = limited(adapter.as_ref(), chat).await;
        assert_eq!(
            met,
            (Scope::Lane, Verdict::Postpone { after }),
            "{chat}: uncounted"
        );
    }
    receiver.behave();
    assert_delivered(&adapter.deliver(&telegram.message(&["1"]), long_attempt()).await);
    receiver.on(slow());
    for chat in ["1", "2"] {
        assert_eq!(limited(adapter.as_ref(), chat).await.0, Scope::Recipient);
    }
    // What another chat takes meanwhile shows that each of them was limited by itself.
    receiver.behave();
    assert_delivered(&adapter.deliver(&telegram.message(&["4"]), long_attempt()).await);
    receiver.on(slow());
    assert_eq!(limited(adapter.as_ref(), "3").await.0, Scope::Recipient);
}
