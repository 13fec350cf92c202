use super::*;
use domain::HoldReason;

fn long() -> Attempt {
    Deadline::after(Duration::from_secs(90)).into()
}

fn nobody_yet() -> PerRecipient {
    PerRecipient::of(&long(), Duration::from_secs(15))
}

fn took(id: &str) -> Accepted {
    Accepted {
        provider_message_id: Some(id.into()),
        detail: None,
    }
}

#[tokio::test]
async fn after_a_failure_of_the_whole_far_end_nobody_else_is_asked_for() {
    let silent = Failure::ambiguous(Scope::Lane, "TIMEOUT", "no answer");
    let refused = Failure::permanent(Scope::Lane, "AUTH_FAILED", "no").holding(HoldReason::Auth);
    for failure in [silent, refused] {
        let mut results = nobody_yet();
        assert!(!results.is_over());
        results.add("a", Err(failure.clone()));
        assert!(results.is_over());
        let Outcome::Mixed(reports) = results.conclude(2) else {
            panic!("nothing is said about who was not asked for")
        };
        assert_eq!(reports.len(), 1);
    }
    let mut results = nobody_yet();
    results.add(
        "a",
        Err(Failure::permanent(Scope::Recipient, "RECIPIENT", "who?")),
    );
    assert!(!results.is_over());
}

#[tokio::test(start_paused = true)]
async fn who_would_not_get_the_time_of_a_request_is_left_for_another_attempt() {
    let mut results = nobody_yet();
    tokio::time::advance(Duration::from_secs(80)).await;
    assert!(!results.is_over(), "one is always asked for");
    results.add("a", Ok(took("1")));
    assert!(results.is_over(), "ten seconds are left");
    let Outcome::Mixed(reports) = results.conclude(2) else {
        panic!("nothing is said about who was not asked for")
    };
    assert_eq!(reports.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_longer_than_an_attempt_does_not_leave_one_recipient_to_each() {
    let mut results = PerRecipient::of(&long(), Duration::MAX);
    results.add("a", Ok(took("1")));
    tokio::time::advance(Duration::from_secs(44)).await;
    assert!(!results.is_over());
    tokio::time::advance(Duration::from_secs(2)).await;
    assert!(results.is_over());
}

#[tokio::test]
async fn nobody_else_is_asked_for_once_the_far_end_is_to_be_left_alone() {
    let attempt = long();
    let mut results = PerRecipient::of(&attempt, Duration::from_secs(15));
    results.add("a", Ok(took("1")));
    assert!(!results.is_over());
    attempt.stop.set();
    assert!(results.is_over());
    let Outcome::Mixed(reports) = results.conclude(2) else {
        panic!("nothing is said about who was not asked for")
    };
    assert_eq!(reports.len(), 1);
}

#[tokio::test]
async fn everybody_keeps_an_id_of_their_own() {
    let mut results = nobody_yet();
    results.add("a", Ok(took("1")));
    results.add("b", Ok(took("2")));
    let Outcome::Mixed(reports) = results.conclude(2) else {
        panic!("two ids do not fit into one")
    };
    assert_eq!(reports[1].result, Ok(took("2")));
    let mut one = nobody_yet();
    one.add("a", Ok(took("1")));
    assert_eq!(one.conclude(1), Outcome::Delivered(took("1")));
}
