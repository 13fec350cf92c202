//! Durations as people write and read them, in configuration, requests and rows.

use std::time::Duration;

/// No duration that somebody gives is longer; beyond it dates stop making sense.
pub const LONGEST_DURATION: Duration = Duration::from_secs(100 * 366 * 86_400);

/// Durations as people write them: `"90s"`, `"10m"`, `"365d"`, or a plain number of seconds.
pub mod seconds {
    use super::Duration;
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(d: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(&super::human(*d))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        d.deserialize_any(super::DurationVisitor { saturating: false })
    }
}

/// The same for what is in a row already: one that is too long is read as the longest, because a row that cannot be
/// read would be in everybody's way. Who enters it is told by [`crate::RetryPolicy::problems`].
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
    use serde::Deserialize;

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
        let ninety = Duration::from_secs(90);
        assert_eq!(serde_json::from_str::<Entered>("90").unwrap().0, ninety);
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
}
