//! The one retry policy of the product: every delay and every budget is decided here, and nowhere else.
//!
//! Pure: the attempt number, the age and the randomness are arguments, so a test is a table of inputs and answers.

mod waits;

use crate::{
    code,
    hold::HoldReason,
    outcome::{Failure, FailureKind, Scope},
    provider::OnAmbiguous,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

pub use waits::{
    DOWN_AFTER_FAILURES, DOWN_AFTER_ROWS, DOWN_AFTER_TROUBLES, event_retry, mark_again, next_poll,
    next_probe, probe_source, probe_target, receipt_wait, redial, restart, slower, spread,
};

pub use crate::duration::{LONGEST_DURATION, human, optional_seconds, parse_human, seconds, stored_seconds};

/// However long a far end asks us to wait, we look again after a day.
pub const RETRY_AFTER_CEILING: Duration = Duration::from_secs(24 * 3600);

/// The longest a policy may wait between two attempts.
pub const INTERVAL_CEILING: Duration = Duration::from_secs(30 * 86_400);

/// What the delay may be multiplied by at most: beyond it the second attempt is at the cap anyway.
const FACTOR_CEILING: f64 = 1000.0;

/// A row whose attempts keep ending with the process is parked after this many.
pub const INTERRUPTIONS_BEFORE_PARK: u32 = 5;

/// How often, how soon and how long to try.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RetryPolicy {
    pub shape: Shape,
    /// The delay after the first failure.
    #[serde(with = "crate::retry::stored_seconds")]
    pub interval: Duration,
    /// What the delay is multiplied by after each further failure; only for `exponential`.
    pub factor: f64,
    /// The longest delay of our own making.
    #[serde(with = "crate::retry::stored_seconds")]
    pub cap: Duration,
    /// Up to this share of the delay is added at random.
    pub jitter: f64,
    /// Attempts in all; 0 means no limit and is only accepted for a site's own categories.
    pub max_attempts: u32,
    /// Older than this, a message is parked rather than tried again.
    #[serde(
        with = "crate::retry::optional_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub max_age: Option<Duration>,
    /// Tries after an answer we have no rule for.
    pub unknown_retries: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    Fixed,
    Exponential,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::exponential()
    }
}

impl RetryPolicy {
    /// E-mail: ten attempts, a minute apart.
    pub fn email() -> Self {
        Self {
            max_attempts: 10,
            ..Self::fixed(Duration::from_secs(60))
        }
    }

    /// The same delay every time.
    pub fn fixed(interval: Duration) -> Self {
        Self {
            shape: Shape::Fixed,
            interval,
            factor: 1.0,
            cap: interval,
            jitter: 0.0,
            ..Self::exponential()
        }
    }

    /// Everything else: one minute, doubling up to an hour, five attempts.
    pub fn exponential() -> Self {
        Self {
            shape: Shape::Exponential,
            interval: Duration::from_secs(60),
            factor: 2.0,
            cap: Duration::from_secs(3600),
            jitter: 0.1,
            max_attempts: 5,
            max_age: None,
            unknown_retries: 1,
        }
    }
}

/// What the policy needs to know about the attempt that has just failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptFacts {
    /// 1 for the first attempt.
    pub number: u32,
    /// Answers without a rule so far, this one not counted.
    pub unknowns: u32,
    /// Since the message was due for the first time.
    pub age: Duration,
    pub on_ambiguous: OnAmbiguous,
    /// How often in a row the lane was throttled before this.
    pub throttles: u32,
}

/// Randomness as an argument: a number in [0, 1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jitter(pub f64);

impl Jitter {
    pub const NONE: Self = Self(0.0);

    pub fn random() -> Self {
        Self(rand::random())
    }
}

/// What follows from a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Retry {
        after: Duration,
    },
    /// Not now, and not its fault: it comes again then, uncounted.
    Postpone {
        after: Duration,
    },
    /// The lane is held; the row waits in it, uncounted.
    Wait {
        reason: HoldReason,
    },
    Park(ParkReason),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParkReason {
    Permanent,
    AttemptsExhausted,
    TooOld,
    UnknownAnswer,
    Ambiguous,
}

impl RetryPolicy {
    /// What to do after a failure.
    pub fn decide(&self, facts: AttemptFacts, failure: &Failure, jitter: Jitter) -> Verdict {
        if let Some(reason) = failure.hold {
            return Verdict::Wait { reason };
        }
        if let Some(after) = self.postponed(facts, failure, jitter) {
            return Verdict::Postpone { after };
        }
        match failure.kind {
            FailureKind::Permanent => return Verdict::Park(ParkReason::Permanent),
            FailureKind::Unknown if facts.unknowns >= self.unknown_retries_after(failure) => {
                return Verdict::Park(ParkReason::UnknownAnswer);
            }
            FailureKind::Ambiguous if facts.on_ambiguous == OnAmbiguous::Park => {
                return Verdict::Park(ParkReason::Ambiguous);
            }
            FailureKind::Transient | FailureKind::Unknown | FailureKind::Ambiguous => {}
        }
        let most = [Some(self.max_attempts).filter(|most| *most > 0), failure.tries()];
        if most.into_iter().flatten().any(|most| facts.number >= most) {
            return Verdict::Park(ParkReason::AttemptsExhausted);
        }
        let oldest = [self.max_age, failure.at_most()];
        if oldest.into_iter().flatten().any(|limit| facts.age >= limit) {
            return Verdict::Park(ParkReason::TooOld);
        }
        Verdict::Retry {
            after: self.delay(facts.number, failure.retry_after, jitter),
        }
    }

