//! Under which address the caller reaches this node: what a page puts in front of a path to be copied elsewhere.

use crate::console::ConsoleSettings;
use axum::http::{HeaderMap, header};

/// The longest name a host may have, with its port.
const MAX_HOST: usize = 262;

/// `https://waypost.example.com`: as the configuration says, otherwise as the request was addressed.
pub fn of(headers: &HeaderMap, settings: &ConsoleSettings) -> String {
    if let Some(url) = &settings.public_url {
        return url.trim_end_matches('/').to_owned();
    }
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = host.filter(|host| is_host(host)).unwrap_or("localhost:8080");
    let scheme = if settings.secure { "https" } else { "http" };
    format!("{scheme}://{host}")
}

/// Nothing but what a host and its port are made of: it is put into pages and shell commands.
fn is_host(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '[' | ']');
    !text.is_empty() && text.len() <= MAX_HOST && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn asked(host: &'static str, settings: &ConsoleSettings) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, HeaderValue::from_static(host));
        of(&headers, settings)
    }

    #[test]
    fn the_address_is_the_configured_one_or_the_one_asked_for() {
        let mut settings = ConsoleSettings::default();
        assert_eq!(asked("10.0.0.7:8080", &settings), "http://10.0.0.7:8080");
        assert_eq!(asked("[::1]:8080", &settings), "http://[::1]:8080");
        settings.secure = true;
        assert_eq!(asked("waypost.local", &settings), "https://waypost.local");
        settings.public_url = Some("https://waypost.example.com/".into());
        assert_eq!(asked("10.0.0.7", &settings), "https://waypost.example.com");
    }

    #[test]
    fn a_host_that_is_none_is_not_put_into_a_command() {
        let settings = ConsoleSettings::default();
        assert_eq!(asked("x$(reboot)", &settings), "http://localhost:8080");
        assert_eq!(asked("\"><b>", &settings), "http://localhost:8080");
    }
}
