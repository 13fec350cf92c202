//! When something is due that hangs on a date of an application: "1 day before check-in, 18:00 in the listing's zone".
//!
//! Pure: the values come from whoever has them, zone data is compiled in.
//! Always true: a date as it is written is the same date in every zone; a time that a zone leaves out moves forward, one
//! that it has twice is the earlier; nothing here overflows.

use crate::{FieldError, Timestamp, duration::seconds, field_error::FieldChecks, submission::limit};
use jiff::{
    Span, ToSpan,
    civil::{Date, Time},
    tz::{Disambiguation, TimeZone},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A rule, as it is entered, stored and shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScheduleRule {
    /// The placeholder that holds the date.
    pub from: String,
    #[serde(default)]
    pub r#as: DateMeaning,
    /// `-1d`, `+2h`, `-1d 2h`; nothing if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    /// A time of day, `18:00`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// A zone's name, or the placeholder that holds it; UTC if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
    #[serde(default)]
    pub late: Late,
    /// How long after its time it is not yet late.
    #[serde(default = "ten_minutes", with = "seconds")]
    pub grace: Duration,
}

/// What a date in a payload means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateMeaning {
    /// The day as it is written: `2026-03-15T00:00:00Z` is 15 March in every zone.
    #[default]
    Date,
    /// A moment, which is another day elsewhere.
    Instant,
}

/// What becomes of something whose time has passed before it was known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Late {
    #[default]
    Send,
    Skip,
}

fn ten_minutes() -> Duration {
    Duration::from_secs(600)
}

/// The largest offset either way.
const MAX_OFFSET_DAYS: i64 = 3_660;

/// An offset apart: days are days of the calendar, the rest is time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Offset {
    days: i64,
    seconds: i64,
}

impl Offset {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let mut offset = Self::default();
        let mut parts = rest.split_whitespace().peekable();
        parts.peek()?;
        for part in parts {
            let (number, unit) = part.split_at(part.find(|c: char| !c.is_ascii_digit())?);
            let number: i64 = number.parse().ok().filter(|n| *n <= MAX_OFFSET_DAYS * 1440)?;
            match unit {
                "w" => offset.days = offset.days.saturating_add(number.saturating_mul(7)),
                "d" => offset.days = offset.days.saturating_add(number),
                "h" => offset.seconds = offset.seconds.saturating_add(number.saturating_mul(3600)),
                "m" | "min" => offset.seconds = offset.seconds.saturating_add(number.saturating_mul(60)),
                _ => return None,
            }
        }
        let fits = offset.days <= MAX_OFFSET_DAYS && offset.seconds <= MAX_OFFSET_DAYS * 86_400;
        fits.then_some(Self {
            days: sign * offset.days,
            seconds: sign * offset.seconds,
        })
    }
}

/// Why a time cannot be told, in words for a row.
pub type NoTime = String;

impl ScheduleRule {
    /// Every field that is wrong, in the API's names.
    pub fn problems(&self) -> Vec<FieldError> {
        let mut bad = FieldChecks::default();
        bad.text("schedule.from", Some(&self.from), limit::NAME);
        if self.from.trim().is_empty() {
            bad.push(
                "schedule.from",
                "must be the name of a placeholder, like checkinDate",
            );
        }
        if self
            .offset
            .as_deref()
            .is_some_and(|text| Offset::parse(text).is_none())
        {
            bad.push(
                "schedule.offset",
                "must be like -1d, +2h or -1d 12h, at most 3660d",
            );
        }
        if self.at.as_deref().is_some_and(|text| time_of_day(text).is_none()) {
            bad.push("schedule.at", "must be a time of day like 18:00");
        }
        bad.text("schedule.zone", self.zone.as_deref(), limit::NAME);
        if self.grace > crate::duration::LONGEST_DURATION {
            bad.push("schedule.grace", "must be at most 36600d");
        }
        bad.0
    }

    /// When it is due. `value` gives the text of a placeholder.
    pub fn due<'v>(
        &self,
        value: impl Fn(&str) -> Option<std::borrow::Cow<'v, str>>,
    ) -> Result<Timestamp, NoTime> {
        let date = value(&self.from).filter(|text| !text.trim().is_empty());
        let date = date.ok_or_else(|| format!("Missing data: {}", self.from))?;
        let zone = self.zone(&value)?;
        let offset = self
            .offset
            .as_deref()
            .map_or(Some(Offset::default()), Offset::parse);
        let offset = offset.ok_or_else(|| "the offset cannot be read".to_owned())?;
        let at = match &self.at {
            Some(text) => Some(time_of_day(text).ok_or_else(|| format!("{text:?} is not a time of day"))?),
            None => None,
        };
        let start = match self.r#as {
            DateMeaning::Date => written_date(&date)
                .ok_or_else(|| format!("{} is not a date: {:?}", self.from, shown(&date)))?
                .to_datetime(at.unwrap_or(Time::midnight())),
            DateMeaning::Instant => {
                let moment: jiff::Timestamp = date
                    .trim()
                    .parse()
                    .map_err(|_| format!("{} is not a moment: {:?}", self.from, shown(&date)))?;
                let there = moment.to_zoned(zone.clone()).datetime();
                at.map_or(there, |at| there.date().to_datetime(at))
            }
        };
        let beyond = |_| "the time is beyond the calendar".to_owned();
        let day = start.checked_add(offset.days.days()).map_err(beyond)?;
        let there = zone.to_ambiguous_zoned(day);
        let due = there.disambiguate(Disambiguation::Compatible).map_err(beyond)?;
        let due = due
            .checked_add(Span::new().seconds(offset.seconds))
            .map_err(beyond)?;
        Ok(Timestamp::from_millis(due.timestamp().as_millisecond()))
    }

    fn zone<'v>(
        &self,
        value: &impl Fn(&str) -> Option<std::borrow::Cow<'v, str>>,
    ) -> Result<TimeZone, NoTime> {
        let Some(named) = &self.zone else {
            return Ok(TimeZone::UTC);
        };
        let given = value(named);
        let name = given.as_deref().unwrap_or(named).trim();
        TimeZone::get(name).map_err(|_| format!("{:?} is not a time zone", shown(name)))
    }

    /// Whether its time passed so long ago that it counts as late.
    pub fn is_late(&self, due: Timestamp, now: Timestamp) -> bool {
        now > due + self.grace
    }
}

fn time_of_day(text: &str) -> Option<Time> {
    let (hour, minute) = text.trim().split_once(':')?;
    let digits = |part: &str| part.len() <= 2 && part.bytes().all(|b| b.is_ascii_digit());
    let fine = digits(hour) && digits(minute);
    fine.then(|| Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok())?
}

/// The day that a text begins with, whatever time and zone follow.
fn written_date(text: &str) -> Option<Date> {
    text.trim().get(..10)?.parse().ok()
}

/// A value in a sentence, bounded.
fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
