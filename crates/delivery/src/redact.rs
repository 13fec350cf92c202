//! Keeps secrets out of what people get to read: errors, replies of far ends, logs.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};
use domain::{Accepted, Failure, Outcome, RecipientReport};
use std::{borrow::Cow, fmt, sync::Arc};

/// The longest text kept from a far end, in bytes.
pub const MAX_DETAIL_BYTES: usize = 4 << 10;

/// What stands for a secret wherever it would have been shown.
pub const MASK: &str = "•••";

/// Knows the secrets of one provider, in every form in which a far end might echo them.
/// Cheap to clone: an attempt that is written down keeps one for every part.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a secret is not left standing around a shorter one inside it.
    needles: Arc<Vec<String>>,
}

impl Redactor {
    /// Hides this value, also in base64, percent-encoded and as JSON writes it.
    pub fn hide(&mut self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        self.add(secret.to_owned());
        let percent = percent_encoded(secret);
        self.add(with_small_hex(&percent));
        self.add(percent);
        self.add(json_escaped(secret));
        for engine in [&STANDARD, &URL_SAFE, &STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            self.add(engine.encode(secret));
        }
    }

    /// Hides just this.
    pub fn hide_exact(&mut self, text: String) {
        self.add(text);
    }

    /// Hides what makes a URL secret: user, password, path and query. Host and port stay readable.
    pub fn hide_url(&mut self, url: &url::Url) {
        self.add(url.as_str().to_owned());
        self.hide(url.username());
        if let Some(password) = url.password() {
            self.hide(password);
            self.add(STANDARD.encode(format!("{}:{password}", url.username())));
        }
        if url.path().len() > 1 {
            self.add(url.path().to_owned());
        }
        self.add(url.query().unwrap_or("").to_owned());
        for part in url.path_segments().into_iter().flatten() {
            self.hide_if_telling(part);
        }
        for (_, value) in url.query_pairs() {
            self.hide_if_telling(&value);
        }
    }

    /// Hides the value of a header, and of `Bearer abcdefgh` the token too. Short words like `1` are no secrets.
    pub fn hide_words(&mut self, value: &str) {
        for part in std::iter::once(value).chain(value.split_whitespace()) {
            self.hide_if_telling(part);
        }
    }

    /// Words like `api` or `v2` are no secrets, and masking them would make every text unreadable.
    fn hide_if_telling(&mut self, part: &str) {
        if part.len() >= 8 {
            self.hide(part);
        }
    }

    fn add(&mut self, needle: String) {
        if !needle.is_empty() && !self.needles.contains(&needle) {
            let needles = Arc::make_mut(&mut self.needles);
            needles.push(needle);
            needles.sort_by_key(|n| std::cmp::Reverse(n.len()));
        }
    }

    /// The text without secrets, otherwise as it was.
    pub fn hidden<'t>(&self, text: impl Into<Cow<'t, str>>) -> Cow<'t, str> {
        let mut clean = text.into();
        for needle in self.needles.iter() {
            if clean.contains(needle.as_str()) {
                clean = clean.replace(needle.as_str(), MASK).into();
            }
        }
        clean
    }

    /// The text without secrets, without control characters, and no longer than [`MAX_DETAIL_BYTES`].
    pub fn scrub(&self, text: &str) -> String {
        self.clean(text, MAX_DETAIL_BYTES).0.into_owned()
    }

    /// The same, of a text that is itself kept where nothing in it has to go, as is nearly always so.
    fn scrubbed(&self, text: String) -> String {
        match self.clean(&text, MAX_DETAIL_BYTES).0 {
            Cow::Borrowed(whole) if whole.len() == text.len() => text,
            clean => clean.into_owned(),
        }
    }

    /// The same with another bound, and whether there was more.
    pub(crate) fn clean<'t>(&self, text: &'t str, longest: usize) -> (Cow<'t, str>, bool) {
        let clean = self.hidden(printable(text));
        let whole = clean.trim().len();
        let kept: Cow<'t, str> = match clean {
            Cow::Borrowed(text) => cut(text.trim(), longest).into(),
            Cow::Owned(text) => cut(text.trim(), longest).to_owned().into(),
        };
        let was_cut = kept.len() < whole;
        (kept, was_cut)
    }
}

/// Far ends have been seen to repeat what they were sent, so whatever they said is scrubbed on the way out.
impl Redactor {
    pub fn outcome(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::Delivered(accepted) => Outcome::Delivered(self.accepted(accepted)),
            Outcome::Failed(failure) => Outcome::Failed(self.failure(failure)),
            Outcome::Mixed(reports) => Outcome::Mixed(
                reports
                    .into_iter()
                    .map(|report| RecipientReport {
                        address: report.address,
                        result: report
                            .result
                            .map(|a| self.accepted(a))
                            .map_err(|f| self.failure(f)),
                    })
                    .collect(),
            ),
        }
    }

    fn accepted(&self, accepted: Accepted) -> Accepted {
        Accepted {
            provider_message_id: accepted.provider_message_id.map(|id| self.scrubbed(id)),
            detail: accepted.detail.map(|detail| self.scrubbed(detail)),
        }
    }

    pub(crate) fn failure(&self, failure: Failure) -> Failure {
        Failure {
            detail: self.scrubbed(failure.detail),
            provider_code: failure.provider_code.map(|own| self.scrub(&own).into()),
            ..failure
        }
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Redactor({} needles)", self.needles.len())
    }
}

