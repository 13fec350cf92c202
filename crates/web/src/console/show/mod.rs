//! Small pieces of pages that write their own HTML. What they write is made of numbers, times and words of ours; text
//! from outside goes through the templates, which escape it.

mod badge;
mod chart;
mod icon;
mod marked;
mod when;

use std::{borrow::Borrow, time::Duration};

pub use badge::{
    Badge, LaneShown, event_badge, message_badge, ok_badge, operation_badge, schedule_badge, status_badge,
};
pub use chart::{Chart, Spark};
pub use icon::Icon;
pub use marked::marked;
pub use when::{Coming, Lasting, When, exact, human_age, took};

/// 12345 as 12,345.
pub fn number(n: impl Borrow<u64>) -> String {
    let digits = n.borrow().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub fn number_if_known(n: Option<u64>) -> String {
    n.map_or("–".into(), number)
}

/// "1 message", "2 messages".
pub fn counted(n: impl Borrow<u64>, one: &str, many: &str) -> String {
    match *n.borrow() {
        1 => format!("1 {one}"),
        n => format!("{} {many}", number(n)),
    }
}

/// A size in its largest unit.
pub fn bytes(n: &u64) -> String {
    const UNITS: [&str; 4] = ["bytes", "KiB", "MiB", "GiB"];
    let mut size = *n;
    let mut unit = 0;
    while size >= 10 * 1024 && unit + 1 < UNITS.len() {
        size /= 1024;
        unit += 1;
    }
    format!("{} {}", number(size), UNITS[unit])
}

/// Seconds as an age.
pub fn age(seconds: &u64) -> String {
    human_age(Duration::from_secs(*seconds))
}

/// The start of a long text.
pub fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most.saturating_sub(1)).collect();
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_counted() {
        assert_eq!(number(7), "7");
        assert_eq!(number(1234567), "1,234,567");
        assert_eq!(counted(1, "row", "rows"), "1 row");
        assert_eq!(counted(1000, "row", "rows"), "1,000 rows");
        assert_eq!(cut("äöü", 2), "ä…");
        assert_eq!(
            (bytes(&900), bytes(&(40 << 20))),
            ("900 bytes".into(), "40 MiB".into())
        );
    }
}
