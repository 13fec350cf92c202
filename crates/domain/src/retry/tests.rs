//! The policy as a table, and what holds for every policy.

use super::*;
use proptest::prelude::*;
use std::num::{NonZeroU8, NonZeroU32};

fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn facts(number: u32) -> AttemptFacts {
    AttemptFacts {
        number,
        unknowns: 0,
        age: Duration::ZERO,
        on_ambiguous: OnAmbiguous::Resend,
        throttles: 0,
    }
}

fn transient() -> Failure {
    Failure::transient(Scope::Message, "TIMEOUT", "no answer")
}

#[test]
fn a_site_that_reached_nobody_dials_again_within_seconds_and_a_refused_one_within_a_minute() {
    let secs = |rounds, refused, jitter| redial(rounds, refused, Jitter(jitter)).as_secs_f64();
    assert_eq!(
        [1, 2, 3, 4, 99].map(|n| secs(n, false, 0.0)),
        [1.0, 2.0, 4.0, 5.0, 5.0]
    );
    assert_eq!([1, 2, 99].map(|n| secs(n, true, 0.0)), [5.0, 10.0, 60.0]);
    assert!(secs(99, false, 0.999) < 7.5);
}

#[test]
fn a_mark_that_an_applications_write_was_in_the_way_of_is_tried_again_soon() {
    let millis = [0, 1, 2, 3, 5, 6, 99].map(|n| mark_again(n).as_millis());
    assert_eq!(millis, [100, 100, 200, 400, 1_600, 2_000, 2_000]);
}

#[test]
fn email_is_tried_ten_times_a_minute_apart_then_parked() {
    let policy = RetryPolicy::email();
    for n in 1..10 {
        assert_eq!(
            policy.decide(facts(n), &transient(), Jitter(0.99)),
            Verdict::Retry { after: secs(60) }
        );
    }
    assert_eq!(
        policy.decide(facts(10), &transient(), Jitter::NONE),
        Verdict::Park(ParkReason::AttemptsExhausted)
    );
}

#[test]
fn exponential_doubles_up_to_the_cap() {
    let policy = RetryPolicy {
        max_attempts: 20,
        ..RetryPolicy::exponential()
    };
    let delays: Vec<u64> = (1..=8).map(|n| policy.backoff(n).as_secs()).collect();
    assert_eq!(delays, [60, 120, 240, 480, 960, 1920, 3600, 3600]);
}

#[test]
fn each_kind_of_failure_leads_to_its_own_verdict() {
    let policy = RetryPolicy::exponential();
    let permanent = Failure::permanent(Scope::Message, "HTTP_400", "bad");
    let unknown = Failure::unknown("HTTP_299", "what");
    let ambiguous = Failure::ambiguous(Scope::Message, "NO_ANSWER", "cut");
    let auth = Failure::permanent(Scope::Lane, "AUTH_FAILED", "535").holding(HoldReason::Auth);
    let after = |f: AttemptFacts, failure: &Failure| policy.decide(f, failure, Jitter::NONE);
    assert_eq!(after(facts(1), &permanent), Verdict::Park(ParkReason::Permanent));
    assert_eq!(after(facts(3), &unknown), Verdict::Retry { after: secs(240) });
    assert_eq!(
        after(
            AttemptFacts {
                unknowns: 1,
                ..facts(4)
            },
            &unknown
        ),
        Verdict::Park(ParkReason::UnknownAnswer)
    );
    assert_eq!(after(facts(1), &ambiguous), Verdict::Retry { after: secs(60) });
    assert_eq!(
        after(
            AttemptFacts {
                on_ambiguous: OnAmbiguous::Park,
                ..facts(1)
            },
            &ambiguous
        ),
        Verdict::Park(ParkReason::Ambiguous)
    );
    assert_eq!(
        after(facts(99), &auth),
        Verdict::Wait {
            reason: HoldReason::Auth
        }
    );
}

