//! Answers whose body breaks off: the service took the message, and nobody here can know it.

use crate::{
    answers::{fixed_adapter, services},
    simulated::ask,
    world::*,
};
use domain::{FailureKind, OnAmbiguous, Outcome, Scope};
use serde_json::json;
use simulator::{HttpOptions, HttpReceiver};

#[tokio::test]
async fn an_answer_that_breaks_off_leaves_every_message_that_costs_money_in_doubt() {
    let receiver = HttpReceiver::start(HttpOptions::default()).await.unwrap();
    let mut paid = vec![];
    for service in services() {
        let cut = json!({"service": service.kind, "cutBody": true}).to_string();
        assert_eq!(ask(&receiver, "POST", "/simulator/faults", &cut).await.0, 204);
        let adapter = fixed_adapter(&service.kind, service.settings_at(&receiver));
        let outcome = adapter
            .deliver(&service.message(&service.to()), long_attempt())
            .await;
        ask(&receiver, "DELETE", "/simulator/faults", "").await;
        // Where the status alone decides, the rest does not matter.
        if matches!(outcome, Outcome::Delivered(_)) && service.info().on_ambiguous == OnAmbiguous::Resend {
            continue;
        }
        let failure = failure(outcome);
        assert_eq!(
            (failure.kind, failure.scope),
            (FailureKind::Ambiguous, Scope::Lane),
            "{}: {failure:?}",
            service.kind
        );
        assert!(
            failure.detail.contains("broke off"),
            "{}: {failure:?}",
            service.kind
        );
        if service.info().on_ambiguous == OnAmbiguous::Park {
            paid.push(service.kind);
        }
    }
    assert_eq!(paid, ["interakt", "meta", "msg91", "twilio"]);
    assert_eq!(receiver.counts().taken, services().len() as u64, "each was taken");
}
