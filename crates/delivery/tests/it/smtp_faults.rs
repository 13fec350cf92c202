//! What goes wrong at a mail server, at each point of the conversation, and that the next message gets through.

use crate::world::*;
use domain::{
    Failure,
    FailureKind::{self, Ambiguous, Permanent, Transient},
    HoldReason, Outcome, Scope,
};
use serde_json::json;
use simulator::{
    SmtpOptions,
    smtp::{Mechanism, Phase, SmtpRule},
};

const TARGETS: [&str; 3] = ["a@example.com", "b@example.com", "c@example.com"];

fn options(pipelining: bool) -> SmtpOptions {
    SmtpOptions {
        pipelining,
        auth: vec![Mechanism::Plain],
        ..SmtpOptions::default()
    }
}

fn login() -> serde_json::Value {
    json!({"auth": "plain", "username": "u", "password": "p4ssw0rd"})
}

/// The failure of the recipient that was refused, or of all.
fn failure_of_b(outcome: Outcome) -> Failure {
    match outcome {
        Outcome::Failed(failure) => failure,
        Outcome::Mixed(reports) => {
            let mut reports = reports.into_iter();
            assert!(reports.next().unwrap().result.is_ok());
            let failure = reports.next().unwrap().result.unwrap_err();
            assert!(reports.next().unwrap().result.is_ok());
            failure
        }
        Outcome::Delivered(accepted) => panic!("{accepted:?}"),
    }
}

#[tokio::test]
async fn each_code_at_each_phase_is_understood_and_forgotten_with_the_next_message() {
    type Meaning = (FailureKind, Scope, Option<HoldReason>);
    const LANE: Meaning = (Transient, Scope::Lane, None);
    const LATER: Meaning = (Transient, Scope::Message, None);
    const RCPT_LATER: Meaning = (Transient, Scope::Recipient, None);
    const RCPT_NEVER: Meaning = (Permanent, Scope::Recipient, None);
    const NEVER: Meaning = (Permanent, Scope::Message, None);
    const AUTH: Meaning = (Permanent, Scope::Lane, Some(HoldReason::Auth));
    const DOWN: Meaning = (Permanent, Scope::Lane, Some(HoldReason::Down));
    // Connect, EHLO, AUTH, MAIL, RCPT, DATA, after the dot: as in `Phase::ANSWERED`.
    #[rustfmt::skip]
    let table: [(u16, [Meaning; 7]); 8] = [
        (421, [LANE, LANE, LANE, LANE,  LANE,       LANE,  LANE]),
        (450, [LANE, LANE, LANE, LANE,  RCPT_LATER, LATER, LATER]),
        (451, [LANE, LANE, LANE, LANE,  RCPT_LATER, LATER, LATER]),
        (452, [LANE, LANE, LANE, LANE,  RCPT_LATER, LATER, LATER]),
        (535, [AUTH, AUTH, AUTH, AUTH,  AUTH,       AUTH,  AUTH]),
        (550, [DOWN, DOWN, AUTH, AUTH,  RCPT_NEVER, NEVER, NEVER]),
        (552, [DOWN, DOWN, AUTH, NEVER, RCPT_LATER, NEVER, NEVER]),
        (554, [DOWN, DOWN, AUTH, AUTH,  RCPT_NEVER, NEVER, NEVER]),
    ];
    for pipelining in [true, false] {
        let server = smtp(options(pipelining)).await;
        for (code, meanings) in table {
            for (phase, (kind, scope, hold)) in Phase::ANSWERED.into_iter().zip(meanings) {
                let adapter = smtp_adapter(&server, login());
                let mut rule = SmtpRule::at(phase).reply(&format!("{code} as told"));
                if phase == Phase::Rcpt {
                    rule = rule.to("b@example.com");
                }
                server.on(rule);
                let outcome = adapter.deliver(&mail(&TARGETS), long_attempt()).await;
                if phase == Phase::Rcpt && code != 421 {
                    assert!(
                        matches!(outcome, Outcome::Mixed(_)),
                        "{code} at {phase:?}: {outcome:?}"
                    );
                }
                let failure = failure_of_b(outcome);
                assert_eq!(
                    (failure.kind, failure.scope, failure.hold),
                    (kind, scope, hold),
                    "{code} at {phase:?}: {failure:?}"
                );
                assert!(failure.detail.contains(&code.to_string()), "{failure:?}");
                server.behave();
                assert_delivered(&adapter.deliver(&mail(&TARGETS), long_attempt()).await);
            }
        }
        assert_eq!(server.counts().unasked_pipelining, 0);
    }
}

#[tokio::test]
async fn silence_is_transient_until_the_message_is_out_and_ambiguous_then() {
    let server = smtp(options(true)).await;
    for phase in Phase::ANSWERED {
        let adapter = smtp_adapter(&server, login());
        server.on(SmtpRule::at(phase).stall());
        let (outcome, expected) = match phase {
            Phase::AfterDot => {
                let taken = server.counts().mails + 1;
                let has_it = server.wait_for(taken);
                let outcome = silence_after(adapter.clone(), mail(&TARGETS), has_it).await;
                (outcome, Ambiguous)
            }
            _ => (adapter.deliver(&mail(&TARGETS), short_attempt()).await, Transient),
        };
        let failure = failure(outcome);
        assert_eq!(
            (failure.kind, own_code(&failure)),
            (expected, "TIMEOUT"),
            "{phase:?}"
        );
        assert!(failure.is_lane_down());
        server.behave();
        assert_delivered(&adapter.deliver(&mail(&TARGETS), long_attempt()).await);
    }
}