#[test]
fn a_failure_may_be_worth_fewer_tries_than_the_policy_grants() {
    let policy = RetryPolicy::email();
    let after = |number, failure: &Failure| policy.decide(facts(number), failure, Jitter::NONE);
    let capped = Failure {
        tries: NonZeroU8::new(2),
        ..transient()
    };
    assert!(matches!(after(1, &capped), Verdict::Retry { .. }));
    assert_eq!(after(2, &capped), Verdict::Park(ParkReason::AttemptsExhausted));
    let generous = Failure {
        tries: NonZeroU8::new(99),
        ..transient()
    };
    assert_eq!(after(10, &generous), Verdict::Park(ParkReason::AttemptsExhausted));
    let unknown = Failure {
        tries: NonZeroU8::new(3),
        ..Failure::unknown("UNKNOWN", "?")
    };
    let nth = |unknowns| AttemptFacts { unknowns, ..facts(2) };
    assert!(matches!(
        policy.decide(nth(1), &unknown, Jitter::NONE),
        Verdict::Retry { .. }
    ));
    assert_eq!(
        policy.decide(nth(2), &unknown, Jitter::NONE),
        Verdict::Park(ParkReason::UnknownAnswer)
    );
    let soon = Failure {
        at_most_seconds: NonZeroU32::new(600),
        ..transient()
    };
    let old = AttemptFacts {
        age: secs(600),
        ..facts(2)
    };
    assert_eq!(
        policy.decide(old, &soon, Jitter::NONE),
        Verdict::Park(ParkReason::TooOld)
    );
}

#[test]
fn a_lane_that_wants_less_is_paused_as_it_asked_or_by_backoff_and_costs_no_try() {
    let policy = RetryPolicy::exponential();
    let slow = Failure::transient(Scope::Lane, "RATE_LIMITED", "");
    let nth = |throttles| AttemptFacts {
        throttles,
        ..facts(99)
    };
    for (throttles, wait) in [(0, 60), (1, 120), (2, 240)] {
        assert_eq!(
            policy.decide(nth(throttles), &slow, Jitter::NONE),
            Verdict::Postpone { after: secs(wait) }
        );
        assert_eq!(policy.pause(&slow, throttles), Some(secs(wait)));
    }
    let told = slow.clone().after(Some(secs(7)));
    assert_eq!(policy.pause(&told, 5), Some(secs(7)));
    let chat = Failure::transient(Scope::Recipient, "RATE_LIMITED", "");
    assert_eq!(policy.pause(&chat, 0), Some(secs(60)));
    assert_eq!(
        policy.decide(facts(5), &chat, Jitter::NONE),
        Verdict::Park(ParkReason::AttemptsExhausted),
        "one recipient's counts"
    );
    let greylisted = Failure::transient(Scope::Recipient, "RECIPIENT", "").after(Some(secs(300)));
    assert_eq!(policy.pause(&greylisted, 0), None, "others may get through");
    let down = Failure::transient(Scope::Lane, "PROVIDER_ERROR", "");
    assert_eq!(policy.pause(&down, 0), None);
    assert_eq!(policy.pause(&down.after(Some(secs(9))), 0), Some(secs(9)));
}

#[test]
fn what_was_postponed_to_one_moment_goes_out_at_the_lanes_rate() {
    assert_eq!(spread(100, Some(10.0)), secs(10));
    assert_eq!(spread(100, None), secs(0));
    for odd in [0.0, -1.0, f64::NAN] {
        assert!(spread(u64::MAX, Some(odd)) <= RETRY_AFTER_CEILING);
    }
}

#[test]
fn a_message_older_than_its_age_budget_is_parked() {
    let policy = RetryPolicy {
        max_age: Some(secs(300)),
        ..RetryPolicy::email()
    };
    let old = AttemptFacts {
        age: secs(300),
        ..facts(2)
    };
    assert_eq!(
        policy.decide(old, &transient(), Jitter::NONE),
        Verdict::Park(ParkReason::TooOld)
    );
}

#[test]
fn settings_below_one_are_named() {
    let policy = RetryPolicy {
        max_attempts: 0,
        interval: secs(0),
        ..RetryPolicy::exponential()
    };
    let keys: Vec<_> = policy.problems(false).into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, ["retry.maxAttempts", "retry.interval"]);
    assert_eq!(policy.clamped().max_attempts, 10);
    assert_eq!(policy.clamped().interval, secs(60));
}

