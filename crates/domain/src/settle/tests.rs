//! What each kind of attempt comes to, and what holds for any of them.

use super::*;
use crate::{OnAmbiguous, Scope, Timestamp, code::AMBIGUOUS};
use proptest::prelude::*;

fn facts(number: u32) -> AttemptFacts {
    AttemptFacts {
        number,
        unknowns: 0,
        age: Duration::ZERO,
        on_ambiguous: OnAmbiguous::Resend,
        throttles: 0,
    }
}

fn run(number: u32, open: &[&str], known: &[RecipientResult], outcome: Outcome) -> Settlement {
    let open: Vec<String> = open.iter().map(|s| s.to_string()).collect();
    let targets = Targets {
        open: &open,
        later: None,
        known,
        generation: 0,
        suppressed: 0,
    };
    settle(
        &RetryPolicy::email(),
        facts(number),
        targets,
        outcome,
        Jitter::NONE,
    )
}

fn report(address: &str, result: Result<Accepted, Failure>) -> RecipientReport {
    RecipientReport {
        address: address.into(),
        result,
    }
}

fn unsettled(address: &str, state: RecipientState) -> RecipientResult {
    RecipientResult {
        address: address.into(),
        state,
        generation: 0,
        provider_message_id: None,
        code: None,
        provider_code: None,
        error: None,
        at: Timestamp::EPOCH,
        receipt: None,
        provider: None,
        tries: 1,
        not_before: None,
    }
}

fn no_user() -> Failure {
    Failure::permanent(Scope::Recipient, "RECIPIENT", "no such user").with_own_code("SMTP_550_5.1.1")
}

fn greylisted() -> Failure {
    Failure::transient(Scope::Recipient, "RECIPIENT", "greylisted").after(Some(Duration::from_secs(300)))
}

#[test]
fn one_bad_recipient_of_three_parks_as_partial_and_names_each_result() {
    let outcome = Outcome::Mixed(vec![
        report("a", Ok(Accepted::default())),
        report("b", Err(no_user())),
        report("c", Ok(Accepted::default())),
    ]);
    let settled = run(1, &["a", "b", "c"], &[], outcome);
    assert!(matches!(&settled.ended, Ended::Park { cause } if cause.code == PARTIAL));
    let states: Vec<_> = settled.recipients.iter().map(|r| r.state).collect();
    assert_eq!(
        states,
        [
            RecipientState::Accepted,
            RecipientState::Failed,
            RecipientState::Accepted
        ]
    );
}

#[test]
fn a_notification_is_due_when_its_earliest_open_recipient_is_and_each_keeps_a_time_of_its_own() {
    let outcome = Outcome::Mixed(vec![
        report("a", Err(greylisted())),
        report("b", Err(Failure::transient(Scope::Recipient, "SMTP_450", "busy"))),
        report("c", Err(no_user())),
    ]);
    let settled = run(1, &["a", "b", "c"], &[], outcome);
    assert!(matches!(settled.ended, Ended::Retry { after, .. } if after == Duration::from_secs(60)));
    let waits: Vec<_> = settled.recipients.iter().map(|r| r.wait).collect();
    assert_eq!(
        waits,
        [
            Some(Duration::from_secs(300)),
            Some(Duration::from_secs(60)),
            None
        ]
    );
}

#[test]
fn each_recipient_has_tries_of_its_own() {
    let known = [("a", 9), ("b", 1)].map(|(address, tries)| RecipientResult {
        tries,
        ..unsettled(address, RecipientState::Open)
    });
    let busy = Failure::transient(Scope::Recipient, "RECIPIENT", "busy");
    let settled = run(10, &["a", "b"], &known, busy.into());
    let states: Vec<_> = settled.recipients.iter().map(|r| r.state).collect();
    assert_eq!(states, [RecipientState::Failed, RecipientState::Open]);
    assert!(matches!(settled.ended, Ended::Retry { .. }));
}

#[test]
fn who_was_not_asked_for_after_a_failure_of_the_far_end_stays_open_and_nothing_is_counted() {
    let silent = || Failure::ambiguous(Scope::Lane, "TIMEOUT", "no answer");
    let asked = || {
        Outcome::Mixed(vec![
            report("a", Ok(Accepted::default())),
            report("b", Err(silent())),
        ])
    };
    let names = ["a", "b", "c"].map(String::from);
    let targets = Targets {
        open: &names,
        later: None,
        known: &[],
        generation: 0,
        suppressed: 0,
    };
    let money = AttemptFacts {
        on_ambiguous: OnAmbiguous::Park,
        ..facts(1)
    };
    let settled = settle(&RetryPolicy::email(), money, targets, asked(), Jitter::NONE);
    assert!(matches!(settled.ended, Ended::Postpone { .. }), "{settled:?}");
    let states: Vec<_> = settled
        .recipients
        .iter()
        .map(|r| (&*r.address, r.state))
        .collect();
    assert_eq!(
        states,
        [("a", RecipientState::Accepted), ("b", RecipientState::Ambiguous)]
    );
    // The last one accepts, and the one nobody knows about keeps it from being delivered.
    let known = [
        unsettled("a", RecipientState::Accepted),
        unsettled("b", RecipientState::Ambiguous),
    ];
    let settled = run(1, &["c"], &known, Outcome::Delivered(Accepted::default()));
    assert!(matches!(&settled.ended, Ended::Park { cause } if cause.code == PARTIAL));
    let nobody = settle_without_targets(&known[1..], 0, None);
    assert!(matches!(&nobody, Ended::Park { cause } if cause.code == AMBIGUOUS));
}