#[tokio::test]
async fn a_cut_connection_is_transient_until_the_message_is_out_and_ambiguous_then() {
    for pipelining in [true, false] {
        let server = smtp(options(pipelining)).await;
        for phase in Phase::ANSWERED {
            let adapter = smtp_adapter(&server, login());
            server.on(SmtpRule::at(phase).cut());
            let failure = failure(adapter.deliver(&mail(&TARGETS), long_attempt()).await);
            let expected = if phase == Phase::AfterDot {
                Ambiguous
            } else {
                Transient
            };
            assert_eq!(failure.kind, expected, "{phase:?}: {failure:?}");
            assert!(failure.is_lane_down());
            server.behave();
            assert_delivered(&adapter.deliver(&mail(&TARGETS), long_attempt()).await);
        }
    }
}

#[tokio::test]
async fn a_connection_cut_in_the_middle_of_a_message_is_never_taken_for_a_delivery() {
    let server = smtp(options(true)).await;
    let adapter = smtp_adapter(&server, json!({}));
    server.on(SmtpRule::at(Phase::Body).cut());
    for body in ["short".to_owned(), "a long line of text\n".repeat(200_000)] {
        let mut message = mail(&TARGETS);
        message.content.body = body;
        let failure = failure(adapter.deliver(&message, long_attempt()).await);
        assert!(matches!(failure.kind, Transient | Ambiguous), "{failure:?}");
        assert!(failure.is_lane_down());
    }
    assert_eq!(server.counts().mails, 0);
}

#[tokio::test]
async fn a_mail_taken_without_an_answer_is_told_apart_from_recipients_who_were_refused() {
    let server = smtp(options(true)).await;
    let adapter = smtp_adapter(&server, json!({}));
    server.on(SmtpRule::at(Phase::Rcpt)
        .to("b@example.com")
        .reply("550 5.1.1 no such user"));
    server.on(SmtpRule::at(Phase::AfterDot).cut());
    let Outcome::Mixed(reports) = adapter.deliver(&mail(&TARGETS), long_attempt()).await else {
        panic!("mixed");
    };
    let kinds: Vec<_> = reports.into_iter().map(|r| r.result.unwrap_err().kind).collect();
    assert_eq!(kinds, [Ambiguous, Permanent, Ambiguous]);
    assert_eq!(server.mails()[0].recipients, ["a@example.com", "c@example.com"]);
}

#[tokio::test]
async fn a_slow_server_is_waited_for_within_the_deadline() {
    let server = smtp(options(true)).await;
    let adapter = smtp_adapter(&server, login());
    for phase in Phase::ANSWERED {
        server.on(SmtpRule::at(phase)
            .times(1)
            .delayed(std::time::Duration::from_millis(20)));
    }
    assert_delivered(&adapter.deliver(&mail(&TARGETS), long_attempt()).await);
}

#[tokio::test]
async fn a_server_that_is_not_there_or_not_smtp_is_transient() {
    let server = smtp(options(true)).await;
    let settings = smtp_settings(&server, json!({}));
    server.on(SmtpRule::at(Phase::Connect).reply("HTTP/1.1 400 Bad Request"));
    let adapter = adapter("smtp", settings);
    let garbled = failure(adapter.deliver(&mail(&TARGETS), long_attempt()).await);
    assert_eq!((garbled.kind, own_code(&garbled)), (Transient, "SMTP_GARBLED"));
    server.stop().await;
    let refused = failure(adapter.deliver(&mail(&TARGETS), long_attempt()).await);
    assert_eq!((refused.kind, own_code(&refused)), (Transient, "CONNECT"));
    assert!(refused.is_lane_down());
}

#[tokio::test]
async fn microsofts_daily_limit_holds_the_lane_although_it_comes_as_a_554() {
    let server = smtp(options(true)).await;
    let adapter = smtp_adapter(&server, json!({}));
    server.on(SmtpRule::at(Phase::AfterDot).reply(
        "554 5.2.0 STOREDRV.Submission.Exception:SubmissionQuotaExceededException; Failed to process message",
    ));
    let failure = failure(adapter.deliver(&mail(&TARGETS), long_attempt()).await);
    assert_eq!((failure.kind, failure.hold), (Transient, Some(HoldReason::Quota)));
}

#[tokio::test]
async fn an_address_that_is_not_allowed_is_not_connected_to() {
    let server = smtp(options(true)).await;
    let nobody = delivery::Outside::new(std::sync::Arc::new(domain::SystemClock));
    let adapter = adapter_in(nobody, "smtp", smtp_settings(&server, json!({})));
    let failure = failure(adapter.deliver(&mail(&TARGETS), long_attempt()).await);
    assert_eq!(
        (own_code(&failure), failure.hold),
        ("ADDRESS_REFUSED", Some(HoldReason::Config))
    );
    assert!(
        failure
            .detail
            .contains(r#"delivery.allow_addresses = ["127.0.0.0/8"]"#)
    );
    assert_eq!(server.counts().connections, 0);
}
