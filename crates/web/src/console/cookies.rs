//! Cookies, in and out.
//!
//! Always true: over HTTPS every name begins with `__Host-`, which a browser keeps only for this very host and sends to
//! no other; a cookie of a plain name, which a neighbouring host could have planted, is then not read.

use super::settings::ConsoleSettings;
use axum::http::{HeaderMap, HeaderValue, header};
use std::time::Duration;

const HOST_PREFIX: &str = "__Host-";

/// A cookie's name as browsers know it.
fn full_name(name: &str, settings: &ConsoleSettings) -> String {
    match settings.secure {
        true => format!("{HOST_PREFIX}{name}"),
        false => name.to_owned(),
    }
}

/// The value of a cookie.
pub fn read<'a>(headers: &'a HeaderMap, settings: &ConsoleSettings, name: &str) -> Option<&'a str> {
    find(headers, &full_name(name, settings))
}

/// The value of a cookie that may come from anywhere, because nothing depends on it.
pub fn read_any<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    find(headers, &format!("{HOST_PREFIX}{name}")).or_else(|| find(headers, name))
}

fn find<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(known, _)| *known == name)
        .map(|(_, value)| value)
}

/// A cookie to be set; no script sees it and other sites' requests do not carry it.
#[derive(Debug, Clone, Copy)]
pub struct Cookie<'a> {
    pub name: &'a str,
    pub value: &'a str,
    /// None: as long as the browser runs.
    pub lasts: Option<Duration>,
}

impl<'a> Cookie<'a> {
    pub fn gone(name: &'a str) -> Self {
        Self {
            name,
            value: "",
            lasts: Some(Duration::ZERO),
        }
    }

    pub fn set(self, headers: &mut HeaderMap, settings: &ConsoleSettings) {
        let lasts = self
            .lasts
            .map_or(String::new(), |d| format!("; Max-Age={}", d.as_secs()));
        let secure = if settings.secure { "; Secure" } else { "" };
        let text = format!(
            "{}={}; Path=/; HttpOnly; SameSite=Lax{lasts}{secure}",
            full_name(self.name, settings),
            self.value
        );
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.append(header::SET_COOKIE, value);
        }
    }
}

/// Text of any kind as a cookie's value.
pub fn encode(text: &str) -> String {
    crate::api::lists::encode(text)
}

pub fn decode(value: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, tail @ ..] = rest {
        match (first, tail) {
            (b'%', [high, low, tail @ ..]) => {
                let digit = |d: &u8| char::from(*d).to_digit(16);
                let byte = digit(high)? * 16 + digit(low)?;
                bytes.push(u8::try_from(byte).ok()?);
                rest = tail;
            }
            (b'%', _) => return None,
            (byte, tail) => {
                bytes.push(*byte);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_among_others() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, "a=1; waypost=x=y ;b=2".parse().unwrap());
        let plain = ConsoleSettings::default();
        assert_eq!(read(&headers, &plain, "waypost"), Some("x=y"));
        assert_eq!(read(&headers, &plain, "way"), None);
    }

    #[test]
    fn over_https_a_cookie_that_another_host_could_have_set_is_not_read() {
        let secure = ConsoleSettings {
            secure: true,
            ..ConsoleSettings::default()
        };
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, "waypost=planted".parse().unwrap());
        assert_eq!(read(&headers, &secure, "waypost"), None);
        headers.insert(
            header::COOKIE,
            "waypost=planted; __Host-waypost=ours".parse().unwrap(),
        );
        assert_eq!(read(&headers, &secure, "waypost"), Some("ours"));
        assert_eq!(read_any(&headers, "waypost"), Some("ours"));
    }

    #[test]
    fn any_text_survives_a_cookie() {
        for text in ["", "plain", "50 % of \"Ä; b=c\r\n"] {
            let encoded = encode(text);
            assert!(encoded.bytes().all(|b| b.is_ascii_graphic() && b != b';'));
            assert_eq!(decode(&encoded).as_deref(), Some(text));
        }
        assert_eq!(decode("%4"), None);
        assert_eq!(decode("%zz"), None);
    }

    #[test]
    fn cookies_are_kept_from_scripts_and_marked_for_https() {
        let set = |secure| {
            let mut headers = HeaderMap::new();
            let settings = ConsoleSettings {
                secure,
                ..ConsoleSettings::default()
            };
            Cookie::gone("x").set(&mut headers, &settings);
            headers[header::SET_COOKIE].to_str().unwrap().to_owned()
        };
        assert_eq!(set(false), "x=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
        assert_eq!(
            set(true),
            "__Host-x=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure"
        );
    }
}
