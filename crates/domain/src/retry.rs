//! The one retry policy of the product: every delay and every budget is decided here, and nowhere else.
//!
//! Pure: the attempt number, the age and the randomness are arguments, so a test is a table of inputs and answers.

use crate::{
    hold::HoldReason,
    outcome::{Failure, FailureKind, Scope},
    provider::OnAmbiguous,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// However long a far end asks us to wait, we look again after a day.
pub const RETRY_AFTER_CEILING: Duration = Duration::from_secs(24 * 3600);

/// No duration that somebody gives is longer; beyond it dates stop making sense.
pub const LONGEST_DURATION: Duration = Duration::from_secs(100 * 366 * 86_400);

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
    /// The lane is held; the row waits in it, uncounted.
    Wait {
        reason: HoldReason,
        retry_after: Option<Duration>,
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
            return Verdict::Wait {
                reason,
                retry_after: failure.retry_after,
            };
        }
        match failure.kind {
            FailureKind::Permanent => return Verdict::Park(ParkReason::Permanent),
            FailureKind::Unknown if facts.unknowns >= self.unknown_retries => {
                return Verdict::Park(ParkReason::UnknownAnswer);
            }
            FailureKind::Ambiguous if facts.on_ambiguous == OnAmbiguous::Park => {
                return Verdict::Park(ParkReason::Ambiguous);
            }
            FailureKind::Transient | FailureKind::Unknown | FailureKind::Ambiguous => {}
        }
        if self.max_attempts > 0 && facts.number >= self.max_attempts {
            return Verdict::Park(ParkReason::AttemptsExhausted);
        }
        if self.max_age.is_some_and(|limit| facts.age >= limit) {
            return Verdict::Park(ParkReason::TooOld);
        }
        Verdict::Retry {
            after: self.delay(facts.number, failure.retry_after, jitter),
        }
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

/// When a held lane is tried next, after so many failed probes.
pub fn next_probe(reason: HoldReason, probes: u32, retry_after: Option<Duration>) -> Option<Duration> {
    let (first, cap) = match reason {
        HoldReason::Down => (Duration::from_secs(30), Duration::from_secs(600)),
        HoldReason::Auth => (Duration::from_secs(300), Duration::from_secs(3600)),
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

/// A far end that throttles everybody, not only this message: the whole lane waits this long.
pub fn lane_pause(failure: &Failure) -> Option<Duration> {
    (failure.scope == Scope::Lane && failure.hold.is_none())
        .then_some(failure.retry_after)
        .flatten()
        .map(|wait| wait.min(RETRY_AFTER_CEILING))
}

/// Durations as people write them: `"90s"`, `"10m"`, `"365d"`, or a plain number of seconds.
pub mod seconds {
    use super::Duration;
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(d: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&crate::retry::human(*d))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        d.deserialize_any(super::DurationVisitor { saturating: false })
    }
}

/// The same for what is in a row already: one that is too long is read as the longest, because a row that cannot be
/// read would be in everybody's way. Who enters it is told by [`RetryPolicy::problems`].
pub mod stored_seconds {
    pub use super::seconds::serialize;
    use super::{Duration, DurationVisitor};
    use serde::Deserializer;

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        d.deserialize_any(DurationVisitor { saturating: true })
    }
}

/// And for one that may be absent.
pub mod optional_seconds {
    use super::Duration;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(d: &Option<Duration>, s: S) -> Result<S::Ok, S::Error> {
        match d {
            Some(d) => super::seconds::serialize(d, s),
            None => s.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<Duration>, D::Error> {
        #[derive(Deserialize)]
        struct Wrapped(#[serde(with = "super::stored_seconds")] Duration);
        Ok(Option::<Wrapped>::deserialize(d)?.map(|w| w.0))
    }
}

/// `90s`, `10m`, `2h`, `365d`, `250ms`: the largest unit that divides it.
pub fn human(d: Duration) -> String {
    let ms = d.as_millis();
    for (unit, size) in [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)] {
        if ms >= size && ms.is_multiple_of(size) {
            return format!("{}{unit}", ms / size);
        }
    }
    format!("{ms}ms")
}

/// Reads what [`human`] writes, and a bare number as seconds. Nothing above [`LONGEST_DURATION`].
pub fn parse_human(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    within_longest(seconds_of(text)?)
        .ok_or_else(|| format!("{text:?} is too long; the longest is \"36600d\""))
}

/// The number of seconds that a text stands for; not negative, and possibly endless.
fn seconds_of(text: &str) -> Result<f64, String> {
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let wrong = || format!("{text:?} is not a duration; write it like \"10s\", \"5m\", \"2h\" or \"7d\"");
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let scale = match unit.trim() {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(wrong()),
    };
    Ok(number * scale)
}

/// None for what is too long, negative or no number.
fn within_longest(seconds: f64) -> Option<Duration> {
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    (duration <= LONGEST_DURATION).then_some(duration)
}

struct DurationVisitor {
    /// What is too long is read as the longest, instead of being refused.
    saturating: bool,
}

impl DurationVisitor {
    fn read<E: serde::de::Error>(&self, seconds: f64, refused: impl Fn() -> String) -> Result<Duration, E> {
        match within_longest(seconds) {
            Some(duration) => Ok(duration),
            None if self.saturating && seconds > 0.0 => Ok(LONGEST_DURATION),
            None => Err(E::custom(refused())),
        }
    }
}

impl serde::de::Visitor<'_> for DurationVisitor {
    type Value = Duration;
    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a duration like \"10s\", \"5m\", \"2h\" or \"7d\"")
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Duration, E> {
        let seconds = seconds_of(text.trim()).map_err(E::custom)?;
        self.read(seconds, || parse_human(text).err().unwrap_or_default())
    }
    fn visit_u64<E: serde::de::Error>(self, seconds: u64) -> Result<Duration, E> {
        self.visit_f64(seconds as f64)
    }
    fn visit_i64<E: serde::de::Error>(self, seconds: i64) -> Result<Duration, E> {
        self.visit_f64(seconds as f64)
    }
    fn visit_f64<E: serde::de::Error>(self, seconds: f64) -> Result<Duration, E> {
        self.read(seconds, || {
            format!("{seconds} is not a duration from 0 to 36600d in seconds")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn secs(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn facts(number: u32) -> AttemptFacts {
        AttemptFacts {
            number,
            unknowns: 0,
            age: Duration::ZERO,
            on_ambiguous: OnAmbiguous::Resend,
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
                reason: HoldReason::Auth,
                retry_after: None
            }
        );
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

    #[test]
    fn a_duration_that_is_too_long_is_refused_where_it_is_entered_and_cut_where_it_is_stored() {
        for text in ["18000000000000000000s", "36601d", "9".repeat(400).as_str()] {
            assert!(parse_human(text).unwrap_err().contains("36600d"), "{text}");
        }
        assert_eq!(parse_human("36600d").unwrap(), LONGEST_DURATION);
        #[derive(Deserialize, Debug)]
        struct Entered(#[serde(with = "seconds")] Duration);
        #[derive(Deserialize, Debug)]
        struct Stored(#[serde(with = "stored_seconds")] Duration);
        for json in ["\"18000000000000000000s\"", "18000000000000000000", "1e300"] {
            assert!(serde_json::from_str::<Entered>(json).is_err(), "{json}");
            assert_eq!(serde_json::from_str::<Stored>(json).unwrap().0, LONGEST_DURATION);
        }
        assert_eq!(serde_json::from_str::<Entered>("90").unwrap().0, secs(90));
        assert!(serde_json::from_str::<Stored>("-1").is_err());
        assert!(serde_json::from_str::<Stored>("\"soon\"").is_err());
    }

    #[test]
    fn durations_read_back_as_they_were_written() {
        for text in ["250ms", "10s", "90s", "5m", "2h", "365d"] {
            let again = human(parse_human(text).unwrap());
            assert_eq!(parse_human(&again).unwrap(), parse_human(text).unwrap());
        }
        assert!(parse_human("soon").unwrap_err().contains("10s"));
        assert!(parse_human("-5s").is_err());
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
}
