use super::*;
use std::time::Duration;

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
const MINUTE: Duration = Duration::from_secs(60);

fn last(codes: &[Option<&str>]) -> LastAttempts {
    let mut last = LastAttempts::default();
    for code in codes {
        last.add(code.map(|_| "PROVIDER_ERROR".into()), code.map(str::to_owned));
    }
    last
}

fn hold(reason: HoldReason) -> Hold {
    Hold {
        reason,
        detail: Some("said so".into()),
        since: NOW,
        next_probe: reason.is_probed().then_some(NOW + MINUTE),
        probes: 0,
        by: None,
        code: None,
    }
}

fn facts(last: &LastAttempts) -> LaneFacts<'_> {
    LaneFacts {
        now: NOW,
        provider: "mail",
        waiting: 7,
        hold: None,
        sealed: None,
        not_before: None,
        last,
        per_second: None,
    }
}

fn words(facts: LaneFacts<'_>) -> (LaneState, String) {
    let report = LaneReport::of(facts);
    (report.state, report.words)
}

#[test]
fn a_lane_without_trouble_sends_or_has_nothing_to_send() {
    let none = LastAttempts::default();
    assert_eq!(
        words(facts(&none)),
        (LaneState::Sending, "what is due goes out".into())
    );
    let slow = LaneFacts {
        per_second: Some(0.5),
        ..facts(&none)
    };
    assert_eq!(
        words(slow).1,
        "what is due goes out, at most 0.5 per second, as its settings say"
    );
    let idle = LaneFacts {
        waiting: 0,
        ..facts(&none)
    };
    assert_eq!(words(idle), (LaneState::Idle, "nothing waits".into()));
    assert!(!LaneReport::of(idle).is_wrong(0));
    let well_again = last(&[None, None, None, Some("HTTP_503"), Some("HTTP_503")]);
    assert_eq!(words(facts(&well_again)).0, LaneState::Sending);
}

#[test]
fn a_lane_that_fails_says_how_often_and_with_what() {
    let down = Some("HTTP_503");
    let bad = last(&[down, Some("TIMEOUT"), None, down, down, None, None]);
    let failing = facts(&bad);
    assert_eq!(
        words(failing),
        (
            LaneState::Failing,
            "4 of the last 5 attempts failed (HTTP_503)".into()
        )
    );
    assert!(
        LaneReport::of(failing).is_wrong(0),
        "also when all of them are parked by now"
    );
    assert_eq!(
        words(facts(&last(&[down]))).0,
        LaneState::Sending,
        "once is nothing"
    );
}

#[test]
fn what_is_wrong_with_messages_and_recipients_is_not_held_against_the_lane() {
    let mut wrong_numbers = LastAttempts::default();
    for _ in 0..LAST_ATTEMPTS {
        wrong_numbers.add(Some("RECIPIENT".into()), Some("SMTP_550_5.1.1".into()));
    }
    assert_eq!(words(facts(&wrong_numbers)).0, LaneState::Sending);
    assert_eq!((wrong_numbers.failed(), wrong_numbers.code()), (0, None));
}

#[test]
fn a_lane_that_was_asked_for_less_says_until_when_and_no_longer_than_that() {
    let asked = last(&[Some("RATE_LIMITED"), None, None]);
    let paused = LaneFacts {
        not_before: Some(NOW + MINUTE),
        ..facts(&asked)
    };
    let report = LaneReport::of(paused);
    assert_eq!(
        (report.state, &*report.words, report.until),
        (
            LaneState::Throttled,
            "the far end asked for less (RATE_LIMITED)",
            Some(NOW + MINUTE)
        )
    );
    assert!(report.is_wrong(7) && !report.is_wrong(0));
    let over = LaneFacts {
        now: NOW + MINUTE,
        ..paused
    };
    assert_eq!(words(over).0, LaneState::Sending);
}

#[test]
fn a_hold_says_why_by_whom_and_what_helps() {
    let none = LastAttempts::default();
    let told = |hold: &Hold| {
        LaneReport::of(LaneFacts {
            hold: Some(hold),
            sealed: Some("whatever else is wrong"),
            ..facts(&none)
        })
    };
    for reason in HoldReason::ALL {
        let report = told(&hold(reason));
        assert_eq!(report.words, reason.in_words());
        assert_eq!(
            (report.since, report.detail.as_deref()),
            (Some(NOW), Some("said so"))
        );
        assert_eq!(report.until, reason.is_probed().then_some(NOW + MINUTE));
        assert!(report.advice.is_some() && report.is_wrong(1), "{reason}");
        assert_eq!(report.is_wrong(0), reason != HoldReason::Disabled, "{reason}");
    }
    let by_ann = |reason| Hold {
        by: Some("user:ann".into()),
        ..hold(reason)
    };
    assert_eq!(told(&by_ann(HoldReason::Operator)).words, "stopped by user:ann");
    let off = told(&by_ann(HoldReason::Disabled));
    assert_eq!(
        (off.state, &*off.words),
        (LaneState::Disabled, "switched off by user:ann")
    );
}

#[test]
fn an_address_that_we_refuse_is_our_refusal_and_not_the_providers() {
    let none = LastAttempts::default();
    let line = "address 10.0.0.1 is not public; to allow it, add this to the configuration: \
                delivery.allow_addresses = [\"10.0.0.1/32\"]";
    let refused = Hold {
        detail: Some(line.into()),
        code: Some(ADDRESS_REFUSED.into()),
        ..hold(HoldReason::Config)
    };
    let report = LaneReport::of(LaneFacts {
        hold: Some(&refused),
        ..facts(&none)
    });
    assert_eq!(report.words, "waypost refuses to connect to its address");
    assert_eq!(report.detail.as_deref(), Some(line));
    assert!(report.advice.unwrap().contains("Add the line"));
}

#[test]
fn secrets_that_cannot_be_opened_are_told_of_with_what_opens_them() {
    let none = LastAttempts::default();
    let report = LaneReport::of(LaneFacts {
        sealed: Some("sealed with key 9f3a"),
        ..facts(&none)
    });
    assert_eq!(report.state, LaneState::Sealed);
    assert_eq!(report.detail.as_deref(), Some("sealed with key 9f3a"));
    let advice = report.advice.unwrap();
    assert!(advice.contains("secrets.previous") && advice.contains("waypost provider set mail"));
}
