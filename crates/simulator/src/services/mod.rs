//! Far ends of the services that Waypost knows, all on one port: `/ntfy/…`, `/slack/…` and so on.
//!
//! They answer as the services' documentation has it, and enforce its limits. Credentials that contain `revoked` are refused,
//! and so are recipients that contain `unknown`, or as a number `000000`; everything else is taken. Other faults come from the dial.

mod apprise;
mod discord;
mod homeassistant;
mod interakt;
mod meta;
mod msg91;
mod ntfy;
mod pushbullet;
mod pushover;
mod shown;
mod slack;
mod teams;
mod telegram;
mod twilio;

pub(crate) use shown::{Shown, shown};

use crate::http::{Received, Reply};
use serde_json::Value;

/// What a service is asked. Paths are below the service's own.
pub(crate) struct ServiceRequest<'a> {
    pub path: &'a str,
    pub request: &'a Received,
    pub json: Value,
    /// Different for each request.
    pub number: u64,
}

impl ServiceRequest<'_> {
    pub fn text(&self, field: &str) -> &str {
        self.json[field].as_str().unwrap_or_default()
    }

    /// A field of a form.
    pub fn form(&self, field: &str) -> Option<String> {
        form_field(&self.request.body, field)
    }

    /// Whether the header is there, begins like this, and has not been revoked.
    pub fn has_credentials(&self, header: &str, begins: &str) -> bool {
        let value = self.request.header(header).unwrap_or_default();
        value.starts_with(begins) && !is_revoked(value)
    }
}

/// A field of a form.
pub(crate) fn form_field(body: &[u8], field: &str) -> Option<String> {
    let body = std::str::from_utf8(body).ok()?;
    let named = |pair: &str| {
        let (name, value) = pair.split_once('=')?;
        (name == field).then(|| unescaped(value))
    };
    body.split('&').find_map(named)
}

/// A value as forms write it.
pub(crate) fn unescaped(value: &str) -> String {
    let mut bytes = vec![];
    let mut rest = value.as_bytes();
    while let [first, after @ ..] = rest {
        let digits = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let escaped = digits.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, escaped) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = after;
            }
            (other, _) => {
                bytes.push(*other);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(crate) fn is_revoked(credential: &str) -> bool {
    credential.contains("revoked")
}

pub(crate) fn is_unknown(recipient: &str) -> bool {
    recipient.contains("unknown")
}

type Service = fn(&ServiceRequest<'_>) -> Reply;

const SERVICES: &[(&str, Service)] = &[
    ("apprise", apprise::answer),
    ("discord", discord::answer),
    ("homeassistant", homeassistant::answer),
    ("interakt", interakt::answer),
    ("meta", meta::answer),
    ("msg91", msg91::answer),
    ("ntfy", ntfy::answer),
    ("pushbullet", pushbullet::answer),
    ("pushover", pushover::answer),
    ("slack", slack::answer),
    ("teams", teams::answer),
    ("telegram", telegram::answer),
    ("twilio", twilio::answer),
];

/// What they are called, which is where they are found.
pub(crate) const NAMES: [&str; SERVICES.len()] = {
    let mut names = [""; SERVICES.len()];
    let mut i = 0;
    while i < SERVICES.len() {
        names[i] = SERVICES[i].0;
        i += 1;
    }
    names
};

/// The service whose path this is.
pub(crate) fn of(path: &str) -> Option<&'static str> {
    let (first, _) = path.strip_prefix('/')?.split_once('/')?;
    NAMES.into_iter().find(|name| *name == first)
}

/// The answer of the service whose path this is; none where it is nobody's.
pub(crate) fn answer(request: &Received, number: u64) -> Option<Reply> {
    let (first, rest) = request.path.strip_prefix('/')?.split_once('/')?;
    let (_, service) = SERVICES.iter().find(|(name, _)| *name == first)?;
    Some(service(&ServiceRequest {
        path: rest,
        request,
        json: request.json(),
        number,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_as_they_are_written() {
        assert_eq!(unescaped("a+b%20%C3%A4%"), "a b ä%");
    }
}
