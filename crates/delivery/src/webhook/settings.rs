//! What a webhook provider is configured with.

use super::{Webhook, sign::Signer};
use crate::{
    http,
    kind::Setting,
    kit::described_timeout,
    settings::{Problems, Values},
};
use hyper::{
    Uri,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT},
};
use percent_encoding::percent_decode_str;
use url::Url;

/// Headers that are ours to set, because requests would break or lie otherwise.
const RESERVED_HEADERS: [&str; 6] = [
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
        .called("Address")
        .required()
        .secret()
        .example("https://example.com/hooks/waypost"),
        Setting::text(
            "secret",
            "Signs each request as Standard Webhooks has it: whsec_ and base64, or any text of 24 characters and more.",
        )
        .called("Signing secret")
        .secret_sent_to(&["url"]),
        Setting::map("headers", "Sent along with each request; they often carry credentials.").secret_sent_to(&["url"]),
        described_timeout("15s"),
    ]
}

impl Webhook {
    pub(super) fn of(values: &Values, problems: &mut Problems) -> Option<Self> {
        let url = values.url("url", problems);
        let signer = values.text("secret").and_then(|secret| {
            Signer::new(secret)
                .map_err(|problem| problems.add("secret", problem))
                .ok()
        });
        let own = own_headers(values, problems);
        let Some(url) = url else {
            problems.add("url", "is required");
            return None;
        };
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, http::user_agent());
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(login(&url).map(|login| (AUTHORIZATION, login)));
        headers.extend(own);
        let uri = address(&url)
            .map_err(|problem| problems.add("url", problem))
            .ok()?;
        Some(Self { uri, headers, signer })
    }
}

/// What is asked for: a URL without user and fragment, which are not sent.
fn address(url: &Url) -> Result<Uri, String> {
    let mut bare = url.clone();
    bare.set_fragment(None);
    // Only URLs without a host refuse these.
    let _ = bare.set_username("");
    let _ = bare.set_password(None);
    Uri::try_from(bare.as_str()).map_err(|e| e.to_string())
}

/// What a URL says about who asks.
fn login(url: &Url) -> Option<HeaderValue> {
    let plain = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (user, password) = (plain(url.username()), plain(url.password().unwrap_or("")));
    match (user.as_str(), password.as_str()) {
        ("", "") => None,
        (user, password) => http::basic(user, password),
    }
}

/// What somebody wants to have sent along.
fn own_headers(values: &Values, problems: &mut Problems) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in values.map("headers") {
        let field = format!("headers.{name}");
        let (Ok(name), Ok(mut value)) = (HeaderName::try_from(&name), HeaderValue::try_from(&value)) else {
            problems.add(&field, "is not a header that HTTP allows");
            continue;
        };
        if RESERVED_HEADERS.contains(&name.as_str()) || name.as_str().starts_with("webhook-") {
            problems.add(&field, "is set by Waypost and cannot be set here");
        }
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    headers
}

#[cfg(test)]
mod tests {
    use crate::{Outside, kit::HttpKind};
    use domain::{FieldError, SystemClock};
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn check(settings: Value) -> Vec<FieldError> {
        let outside = Arc::new(Outside::new(Arc::new(SystemClock)));
        HttpKind::<super::Webhook>::kind(&outside).check(settings.as_object().unwrap())
    }

    #[test]
    fn every_bad_setting_is_named() {
        let bad = check(json!({
            "url": "ftp://x", "secret": "short", "timeout": "0s", "method": "PUT",
            "headers": {"Host": "x", "Webhook-Id": "y", "b ad": "z", "X-Ok": "ok"},
        }));
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
        assert_eq!(check(json!({"url": "https://example.com/hook"})), []);
    }
}
