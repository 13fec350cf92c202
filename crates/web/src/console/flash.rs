//! One sentence that survives a redirect: what the form just did, or why it did not.

use super::{
    cookies::{self, Cookie},
    settings::ConsoleSettings,
};
use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use std::time::Duration;

const COOKIE: &str = "waypost_flash";
const FLASH_COOKIE_AGE: Duration = Duration::from_secs(60);
/// Cookies have a limit; sentences too.
const MAX_FLASH_CHARS: usize = 600;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flash {
    pub good: bool,
    pub text: String,
}

impl Flash {
    pub fn good(text: impl Into<String>) -> Self {
        Self {
            good: true,
            text: text.into(),
        }
    }

    pub fn bad(text: impl Into<String>) -> Self {
        Self {
            good: false,
            text: text.into(),
        }
    }

    pub fn read(headers: &HeaderMap, settings: &ConsoleSettings) -> Option<Self> {
        let text = cookies::decode(cookies::read(headers, settings, COOKIE)?)?;
        let (kind, text) = text.split_once(' ')?;
        Some(Self {
            good: kind == "good",
            text: text.to_owned(),
        })
    }

    pub fn forget(headers: &mut HeaderMap, settings: &ConsoleSettings) {
        Cookie::gone(COOKIE).set(headers, settings);
    }

    /// Says it on the page that the browser is sent to.
    pub fn at(self, place: &str, settings: &ConsoleSettings) -> Response {
        let mut response = redirect(place);
        let kind = if self.good { "good" } else { "bad" };
        let text: String = self.text.chars().take(MAX_FLASH_CHARS).collect();
        let value = cookies::encode(&format!("{kind} {text}"));
        let cookie = Cookie {
            name: COOKIE,
            value: &value,
            lasts: Some(FLASH_COOKIE_AGE),
        };
        cookie.set(response.headers_mut(), settings);
        response
    }
}

/// After a form: get this place.
pub fn redirect(place: &str) -> Response {
    let place = if is_ours(place) { place } else { "/" };
    (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
}

/// Whether a place is one of our pages: a path, and nothing a browser takes for another host.
pub fn is_ours(place: &str) -> bool {
    place.starts_with('/')
        && !place.starts_with("//")
        && !place.contains('\\')
        && place.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_pages_are_gone_to() {
        assert!(is_ours("/notifications?status=Parked"));
        for bad in [
            "https://evil.example",
            "//evil.example",
            "/\\evil.example",
            "",
            "/a b",
            "/a\r\nSet-Cookie: x",
        ] {
            assert!(!is_ours(bad), "{bad:?}");
            assert_eq!(redirect(bad).headers()[header::LOCATION], "/");
        }
    }

    #[test]
    fn a_sentence_survives_the_redirect() {
        let plain = ConsoleSettings::default();
        let sent = Flash::bad("„<b>” is not a name").at("/users", &plain);
        let cookie = sent.headers()[header::SET_COOKIE].to_str().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, cookie.split(';').next().unwrap().parse().unwrap());
        assert_eq!(
            Flash::read(&headers, &plain),
            Some(Flash::bad("„<b>” is not a name"))
        );
    }
}