/// A blank for each control character but the end of a line.
fn printable(text: &str) -> Cow<'_, str> {
    // What most texts are is seen without taking them to pieces.
    if text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n')) {
        return text.into();
    }
    let shown = |c: char| if c.is_control() && c != '\n' { ' ' } else { c };
    text.chars().map(shown).collect::<String>().into()
}

/// What may be shown of a URL that is a secret: scheme, host and port.
pub fn shown_url(text: &str) -> String {
    match url::Url::parse(text.trim()) {
        Ok(url) if url.origin().is_tuple() => format!("{}/{MASK}", url.origin().ascii_serialization()),
        _ => MASK.to_owned(),
    }
}

/// The longest start of the text that fits, cut between characters.
pub fn cut(text: &str, longest: usize) -> &str {
    if text.len() <= longest {
        return text;
    }
    let end = (0..=longest)
        .rev()
        .find(|i| text.is_char_boundary(*i))
        .unwrap_or(0);
    &text[..end]
}

/// As values are written in JSON.
fn json_escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The same with `%3a` instead of `%3A`, as some libraries write it.
fn with_small_hex(percent: &str) -> String {
    let mut parts = percent.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (hex, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        text + "%" + &hex.to_ascii_lowercase() + rest
    })
}

/// As values are written in URLs and forms.
pub(crate) fn percent_encoded(text: &str) -> String {
    text.bytes()
        .map(|b| match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => (b as char).to_string(),
            other => format!("%{other:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_in_every_form_it_travels_in() {
        let mut redactor = Redactor::default();
        redactor.hide("p@ss/wörd?");
        redactor.hide("quo\"te\\d");
        let body = serde_json::json!({"token": "quo\"te\\d"}).to_string();
        assert_eq!(redactor.hidden(&body), r#"{"token":"•••"}"#);
        for form in [
            "p@ss/wörd?".to_owned(),
            STANDARD.encode("p@ss/wörd?"),
            URL_SAFE_NO_PAD.encode("p@ss/wörd?"),
            percent_encoded("p@ss/wörd?"),
        ] {
            assert_eq!(
                redactor.scrub(&format!("535 no: {form}!")),
                "535 no: •••!",
                "{form}"
            );
        }
    }

    #[test]
    fn of_a_url_only_the_host_stays_readable() {
        let url =
            url::Url::parse("https://u:pw12@hooks.example.com:8443/api/T0SECRET99?key=abcdefgh").unwrap();
        let mut redactor = Redactor::default();
        redactor.hide_url(&url);
        let text = redactor.scrub(&format!(
            "error for url ({url}), path {}, T0SECRET99, abcdefgh at hooks.example.com",
            url.path()
        ));
        for secret in ["pw12", "T0SECRET99", "abcdefgh"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(text.contains("hooks.example.com"), "{text}");
    }

    #[test]
    fn a_secret_url_is_shown_up_to_its_host() {
        for (url, shown) in [
            (
                "https://u:pw12@hooks.example.com/T0/B0?key=x#f",
                "https://hooks.example.com/•••",
            ),
            ("http://Example.com:8080", "http://example.com:8080/•••"),
            ("mailto:somebody@example.com", "•••"),
            ("no url", "•••"),
        ] {
            assert_eq!(shown_url(url), shown);
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert!(Redactor::default().scrub(&"ä".repeat(MAX_DETAIL_BYTES)).len() <= MAX_DETAIL_BYTES);
        assert_eq!(cut("aä", 2), "a");
        assert_eq!(Redactor::default().scrub("a\0b\tc\r\n"), "a b c");
        assert_eq!(Redactor::default().scrub("a\u{85}ä\u{7f}b\nc"), "a ä b\nc");
    }

    #[test]
    fn what_an_outcome_says_is_scrubbed_and_otherwise_as_it_was() {
        let mut redactor = Redactor::default();
        redactor.hide("hunter2-hunter2");
        for (said, shown) in [
            ("200 OK: ok", "200 OK: ok"),
            (" 200 OK\n", "200 OK"),
            ("hunter2-hunter2", "•••"),
        ] {
            let outcome = redactor.outcome(Outcome::Delivered(Accepted {
                provider_message_id: Some(said.to_owned()),
                detail: Some(said.to_owned()),
            }));
            let Outcome::Delivered(accepted) = outcome else {
                panic!("{outcome:?}")
            };
            assert_eq!(accepted.detail.as_deref(), Some(shown));
            assert_eq!(accepted.provider_message_id.as_deref(), Some(shown));
        }
    }
}
