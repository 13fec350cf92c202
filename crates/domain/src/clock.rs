//! The only place that reads the wall clock. Everything else is given a [`Clock`] or a [`Timestamp`].

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{
    fmt,
    ops::{Add, Sub},
    str::FromStr,
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, Instant},
};

/// A moment in UTC, to the millisecond. Truncated when made, so that a round trip through any store is exact.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const EPOCH: Self = Self(0);

    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// How long ago `earlier` was; zero when it is in the future.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0).max(0).unsigned_abs())
    }

    /// The start of the bucket of this length that contains the moment.
    pub fn bucket(self, length: Duration) -> Self {
        let length = i64::try_from(length.as_millis()).unwrap_or(i64::MAX).max(1);
        Self(self.0.div_euclid(length).saturating_mul(length))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;
    fn add(self, by: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)),
        )
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;
    fn sub(self, by: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)),
        )
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(t) => write!(f, "{t:.3}"),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Timestamp {
    /// What is said to somebody whose text is not one.
    pub const EXPECTED: &str = "must be a time like 2026-01-31T13:45:00Z";

    /// As databases' adapters write a time: without a zone it is UTC.
    pub fn of_column(text: &str) -> Option<Self> {
        let text = text.trim();
        let in_utc = || {
            let civil: jiff::civil::DateTime = text.parse().ok()?;
            let zoned = civil.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
            Some(Self(zoned.timestamp().as_millisecond()))
        };
        text.parse::<Self>().ok().or_else(in_utc)
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<jiff::Timestamp>().map(|t| Self(t.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Tells the time. One per process; tests hand out a [`ManualClock`].
pub trait Clock: fmt::Debug + Send + Sync {
    fn now(&self) -> Timestamp;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the wall clock"
    )]
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_millisecond())
    }
}

/// Notices when the wall clock was set, by a clock that only ever goes on.
#[derive(Debug, Clone, Copy)]
pub struct ClockWatch {
    seen: Timestamp,
    at: Instant,
}

/// What became of the wall clock since it was looked at last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockJump {
    /// Also after the machine slept.
    Ahead(Duration),
    Back(Duration),
}

impl ClockWatch {
    /// Less than this is a clock being kept right, not set.
    const NOTICED: Duration = Duration::from_secs(5);

    pub fn new(now: Timestamp, at: Instant) -> Self {
        Self { seen: now, at }
    }

    /// Looks at both clocks; says so if they no longer agree.
    pub fn look(&mut self, now: Timestamp, at: Instant) -> Option<ClockJump> {
        let expected = self.seen + at.saturating_duration_since(self.at);
        *self = Self::new(now, at);
        let (ahead, back) = (now.since(expected), expected.since(now));
        if back >= Self::NOTICED {
            Some(ClockJump::Back(back))
        } else if ahead >= Self::NOTICED {
            Some(ClockJump::Ahead(ahead))
        } else {
            None
        }
    }
}

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    pub fn at(start: Timestamp) -> Self {
        Self(AtomicI64::new(start.0))
    }

    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(
            i64::try_from(by.as_millis()).unwrap_or(i64::MAX),
            Ordering::SeqCst,
        );
    }
}

impl ManualClock {
    /// Somebody sets it back.
    pub fn set_back(&self, by: Duration) {
        self.0.fetch_sub(
            i64::try_from(by.as_millis()).unwrap_or(i64::MAX),
            Ordering::SeqCst,
        );
    }
}

impl Default for ManualClock {
    /// 2026-01-01T00:00:00Z: late enough to look real, fixed so that test output is stable.
    fn default() -> Self {
        Self::at(Timestamp(1_767_225_600_000))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_survives_its_own_text() {
        let t = Timestamp::from_millis(1_767_225_600_123);
        assert_eq!(t.to_string(), "2026-01-01T00:00:00.123Z");
        assert_eq!(t.to_string().parse::<Timestamp>().unwrap(), t);
    }

    #[test]
    fn a_column_without_a_zone_is_utc() {
        let ten = "2026-03-15T10:00:00Z".parse::<Timestamp>().ok();
        for text in [
            "2026-03-15T10:00:00Z",
            "2026-03-15 15:30:00+05:30",
            "2026-03-15 10:00:00.000000",
            " 2026-03-15T10:00 ",
        ] {
            assert_eq!(Timestamp::of_column(text), ten, "{text}");
        }
        let midnight = "2026-03-15T00:00:00Z".parse::<Timestamp>().ok();
        assert_eq!(Timestamp::of_column("2026-03-15"), midnight);
        for text in ["", "tomorrow", "15.3.2026", "2026-02-30", "10:00"] {
            assert_eq!(Timestamp::of_column(text), None, "{text}");
        }
    }

    #[test]
    fn a_clock_that_was_set_is_noticed_and_one_that_is_kept_right_is_not() {
        let (start, secs) = (Instant::now(), Duration::from_secs);
        let mut watch = ClockWatch::new(Timestamp::from_millis(1_000_000), start);
        for (wall, passed, noticed) in [
            (1_010_000, 10, None),
            (1_024_000, 20, None),
            (1_094_000, 30, Some(ClockJump::Ahead(secs(60)))),
            (1_104_000, 40, None),
            (104_000, 50, Some(ClockJump::Back(secs(1_010)))),
            (114_000, 60, None),
        ] {
            let jump = watch.look(Timestamp::from_millis(wall), start + secs(passed));
            assert_eq!(jump, noticed, "{passed} s");
        }
    }

    #[test]
    fn buckets_start_at_multiples_of_their_length() {
        let t = Timestamp::from_millis(25_999);
        assert_eq!(t.bucket(Duration::from_secs(10)), Timestamp::from_millis(20_000));
    }
}
