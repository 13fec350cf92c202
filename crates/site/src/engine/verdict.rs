//! From what an attempt taught to what is written down. Delays and budgets are `domain::retry`'s.

use domain::{
    AttemptFacts, Failure, Jitter, OnAmbiguous, ParkReason, RetryPolicy, Verdict,
    retry::INTERRUPTIONS_BEFORE_PARK,
};
use store::buffer::{Count, Message, Step};

/// What follows from a failed attempt.
pub fn step(message: &Message, failure: &Failure, count: Count, age: std::time::Duration) -> Step {
    let immediate = matches!(count, Count::Immediate | Count::InterruptedImmediate);
    let policy = RetryPolicy {
        max_attempts: message.max_retries,
        ..RetryPolicy::fixed(message.retry_interval)
    };
    let facts = AttemptFacts {
        // The immediate attempt is number 0: it uses up nothing.
        number: if immediate {
            0
        } else {
            message.retry_count.saturating_add(1)
        },
        unknowns: 0,
        age,
        on_ambiguous: OnAmbiguous::Resend,
        throttles: 0,
    };
    let error = words(failure);
    match policy.decide(facts, failure, Jitter::NONE) {
        Verdict::Retry { after } | Verdict::Postpone { after } => Step::Retry { after, error, count },
        // Nothing here holds a lane; a message that is told to wait waits its interval.
        Verdict::Wait { .. } => Step::Retry {
            after: message.retry_interval,
            error,
            count,
        },
        Verdict::Park(_) if count == Count::Immediate => Step::Failed { error },
        Verdict::Park(reason) => Step::Park {
            error,
            count,
            exhausted: matches!(reason, ParkReason::AttemptsExhausted | ParkReason::TooOld),
        },
    }
}

/// What follows from an attempt that ended with the process.
pub fn interrupted(message: &Message, age: std::time::Duration) -> Step {
    let count = match message.queued_at {
        Some(_) => Count::Interrupted,
        None => Count::InterruptedImmediate,
    };
    let failure = Failure::ambiguous(
        domain::Scope::Message,
        "INTERRUPTED",
        "the agent ended during the attempt; whether it arrived is not known",
    );
    if message.interruptions.saturating_add(1) >= INTERRUPTIONS_BEFORE_PARK {
        return Step::Park {
            error: format!(
                "INTERRUPTED: the agent ended during {INTERRUPTIONS_BEFORE_PARK} attempts in a row; it may be this message that ends it"
            ),
            count,
            exhausted: true,
        };
    }
    match step(message, &failure, count, age) {
        // It has waited for the restart already.
        Step::Retry { error, count, .. } => Step::Retry {
            after: std::time::Duration::ZERO,
            error,
            count,
        },
        other => other,
    }
}

pub fn words(failure: &Failure) -> String {
    format!("{}: {}", failure.code, failure.detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::a_message::a_message;
    use domain::Scope;
    use std::time::Duration;

    fn message(retry_count: u32, max_retries: u32) -> Message {
        Message {
            retry_count,
            max_retries,
            ..a_message(1)
        }
    }

    fn after(message: &Message, count: Count) -> &'static str {
        let failure = Failure::transient(Scope::Message, "TIMEOUT", "no answer");
        match step(message, &failure, count, Duration::ZERO) {
            Step::Retry { after, .. } if after == Duration::from_secs(30) => "retry in 30 s",
            Step::Park { exhausted: true, .. } => "park",
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_budget_counts_tries_of_the_sweep_and_zero_means_no_limit() {
        assert_eq!(after(&message(0, 1), Count::Immediate), "retry in 30 s");
        assert_eq!(after(&message(0, 1), Count::Try), "park");
        assert_eq!(after(&message(48, 50), Count::Try), "retry in 30 s");
        assert_eq!(after(&message(49, 50), Count::Try), "park");
        assert_eq!(after(&message(1_000_000, 0), Count::Try), "retry in 30 s");
    }

    #[test]
    fn a_refusal_for_good_parks_what_waits_and_leaves_nothing_of_what_does_not() {
        let refused = Failure::permanent(Scope::Message, "HTTP_400", "no");
        let waits = step(&message(0, 50), &refused, Count::Try, Duration::ZERO);
        assert!(matches!(waits, Step::Park { exhausted: false, .. }));
        let immediate = step(&message(0, 50), &refused, Count::Immediate, Duration::ZERO);
        assert_eq!(
            immediate,
            Step::Failed {
                error: "HTTP_400: no".into()
            }
        );
    }

    #[test]
    fn a_message_that_keeps_ending_the_agent_is_parked() {
        let mut message = message(0, 0);
        message.interruptions = 3;
        assert!(matches!(
            interrupted(&message, Duration::ZERO),
            Step::Retry { .. }
        ));
        message.interruptions = 4;
        assert!(matches!(interrupted(&message, Duration::ZERO), Step::Park { .. }));
    }
}
