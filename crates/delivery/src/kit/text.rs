//! Texts that fit a service's limit, counted as the service counts.

use std::borrow::Cow;

/// How a service counts the length of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Bytes,
    Chars,
    Utf16,
}

impl Unit {
    pub fn of(self, c: char) -> usize {
        match self {
            Unit::Bytes => c.len_utf8(),
            Unit::Chars => 1,
            Unit::Utf16 => c.len_utf16(),
        }
    }

    pub fn count(self, text: &str) -> usize {
        text.chars().map(|c| self.of(c)).sum()
    }
}

pub(crate) const CUT_NOTICE: &str = "\n[cut: too long for this service]";

/// The text as it is where it fits; otherwise its beginning and a notice. It is never split over several messages: a
/// repeat after a failure would show the first of them twice.
pub(crate) fn fit(text: &str, limit: usize, unit: Unit) -> Cow<'_, str> {
    if unit.count(text) <= limit {
        return Cow::Borrowed(text);
    }
    let (notice, room) = match limit.checked_sub(unit.count(CUT_NOTICE)) {
        Some(room) if room > 0 => (CUT_NOTICE, room),
        _ => ("", limit),
    };
    let mut used = 0;
    let start: String = text
        .chars()
        .take_while(|c| {
            used += unit.of(*c);
            used <= room
        })
        .collect();
    Cow::Owned(start + notice)
}

/// Subject and body as one text, for services that know no title.
pub(crate) fn subject_and_body(subject: &str, body: &str) -> String {
    match (subject.trim(), body.trim()) {
        ("", _) => body.to_owned(),
        (_, "") => subject.to_owned(),
        _ => format!("{subject}\n{body}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_and_what_does_not_is_cut_with_a_notice_in_the_services_own_unit() {
        for unit in [Unit::Bytes, Unit::Chars, Unit::Utf16] {
            assert_eq!(fit("short", 5, unit), "short");
            for text in ["a".repeat(100), "ä".repeat(100), "🔥".repeat(100)] {
                let cut = fit(&text, 60, unit);
                assert!(
                    unit.count(&cut) <= 60 && cut.ends_with(CUT_NOTICE),
                    "{unit:?} {cut}"
                );
                assert!(unit.count(&cut) > 56, "no room is wasted: {unit:?} {cut}");
            }
            assert_eq!(
                unit.count(&fit(&"a".repeat(99), 10, unit)),
                10,
                "no room for a notice"
            );
        }
    }
}
