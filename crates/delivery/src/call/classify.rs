//! What the status of an answer means: it was taken, trying again may help, or it cannot.

use crate::{http::Answer, redact::cut};
use domain::{Failure, Scope};
use std::{fmt, str::FromStr};

/// How much of an answer's body is repeated in an error.
const MAX_ERROR_BODY_BYTES: usize = 500;

/// Statuses that may be gone on the next try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transient(Vec<(u16, u16)>);

impl Default for Transient {
    fn default() -> Self {
        Self(vec![(408, 408), (425, 425), (429, 429), (500, 599)])
    }
}

impl Transient {
    /// Reads `"5xx"`, `"429"`, `"500-504"`.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        texts.into_iter().map(range).collect::<Result<_, _>>().map(Self)
    }

    fn holds(&self, status: u16) -> bool {
        self.0.iter().any(|(from, to)| (*from..=*to).contains(&status))
    }
}

fn range(text: &str) -> Result<(u16, u16), String> {
    let wrong = || format!("{text:?} is no status: write it like \"429\", \"5xx\" or \"500-504\"");
    let number = |text: &str| {
        u16::from_str(text.trim())
            .ok()
            .filter(|n| (300..=599).contains(n))
    };
    if let Some(class) = text.trim().strip_suffix("xx") {
        let class = u16::from_str(class)
            .ok()
            .filter(|n| (3..=5).contains(n))
            .ok_or_else(wrong)?;
        return Ok((class * 100, class * 100 + 99));
    }
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let pair = (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?);
    if pair.0 > pair.1 { Err(wrong()) } else { Ok(pair) }
}

impl fmt::Display for Transient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.0.iter().map(|(from, to)| match from == to {
            true => from.to_string(),
            false => format!("{from}-{to}"),
        });
        f.write_str(&parts.collect::<Vec<_>>().join(", "))
    }
}

/// Why the call did not succeed, if it did not.
pub(super) fn classify(answer: &Answer, transient: &Transient) -> Option<Failure> {
    let number = answer.status.as_u16();
    if answer.status.is_success() {
        return None;
    }
    let words = match cut(answer.text().trim(), MAX_ERROR_BODY_BYTES) {
        "" => format!("the system answered {number}"),
        said => format!("the system answered {number}: {said}"),
    };
    let code = format!("HTTP_{number}");
    let failure = match number {
        _ if transient.holds(number) => Failure::transient(Scope::Message, code, words),
        // Following it could lead anywhere; whoever set the URL must set the new one.
        300..=399 => Failure::permanent(
            Scope::Message,
            code,
            format!("redirects are not followed: {words}"),
        ),
        _ => Failure::permanent(Scope::Message, code, words),
    };
    Some(failure.after(answer.retry_after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::FailureKind::{Permanent, Transient as May};

    #[test]
    fn each_status_means_what_the_configuration_says() {
        let standard = Transient::default();
        let strict = Transient::parse(["503", "502-504"]).unwrap();
        for (status, by_default, strictly) in [
            (301, Permanent, Permanent),
            (400, Permanent, Permanent),
            (401, Permanent, Permanent),
            (404, Permanent, Permanent),
            (408, May, Permanent),
            (429, May, Permanent),
            (500, May, Permanent),
            (503, May, May),
            (504, May, May),
        ] {
            let answer = Answer::of(status, "no");
            assert_eq!(classify(&answer, &standard).unwrap().kind, by_default, "{status}");
            assert_eq!(classify(&answer, &strict).unwrap().kind, strictly, "{status}");
        }
        for status in [200, 201, 202, 204] {
            assert_eq!(classify(&Answer::of(status, ""), &standard), None);
        }
    }

    #[test]
    fn a_list_of_statuses_that_makes_no_sense_is_refused_in_words() {
        for bad in ["", "abc", "200", "5x", "504-500", "99-600", "1xx"] {
            assert!(Transient::parse([bad]).unwrap_err().contains("\"5xx\""), "{bad}");
        }
        assert_eq!(Transient::parse(["5xx"]).unwrap().to_string(), "500-599");
    }
}