#[test]
fn settings_beyond_all_measure_are_named_and_not_followed() {
    let policy = RetryPolicy {
        interval: secs(18_000_000_000_000_000_000),
        cap: Duration::MAX,
        factor: 1e300,
        max_age: Some(Duration::MAX),
        ..RetryPolicy::exponential()
    };
    let keys: Vec<_> = policy.problems(false).into_iter().map(|(key, _)| key).collect();
    assert_eq!(
        keys,
        ["retry.interval", "retry.factor", "retry.cap", "retry.maxAge"]
    );
    assert_eq!(policy.clamped().interval, secs(60));
}

#[test]
fn no_delay_overflows_whatever_the_policy_says() {
    for shape in [Shape::Fixed, Shape::Exponential] {
        for interval in [secs(18_000_000_000_000_000_000), Duration::MAX] {
            let policy = RetryPolicy {
                shape,
                interval,
                cap: interval,
                jitter: f64::NAN,
                factor: f64::INFINITY,
                ..RetryPolicy::exponential()
            };
            let jittery = RetryPolicy {
                jitter: 1.0,
                ..policy.clone()
            };
            for number in [0, 1, 2, u32::MAX] {
                assert!(policy.delay(number, Some(Duration::MAX), Jitter(0.5)) >= RETRY_AFTER_CEILING);
                assert_eq!(jittery.delay(number, None, Jitter(f64::NAN)), interval);
                assert!(jittery.delay(number, None, Jitter(0.999)) >= interval);
            }
        }
    }
    assert_eq!(slower(Duration::MAX), secs(2));
}

fn any_policy() -> impl Strategy<Value = RetryPolicy> {
    (
        any::<bool>(),
        1u64..7200,
        1.0f64..10.0,
        0u64..7200,
        0.0f64..=1.0,
        0u32..40,
    )
        .prop_map(
            |(fixed, interval, factor, extra, jitter, max_attempts)| RetryPolicy {
                shape: if fixed { Shape::Fixed } else { Shape::Exponential },
                interval: secs(interval),
                factor,
                cap: secs(interval + extra),
                jitter,
                max_attempts,
                max_age: None,
                unknown_retries: 1,
            },
        )
}

#[test]
fn an_event_is_tried_six_times_with_delays_that_double() {
    let minutes: Vec<_> = (1..=6)
        .map(|tries| event_retry(tries, 5).map(|d| d.as_secs() / 60))
        .collect();
    assert_eq!(minutes, [Some(1), Some(2), Some(4), Some(8), Some(16), None]);
}

#[test]
fn looks_for_events_come_quickly_after_traffic_and_slow_down_without() {
    let longest = Duration::from_millis(200);
    let mut pause = next_poll(longest, true, longest);
    assert_eq!(pause, Duration::from_millis(20));
    let mut looks = 0;
    while pause < longest {
        pause = next_poll(pause, false, longest);
        looks += 1;
    }
    assert!((5..20).contains(&looks), "{looks}");
}

proptest! {
    #[test]
    fn backoff_stays_below_the_cap_and_jitter_only_adds(
        policy in any_policy(), number in 1u32..1000, asked in prop::option::of(0u64..400_000), jitter in 0.0f64..1.0,
    ) {
        prop_assert!(policy.backoff(number) <= policy.cap);
        let failure = transient().after(asked.map(secs));
        let plain = policy.delay(number, failure.retry_after, Jitter::NONE);
        let jittered = policy.delay(number, failure.retry_after, Jitter(jitter));
        prop_assert!(jittered >= plain);
        let asked = secs(asked.unwrap_or(0)).min(RETRY_AFTER_CEILING);
        prop_assert!(plain >= asked);
        prop_assert_eq!(plain, policy.backoff(number).max(asked));
    }

    #[test]
    fn probing_never_stops_for_a_reason_that_may_go_away(probes in 0u32..100, asked in prop::option::of(0u64..200_000)) {
        for reason in HoldReason::ALL {
            let wait = next_probe(reason, probes, asked.map(secs));
            prop_assert_eq!(wait.is_some(), reason.is_probed());
            if let Some(wait) = wait {
                prop_assert!(wait >= secs(30) && wait <= RETRY_AFTER_CEILING.max(secs(3600)));
            }
        }
    }
}
