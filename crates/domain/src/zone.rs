//! A time zone by its name: how people in it read and write a moment.

use crate::Timestamp;
use jiff::{Zoned, civil::DateTime, tz::TimeZone};

/// The longest name there is has 32 letters.
const MAX_NAME: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub struct Zone(TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Zone {
    /// `Europe/Berlin`. None for what the zone data does not know.
    pub fn named(name: &str) -> Option<Self> {
        let known = name.len() <= MAX_NAME && !name.is_empty();
        known.then(|| TimeZone::get(name).ok()).flatten().map(Self)
    }

    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("UTC")
    }

    /// 2026-01-31 13:45:00.123 CET
    pub fn exact(&self, at: Timestamp) -> String {
        self.print(at, "%Y-%m-%d %H:%M:%S%.3f %Z")
    }

    /// 2026-01-31 13:45 CET
    pub fn minute(&self, at: Timestamp) -> String {
        self.print(at, "%Y-%m-%d %H:%M %Z")
    }

    /// 13:45
    pub fn clock(&self, at: Timestamp) -> String {
        self.print(at, "%H:%M")
    }

    /// 31 Jan
    pub fn day(&self, at: Timestamp) -> String {
        self.print(at, "%-d %b")
    }

    fn print(&self, at: Timestamp, how: &str) -> String {
        self.zoned(at)
            .map_or_else(|| at.to_string(), |zoned| zoned.strftime(how).to_string())
    }

    fn zoned(&self, at: Timestamp) -> Option<Zoned> {
        let at = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
        Some(at.to_zoned(self.0.clone()))
    }

    /// The midnight before.
    pub fn start_of_day(&self, now: Timestamp) -> Timestamp {
        let start = self.zoned(now).and_then(|now| now.start_of_day().ok());
        start.map_or(now, |start| {
            Timestamp::from_millis(start.timestamp().as_millisecond())
        })
    }

    /// The midnight before the last Monday.
    pub fn start_of_week(&self, now: Timestamp) -> Timestamp {
        let monday = self.zoned(now).and_then(|now| {
            let since = i64::from(now.weekday().to_monday_zero_offset());
            let day = now.checked_sub(jiff::Span::new().days(since)).ok()?;
            day.start_of_day().ok()
        });
        monday.map_or(now, |monday| {
            Timestamp::from_millis(monday.timestamp().as_millisecond())
        })
    }

    /// What a form's field says: `2026-01-31T13:45`, with seconds or without a time.
    pub fn read(&self, text: &str) -> Option<Timestamp> {
        let civil: DateTime = match text.len() {
            10 => format!("{text}T00:00").parse().ok()?,
            _ => text.parse().ok()?,
        };
        let zoned = civil.to_zoned(self.0.clone()).ok()?;
        Some(Timestamp::from_millis(zoned.timestamp().as_millisecond()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW_YEAR: Timestamp = Timestamp::from_millis(1_767_225_600_123);

    #[test]
    fn a_moment_reads_as_in_its_zone() {
        let berlin = Zone::named("Europe/Berlin").unwrap();
        assert_eq!(berlin.exact(NEW_YEAR), "2026-01-01 01:00:00.123 CET");
        assert_eq!(Zone::default().exact(NEW_YEAR), "2026-01-01 00:00:00.123 UTC");
        assert_eq!(
            (berlin.clock(NEW_YEAR), berlin.day(NEW_YEAR)),
            ("01:00".into(), "1 Jan".into())
        );
        assert_eq!((berlin.name(), Zone::default().name()), ("Europe/Berlin", "UTC"));
        for bad in ["", "Europe/Nowhere", "../../etc/passwd", &"x".repeat(100)] {
            assert_eq!(Zone::named(bad), None, "{bad}");
        }
    }

    #[test]
    fn days_and_weeks_begin_where_somebody_lives() {
        let tokyo = Zone::named("Asia/Tokyo").unwrap();
        let day = tokyo.start_of_day(NEW_YEAR);
        assert_eq!(tokyo.exact(day), "2026-01-01 00:00:00.000 JST");
        // A Thursday.
        assert_eq!(
            tokyo.exact(tokyo.start_of_week(NEW_YEAR)),
            "2025-12-29 00:00:00.000 JST"
        );
    }

    #[test]
    fn what_a_form_says_is_meant_in_the_zone() {
        let tokyo = Zone::named("Asia/Tokyo").unwrap();
        let at = tokyo.read("2026-01-01T09:00").unwrap();
        assert_eq!(at.to_string(), "2026-01-01T00:00:00.000Z");
        assert_eq!(tokyo.read("2026-01-01"), Some(tokyo.start_of_day(at)));
        assert_eq!(tokyo.read("2026-01-01T09:00:00"), Some(at));
        for bad in ["yesterday", "2026-13-01T00:00", ""] {
            assert_eq!(tokyo.read(bad), None, "{bad}");
        }
    }
}
