//! Times as people read them: how long ago, with the exact moment beside it.

use askama::filters::HtmlSafe;
use domain::{Timestamp, Zone};
use std::{fmt, time::Duration};

/// A moment, seen from now, with the exact one in the viewer's zone on hover. The script keeps the words fresh.
#[derive(Debug, Clone, Copy)]
pub struct When<'a> {
    pub at: Timestamp,
    pub now: Timestamp,
    pub zone: &'a Zone,
}

impl HtmlSafe for When<'_> {}

impl fmt::Display for When<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "<time datetime=\"{}\" title=\"{}\">{}</time>",
            self.at,
            self.zone.exact(self.at),
            relative(self.at, self.now, self.zone)
        )
    }
}

/// How long something has been so.
pub struct Lasting<'a>(pub When<'a>);

impl HtmlSafe for Lasting<'_> {}

impl fmt::Display for Lasting<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let When { at, now, zone } = self.0;
        let words = match now.since(at) {
            age if age >= LONG_AGO => format!("since {}", relative(at, now, zone)),
            age => format!("for {}", human_age(age)),
        };
        let exact = zone.exact(at);
        write!(
            f,
            "<time datetime=\"{at}\" title=\"since {exact}\" data-lasting>{words}</time>"
        )
    }
}

/// A moment to come: once it is there, it is "now" and not the past.
pub struct Coming<'a>(pub When<'a>);

impl HtmlSafe for Coming<'_> {}

impl fmt::Display for Coming<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let When { at, now, zone } = self.0;
        let words = match now >= at {
            true => "now".into(),
            false => relative(at, now, zone),
        };
        let exact = zone.exact(at);
        write!(
            f,
            "<time datetime=\"{at}\" title=\"{exact}\" data-coming>{words}</time>"
        )
    }
}

/// Told as a date from then on.
const LONG_AGO: Duration = Duration::from_secs(60 * 86_400);

/// 2026-01-31 13:45:00.123 UTC, where nobody's zone is known.
pub fn exact(at: Timestamp) -> String {
    Zone::default().exact(at)
}

fn relative(at: Timestamp, now: Timestamp, zone: &Zone) -> String {
    if now >= at {
        let age = now.since(at);
        if age < Duration::from_secs(2) {
            return "just now".into();
        }
        if age >= LONG_AGO {
            return zone.exact(at).chars().take(10).collect();
        }
        return format!("{} ago", human_age(age));
    }
    format!("in {}", human_age(at.since(now)))
}

/// "45 s", "12 min", "3 h", "5 d".
pub fn human_age(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// "85 ms", "1.2 s".
pub fn took(millis: u64) -> String {
    match millis {
        0..=999 => format!("{millis} ms"),
        1_000..=59_999 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        _ => human_age(Duration::from_millis(millis)),
    }
}

#[cfg(test)]
#[path = "when_tests.rs"]
mod tests;