    /// A lane that wants less just now, or a message at the wrong hour: nobody failed, so nothing is counted.
    fn postponed(&self, facts: AttemptFacts, failure: &Failure, jitter: Jitter) -> Option<Duration> {
        let of_lane = failure.scope == Scope::Lane || failure.code == code::OUTSIDE_HOURS;
        (failure.is_throttled() && of_lane).then(|| {
            let number = facts.throttles.saturating_add(1);
            self.delay(number, failure.retry_after, jitter)
        })
    }

    fn unknown_retries_after(&self, failure: &Failure) -> u32 {
        failure
            .tries()
            .map_or(self.unknown_retries, |tries| tries.saturating_sub(1))
    }

    /// When those are asked for who were not, because the far end failed on somebody before them.
    pub fn after_stop(&self, failure: &Failure) -> Duration {
        self.delay(1, failure.retry_after, Jitter::NONE)
    }

    /// How long the failure keeps everything else in its scope from being tried: as long as the far end asked for, or where
    /// it only wants less, by backoff. None where others may try.
    pub fn pause(&self, failure: &Failure, throttles: u32) -> Option<Duration> {
        if failure.hold.is_some() || failure.scope == Scope::Message {
            return None;
        }
        let asked = failure.retry_after.map(|wait| wait.min(RETRY_AFTER_CEILING));
        let paused = match failure.scope {
            Scope::Lane => failure.is_lane_down() || failure.is_throttled(),
            _ => failure.is_throttled() || failure.scope == Scope::Template,
        };
        if !paused || failure.kind == FailureKind::Permanent {
            return None;
        }
        asked.or_else(|| {
            failure
                .is_throttled()
                .then(|| self.backoff(throttles.saturating_add(1)))
        })
    }

    /// The delay of our own making after the attempt of this number. Never above the cap.
    pub fn backoff(&self, number: u32) -> Duration {
        let delay = match self.shape {
            Shape::Fixed => self.interval,
            Shape::Exponential => {
                let power = self
                    .factor
                    .powi(i32::try_from(number.saturating_sub(1)).unwrap_or(i32::MAX));
                let seconds = self.interval.as_secs_f64() * power;
                // The comparison also catches infinity and NaN, which `from_secs_f64` would panic on.
                if seconds < self.cap.as_secs_f64() {
                    Duration::from_secs_f64(seconds)
                } else {
                    self.cap
                }
            }
        };
        delay.min(self.cap)
    }

    fn delay(&self, number: u32, retry_after: Option<Duration>, jitter: Jitter) -> Duration {
        let asked = retry_after.unwrap_or_default().min(RETRY_AFTER_CEILING);
        let base = self.backoff(number).max(asked);
        let share = self.jitter.clamp(0.0, 1.0) * jitter.0.clamp(0.0, 1.0);
        // No failure: a share that is no number, or a delay beyond all measure, adds nothing.
        let added = Duration::try_from_secs_f64(base.as_secs_f64() * share).unwrap_or_default();
        base.saturating_add(added)
    }

    /// What is wrong with the policy, as (key, what it takes). `unlimited_allowed`: 0 attempts mean no limit.
    pub fn problems(&self, unlimited_allowed: bool) -> Vec<(&'static str, &'static str)> {
        let mut bad = vec![];
        if self.max_attempts < 1 && !unlimited_allowed {
            bad.push(("retry.maxAttempts", "must be at least 1"));
        }
        if self.interval < Duration::from_secs(1) {
            bad.push(("retry.interval", "must be at least 1s"));
        }
        if self.interval > INTERVAL_CEILING {
            bad.push(("retry.interval", "must be at most 30d"));
        }
        if self.shape == Shape::Exponential && !(1.0..=FACTOR_CEILING).contains(&self.factor) {
            bad.push(("retry.factor", "must be between 1 and 1000"));
        }
        if self.cap < self.interval {
            bad.push(("retry.cap", "must not be below retry.interval"));
        }
        if self.cap > INTERVAL_CEILING {
            bad.push(("retry.cap", "must be at most 30d"));
        }
        if !(0.0..=1.0).contains(&self.jitter) {
            bad.push(("retry.jitter", "must be between 0 and 1"));
        }
        if self.max_age.is_some_and(|age| age < Duration::from_secs(1)) {
            bad.push(("retry.maxAge", "must be at least 1s, or left out"));
        }
        if self.max_age.is_some_and(|age| age > LONGEST_DURATION) {
            bad.push(("retry.maxAge", "must be at most 36600d, or left out"));
        }
        bad
    }

    /// The nearest policy that can be followed, for a row that got past the checks where it was entered.
    pub fn clamped(&self) -> Self {
        let sound = Self {
            max_attempts: 10,
            ..Self::fixed(Duration::from_secs(60))
        };
        if self.problems(false).is_empty() {
            self.clone()
        } else {
            sound
        }
    }
}

#[cfg(test)]
mod tests;
