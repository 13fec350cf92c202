//! Dates in templates: recognised by their form, shown in the template's or the tenant's format.
//!
//! Always true: taken `as: date`, a date is the one that was written, in every zone; nothing is looked up on the machine.

use super::limit;
use jiff::{
    civil::{DateTime, Time},
    fmt::{strtime, temporal::Pieces},
    tz::TimeZone,
};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// `15-Mar-2026`
pub const DEFAULT_FORMAT: &str = "%d-%b-%Y";
/// The value as it was written, whatever it looks like.
pub(super) const RAW: &str = "raw";
/// Longer texts are none: `2026-03-15T18:30:00.000000000+05:30` has 35.
const LONGEST_DATE: usize = 40;

/// How a date with a time and an offset is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateAs {
    /// `2026-03-15T00:00:00Z` is 15 March everywhere.
    #[default]
    Date,
    /// It is a moment, shown as the clocks of the zone show it.
    Instant,
}

impl DateAs {
    pub fn as_str(self) -> &'static str {
        match self {
            DateAs::Date => "date",
            DateAs::Instant => "instant",
        }
    }
}

impl FromStr for DateAs {
    type Err = &'static str;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "date" => Ok(Self::Date),
            "instant" => Ok(Self::Instant),
            _ => Err("must be date or instant"),
        }
    }
}

/// How dates are shown.
#[derive(Debug, Clone)]
pub struct DateStyle {
    pub format: String,
    pub meaning: DateAs,
    /// For moments.
    pub zone: TimeZone,
}

impl Default for DateStyle {
    fn default() -> Self {
        Self {
            format: DEFAULT_FORMAT.into(),
            meaning: DateAs::Date,
            zone: TimeZone::UTC,
        }
    }
}

impl DateStyle {
    /// The text as a date of this style, if it is one; `format`: one that the placeholder asks for itself.
    pub(super) fn shown(&self, text: &str, format: Option<&str>) -> Option<String> {
        let civil = self.civil(text)?;
        strtime::format(format.unwrap_or(&self.format), civil).ok()
    }

    fn civil(&self, text: &str) -> Option<DateTime> {
        let digit = |at: usize| text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
        let dash = |at: usize| text.as_bytes().get(at) == Some(&b'-');
        if text.len() > LONGEST_DATE || !(digit(0) && digit(3) && dash(4) && digit(6) && dash(7)) {
            return None;
        }
        let pieces = Pieces::parse(text).ok()?;
        let written = pieces
            .date()
            .to_datetime(pieces.time().unwrap_or(Time::midnight()));
        match (self.meaning, pieces.time(), pieces.to_numeric_offset()) {
            (DateAs::Instant, Some(_), Some(offset)) => {
                let moment = offset.to_timestamp(written).ok()?;
                Some(self.zone.to_datetime(moment))
            }
            _ => Some(written),
        }
    }
}

/// What is wrong with a format, in words.
pub fn format_problem(format: &str) -> Option<String> {
    if format.chars().count() > limit::DATE_FORMAT {
        return Some(format!("must be at most {} characters", limit::DATE_FORMAT));
    }
    let mut parts = format.split('%');
    // What stands before the first directive.
    parts.next();
    let mut directives = 0;
    while let Some(part) = parts.next() {
        let directive = part.strip_prefix('-').unwrap_or(part);
        match directive.chars().next() {
            Some(c) if "deHIjMmbBpSyYaA".contains(c) => directives += 1,
            // `%%` is a percent sign: the part after it is text.
            None if part.is_empty() && parts.next().is_some() => {}
            _ => return Some("knows %d %e %m %b %B %y %Y %a %A %j %H %I %M %S %p and %%".into()),
        }
    }
    (directives == 0).then(|| "needs at least one of %d %b %Y …".into())
}

/// The zone of this name, from the data that is compiled in.
pub fn zone(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, meaning: DateAs, zone_name: &str, format: &str) -> Option<String> {
        let style = DateStyle {
            format: format.into(),
            meaning,
            zone: zone(zone_name).unwrap(),
        };
        style.shown(text, None)
    }

    #[test]
    fn a_date_is_the_one_that_was_written_in_every_zone() {
        for text in [
            "2026-03-15",
            "2026-03-15T00:00:00Z",
            "2026-03-15T00:00:00+05:30",
            "2026-03-15 23:59",
        ] {
            for zone in ["UTC", "America/Los_Angeles", "Pacific/Kiritimati"] {
                let found = shown(text, DateAs::Date, zone, DEFAULT_FORMAT);
                assert_eq!(found.as_deref(), Some("15-Mar-2026"), "{text} {zone}");
            }
        }
    }

    #[test]
    fn a_moment_is_shown_as_the_clocks_of_the_zone_show_it() {
        let format = "%d %B %Y, %H:%M";
        for (text, zone, expected) in [
            (
                "2026-03-15T00:00:00Z",
                "America/Los_Angeles",
                "14 March 2026, 17:00",
            ),
            ("2026-03-15T00:00:00Z", "Asia/Kolkata", "15 March 2026, 05:30"),
            (
                "2026-03-15T18:30:00+05:30",
                "Europe/Berlin",
                "15 March 2026, 14:00",
            ),
            ("2026-03-15", "America/Los_Angeles", "15 March 2026, 00:00"),
        ] {
            let found = shown(text, DateAs::Instant, zone, format);
            assert_eq!(found.as_deref(), Some(expected), "{text} {zone}");
        }
    }

    #[test]
    fn what_is_no_date_is_left_alone() {
        for text in [
            "",
            "12345",
            "2026-13-45",
            "+919876543210",
            "2026-03",
            "20260315",
            "Room 2026-03-15",
            "2026-03-15 to 2026-03-17",
        ] {
            assert_eq!(shown(text, DateAs::Date, "UTC", DEFAULT_FORMAT), None, "{text}");
        }
    }

    #[test]
    fn a_format_is_checked_before_it_is_used() {
        for fine in [
            DEFAULT_FORMAT,
            "%-d. %B %Y",
            "%A, %e %b %H:%M:%S",
            "100 %% %Y",
            "%d%m%y %I %p %j %a",
        ] {
            assert_eq!(format_problem(fine), None, "{fine}");
            assert!(shown("2026-03-15", DateAs::Date, "UTC", fine).is_some(), "{fine}");
        }
        for bad in [
            "",
            "dd-MM-yyyy",
            "%",
            "%d %",
            "%Q",
            "%99999d",
            "%+",
            "% d",
            "%%",
            &"%d".repeat(40),
        ] {
            assert!(format_problem(bad).is_some(), "{bad}");
        }
    }
}