#[test]
fn a_lane_that_wants_less_postpones_and_counts_nothing() {
    let slow = Failure::transient(Scope::Lane, "RATE_LIMITED", "slow down");
    let settled = run(
        10,
        &["a", "b"],
        &[],
        slow.after(Some(Duration::from_secs(120))).into(),
    );
    assert!(matches!(settled.ended, Ended::Postpone { after, .. } if after == Duration::from_secs(120)));
    assert!(settled.recipients.iter().all(|r| !r.tried));
}

#[test]
fn the_last_open_recipient_accepting_after_another_failed_is_partial_too() {
    let known = [RecipientResult {
        code: Some("RECIPIENT".into()),
        provider_code: Some("SMTP_550_5.1.1".into()),
        error: Some("no such user".into()),
        ..unsettled("b", RecipientState::Failed)
    }];
    let settled = run(2, &["a"], &known, Outcome::Delivered(Accepted::default()));
    assert_eq!(
        settled.ended,
        Ended::Park {
            cause: Cause {
                provider_code: Some("SMTP_550_5.1.1".into()),
                ..Cause::new(PARTIAL, "no such user")
            }
        }
    );
}

#[test]
fn a_single_recipient_leaves_no_recipient_rows_and_keeps_the_failures_own_code() {
    let settled = run(1, &["a"], &[], no_user().into());
    assert_eq!(
        settled.ended,
        Ended::Park {
            cause: Cause {
                provider_code: Some("SMTP_550_5.1.1".into()),
                ..Cause::new("RECIPIENT", "no such user")
            }
        }
    );
    assert!(settled.recipients.is_empty());
}

#[test]
fn running_out_of_attempts_says_so_in_the_error() {
    let timeout = Failure::transient(Scope::Lane, "TIMEOUT", "no answer within 30s");
    let settled = run(10, &["a"], &[], timeout.into());
    let Ended::Park { cause } = settled.ended else {
        panic!("{settled:?}")
    };
    assert_eq!(cause.code, "TIMEOUT");
    assert_eq!(cause.error, "gave up after 10 attempts: no answer within 30s");
}

fn any_result() -> impl Strategy<Value = Result<Accepted, Failure>> {
    prop_oneof![
        Just(Ok(Accepted::default())),
        Just(Err(no_user())),
        Just(Err(greylisted())),
        Just(Err(Failure::unknown("HTTP_299", "?"))),
        Just(Err(Failure::ambiguous(Scope::Message, "NO_ANSWER", "cut"))),
        Just(Err(no_user().holding(HoldReason::Auth))),
    ]
}

proptest! {
    #[test]
    fn terminal_exactly_when_nobody_is_open(results in prop::collection::vec(any_result(), 1..6), number in 1u32..12) {
        let names: Vec<String> = (0..results.len()).map(|i| format!("r{i}")).collect();
        let reports = names.iter().zip(results).map(|(n, r)| report(n, r)).collect();
        let targets = Targets { open: &names, later: None, known: &[], generation: 0, suppressed: 0 };
        let settled = settle(&RetryPolicy::email(), facts(number), targets, Outcome::Mixed(reports), Jitter::NONE);
        let terminal = matches!(settled.ended, Ended::Delivered { .. } | Ended::Park { .. });
        if names.len() > 1 {
            prop_assert_eq!(terminal, settled.recipients.iter().all(|r| r.state != RecipientState::Open));
            let all_accepted = settled.recipients.iter().all(|r| r.state == RecipientState::Accepted);
            let delivered = matches!(settled.ended, Ended::Delivered { .. });
            prop_assert_eq!(delivered, all_accepted);
        }
    }
}

#[test]
fn where_everybody_asked_not_to_be_written_to_it_is_given_up_with_that_reason() {
    let cause = Cause::new(crate::suppression::SUPPRESSED, "unsubscribed");
    let left_out = RecipientUpdate {
        address: "ann".into(),
        state: RecipientState::Suppressed,
        provider_message_id: None,
        cause: Some(cause.clone()),
        tried: false,
        wait: None,
    };
    let known = |state: RecipientState| vec![unsettled("bob", state)];
    let ended = settle_without_targets(&[], 0, Some(&left_out));
    assert_eq!(ended, Ended::Discard { cause });
    assert_eq!(ended.status(), Some(Status::Discarded));
    for (state, status) in [
        (RecipientState::Accepted, Status::Delivered),
        (RecipientState::Failed, Status::Parked),
    ] {
        let ended = settle_without_targets(&known(state), 0, Some(&left_out));
        assert_eq!(ended.status(), Some(status), "{state:?}");
    }
}
