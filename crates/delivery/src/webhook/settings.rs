//! What a webhook provider is configured with.

use super::sign::Signer;
use crate::{
    kind::{Setting, Settings},
    redact::Redactor,
    settings::{LONGEST_TIMEOUT, Problems, SHORTEST_TIMEOUT, Values},
};
use domain::FieldError;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use std::{fmt, time::Duration};
use url::Url;

/// Headers that are ours to set, because requests would break or lie otherwise.
const OURS: [&str; 6] = [
    "host",
    "content-length",
    "content-type",
    "transfer-encoding",
    "connection",
    "upgrade",
];

pub(super) fn described() -> Vec<Setting> {
    vec![
        Setting::url(
            "url",
            "Where messages are posted. It may hold a password or a token: only its scheme, host and port are ever shown.",
        )
        .required()
        .secret(),
        Setting::text(
            "secret",
            "Signs each request as Standard Webhooks has it: whsec_ and base64, or any text of 24 characters and more.",
        )
        .secret_sent_to(&["url"]),
        Setting::map("headers", "Sent along with each request; they often carry credentials.").secret_sent_to(&["url"]),
        Setting::duration("timeout", "The longest one attempt may take.").or("15s"),
    ]
}

pub(super) struct WebhookSettings {
    pub url: Url,
    pub signer: Option<Signer>,
    pub headers: HeaderMap,
    pub timeout: Duration,
    pub redactor: Redactor,
}

impl fmt::Debug for WebhookSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookSettings")
            .field("host", &self.url.host_str())
            .field("signed", &self.signer.is_some())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl WebhookSettings {
    pub fn read(settings: &Settings) -> Result<Self, Vec<FieldError>> {
        let mut problems = Problems::default();
        let values = Values::read(&described(), settings, &mut problems);
        let mut redactor = Redactor::default();
        let url = values.text("url").and_then(|text| {
            let url = Url::parse(text.trim()).ok();
            let url = url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
            if url.is_none() {
                problems.add("url", "must be a URL like https://example.com/hook");
            }
            url
        });
        let signer = values.text("secret").and_then(|secret| {
            redactor.hide(secret);
            Signer::new(secret)
                .map_err(|problem| problems.add("secret", problem))
                .ok()
        });
        let headers = headers(&values, &mut redactor, &mut problems);
        let timeout = values.duration("timeout").unwrap_or(Duration::from_secs(15));
        if !(SHORTEST_TIMEOUT..=LONGEST_TIMEOUT).contains(&timeout) {
            problems.add("timeout", "must be between 1s and 1h");
        }
        let Some(url) = url else {
            problems.add("url", "is required");
            return Err(problems.0);
        };
        redactor.hide_url(&url);
        problems.or(Self {
            url,
            signer,
            headers,
            timeout,
            redactor,
        })
    }
}

fn headers(values: &Values, redactor: &mut Redactor, problems: &mut Problems) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in values.map("headers") {
        let field = format!("headers.{name}");
        let (Ok(name), Ok(mut value)) = (HeaderName::try_from(&name), HeaderValue::try_from(&value)) else {
            problems.add(&field, "is not a header that HTTP allows");
            continue;
        };
        if OURS.contains(&name.as_str()) || name.as_str().starts_with("webhook-") {
            problems.add(&field, "is set by Waypost and cannot be set here");
        }
        hide_header(redactor, value.to_str().unwrap_or(""));
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    headers
}

/// `Bearer abc` hides `abc` too. Short values like `1` are no secrets, and masking them would eat every text.
fn hide_header(redactor: &mut Redactor, value: &str) {
    for part in std::iter::once(value).chain(value.split_whitespace()) {
        if part.len() >= 8 {
            redactor.hide(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(settings: Value) -> Result<WebhookSettings, Vec<FieldError>> {
        WebhookSettings::read(settings.as_object().unwrap())
    }

    #[test]
    fn every_bad_setting_is_named() {
        let bad = read(json!({
            "url": "ftp://x", "secret": "short", "timeout": "0s", "method": "PUT",
            "headers": {"Host": "x", "Webhook-Id": "y", "b ad": "z", "X-Ok": "ok"},
        }))
        .unwrap_err();
        let mut named: Vec<_> = bad
            .iter()
            .map(|p| p.field.trim_start_matches("settings."))
            .collect();
        named.sort_unstable();
        assert_eq!(
            named,
            [
                "headers.Host",
                "headers.Webhook-Id",
                "headers.b ad",
                "method",
                "secret",
                "timeout",
                "url"
            ]
        );
    }

    #[test]
    fn a_url_is_enough() {
        let settings = read(json!({"url": "https://example.com/hook"})).unwrap();
        assert!(settings.signer.is_none() && settings.headers.is_empty());
        assert_eq!(settings.timeout, Duration::from_secs(15));
    }
}
