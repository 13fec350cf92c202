//! Waits that are no attempt's: probes, polls, dials, restarts.

use super::{Jitter, RETRY_AFTER_CEILING, RetryPolicy};
use crate::hold::HoldReason;
use std::time::Duration;

/// When a held lane is tried next, after so many failed probes.
pub fn next_probe(reason: HoldReason, probes: u32, retry_after: Option<Duration>) -> Option<Duration> {
    let (first, cap) = match reason {
        HoldReason::Down => (Duration::from_secs(30), Duration::from_secs(600)),
        HoldReason::Auth | HoldReason::Config => (Duration::from_secs(300), Duration::from_secs(3600)),
        HoldReason::Quota | HoldReason::Billing => (Duration::from_secs(900), Duration::from_secs(3600)),
        HoldReason::Operator | HoldReason::Disabled => return None,
    };
    let own = first.saturating_mul(2u32.saturating_pow(probes.min(16))).min(cap);
    Some(own.max(retry_after.unwrap_or_default().min(RETRY_AFTER_CEILING)))
}

/// The next wait of a caller that keeps asking our own store, which does not answer.
pub fn slower(wait: Duration) -> Duration {
    wait.saturating_mul(2).min(Duration::from_secs(2))
}

/// How long until a receipt is looked at again that fits nothing yet, or waits for an attempt to be recorded.
pub fn receipt_wait(tries: u32) -> Duration {
    let policy = RetryPolicy {
        interval: Duration::from_secs(2),
        cap: Duration::from_secs(3_600),
        jitter: 0.0,
        ..RetryPolicy::exponential()
    };
    policy.delay(tries.saturating_add(1), None, Jitter(0.0))
}

/// How long after a panic a background loop is started again, after so many in a row before it.
pub fn restart(panics: u32) -> Duration {
    let policy = RetryPolicy {
        interval: Duration::from_secs(1),
        cap: Duration::from_secs(60),
        jitter: 0.0,
        ..RetryPolicy::exponential()
    };
    policy.delay(panics.saturating_add(1), None, Jitter(0.0))
}

/// How long a site waits before it goes through central's addresses again, after so many rounds in vain. Who was
/// refused (a wrong key, another version) needs a person and asks seldom; who reached nobody asks often, so that
/// the link is back seconds after the network is. The random share keeps a hundred sites from dialling as one.
pub fn redial(rounds: u32, refused: bool, jitter: Jitter) -> Duration {
    let (interval, cap) = if refused { (5, 60) } else { (1, 5) };
    let policy = RetryPolicy {
        interval: Duration::from_secs(interval),
        cap: Duration::from_secs(cap),
        jitter: 0.5,
        ..RetryPolicy::exponential()
    };
    policy.delay(rounds, None, jitter)
}

/// How long an event waits after an error of its own, after so many tries; none once it had `retries` of them: 1, 2, 4,
/// 8 and 16 minutes for five.
pub fn event_retry(tries: u32, retries: u32) -> Option<Duration> {
    let policy = RetryPolicy {
        jitter: 0.0,
        ..RetryPolicy::exponential()
    };
    (tries <= retries).then(|| policy.backoff(tries))
}

/// When an event source that cannot be reached is asked next, after so many failures in a row. What waits in it waits
/// uncounted.
pub fn probe_source(failures: u32) -> Duration {
    let policy = RetryPolicy {
        interval: Duration::from_secs(1),
        cap: Duration::from_secs(30),
        ..RetryPolicy::exponential()
    };
    policy.backoff(failures.max(1))
}

/// When what was taken from an event source is marked there again, after so many marks that failed in a row: mostly an
/// application's own write was in the way, which is over soon.
pub fn mark_again(failures: u32) -> Duration {
    let policy = RetryPolicy {
        interval: Duration::from_millis(100),
        cap: Duration::from_secs(2),
        ..RetryPolicy::exponential()
    };
    policy.backoff(failures.max(1))
}

/// The pause before the next look for events: short while there is traffic, growing to the longest allowed.
pub fn next_poll(last: Duration, found_some: bool, longest: Duration) -> Duration {
    const SHORTEST: Duration = Duration::from_millis(20);
    match found_some {
        true => SHORTEST.min(longest),
        false => last.max(SHORTEST).saturating_mul(5).div_f64(4.0).min(longest),
    }
}

/// How many lane-scope failures in a row, over how many rows, make a lane "down".
pub const DOWN_AFTER_FAILURES: u32 = 5;
pub const DOWN_AFTER_ROWS: usize = 3;
/// The same for a site's targets, where each failure may have been the message's own.
pub const DOWN_AFTER_TROUBLES: u32 = 50;

/// When a site's target that does not answer is asked next: after the retry interval of those that wait, unless it
/// asked for more.
pub fn probe_target(interval: Duration, retry_after: Option<Duration>) -> Duration {
    interval.max(retry_after.unwrap_or_default().min(RETRY_AFTER_CEILING))
}

/// How much later than the first the row of this number goes out, of rows that were postponed to one moment: at the lane's
/// rate, so that they do not all come due at once.
pub fn spread(number: u64, per_second: Option<f64>) -> Duration {
    let seconds = per_second.map_or(0.0, |rate| number as f64 / rate);
    // A rate that is none spreads nothing.
    Duration::try_from_secs_f64(seconds)
        .unwrap_or_default()
        .min(RETRY_AFTER_CEILING)
}
