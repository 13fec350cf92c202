//! Hours of the day, in a place, in which something may go out.

use crate::Timestamp;
use jiff::{civil::Time, tz::TimeZone};
use std::fmt;

/// From one time of the day to another, where the clock shows it; past midnight where the second is the earlier one.
#[derive(Debug, Clone, PartialEq)]
pub struct Hours {
    from: Time,
    to: Time,
    zone: TimeZone,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableHours {
    #[error("must be two different times of the day, like 10:00-21:00")]
    Times,
    #[error("must be the name of a time zone, like Asia/Kolkata")]
    Zone,
}

impl Hours {
    /// Of `10:00-21:00` and `Asia/Kolkata`.
    pub fn parse(times: &str, zone: &str) -> Result<Self, UnreadableHours> {
        let zone = TimeZone::get(zone.trim()).map_err(|_| UnreadableHours::Zone)?;
        let read = |text: &str| Time::strptime("%H:%M", text.trim()).ok();
        let times = times
            .split_once('-')
            .and_then(|(from, to)| Some((read(from)?, read(to)?)));
        match times {
            Some((from, to)) if from != to => Ok(Self { from, to, zone }),
            _ => Err(UnreadableHours::Times),
        }
    }

    /// When they begin next; none while they last.
    pub fn begin_after(&self, now: Timestamp) -> Option<Timestamp> {
        let here = jiff::Timestamp::from_millisecond(now.as_millis())
            .ok()?
            .to_zoned(self.zone.clone());
        let time = here.time();
        let within = match self.from < self.to {
            true => self.from <= time && time < self.to,
            false => self.from <= time || time < self.to,
        };
        if within {
            return None;
        }
        let today = here.date();
        let days = [Some(today), today.tomorrow().ok()];
        // A day on which the clock skips the hour begins when it has.
        let begin = |day: jiff::civil::Date| day.to_datetime(self.from).to_zoned(self.zone.clone()).ok();
        days.into_iter()
            .flatten()
            .filter_map(begin)
            .map(|at| Timestamp::from_millis(at.timestamp().as_millisecond()))
            .find(|at| *at > now)
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zone = self.zone.iana_name().unwrap_or("UTC");
        write!(
            f,
            "{:02}:{:02}-{:02}:{:02} {zone}",
            self.from.hour(),
            self.from.minute(),
            self.to.hour(),
            self.to.minute()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        let moment: jiff::Timestamp = text.parse().unwrap();
        Timestamp::from_millis(moment.as_millisecond())
    }

    #[test]
    fn hours_begin_where_the_clock_of_their_zone_shows_it() {
        let day = Hours::parse("10:00-21:00", "Asia/Kolkata").unwrap();
        for (now, begin) in [
            ("2026-03-01T04:29:59Z", Some("2026-03-01T04:30:00Z")),
            ("2026-03-01T04:30:00Z", None),
            ("2026-03-01T15:29:59Z", None),
            ("2026-03-01T15:30:00Z", Some("2026-03-02T04:30:00Z")),
            ("2026-03-01T17:30:00Z", Some("2026-03-02T04:30:00Z")),
        ] {
            assert_eq!(day.begin_after(at(now)), begin.map(at), "{now}");
        }
        let night = Hours::parse("22:00-06:00", "UTC").unwrap();
        for (now, begin) in [
            ("2026-03-01T23:00:00Z", None),
            ("2026-03-01T05:00:00Z", None),
            ("2026-03-01T06:00:00Z", Some("2026-03-01T22:00:00Z")),
        ] {
            assert_eq!(night.begin_after(at(now)), begin.map(at), "{now}");
        }
    }

    #[test]
    fn an_hour_that_the_clock_skips_begins_after_the_jump() {
        let early = Hours::parse("02:30-04:00", "Europe/Berlin").unwrap();
        let begin = early.begin_after(at("2026-03-29T00:00:00Z"));
        assert_eq!(begin, Some(at("2026-03-29T01:30:00Z")));
    }

    #[test]
    fn what_is_no_time_or_no_zone_is_refused_in_words() {
        for bad in ["10-21", "10:00", "25:00-26:00", "10:00-10:00", ""] {
            assert_eq!(Hours::parse(bad, "UTC"), Err(UnreadableHours::Times), "{bad}");
        }
        assert_eq!(
            Hours::parse("10:00-21:00", "Asia/Nowhere"),
            Err(UnreadableHours::Zone)
        );
        assert_eq!(
            Hours::parse(" 9:00 - 21:30", "Asia/Kolkata").unwrap().to_string(),
            "09:00-21:30 Asia/Kolkata"
        );
    }
}
