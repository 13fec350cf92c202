//! A secret that was just made, on its way through the redirect to the page that shows it, once.
//!
//! It travels in a cookie of the browser that asked for it, so that any node can answer the next request and nothing is kept
//! here. Always true: it is sealed for the page it belongs to and the person who made it, nobody else reads it, it lasts for [`SHOWN_WITHIN`], and the
//! page takes it away.

use super::{
    cookies::{self, Cookie},
    flash::redirect,
    guard::Signed,
    settings::ConsoleSettings,
};
use axum::{http::HeaderMap, response::Response};
use central::secrets::{Place, Sealer};
use domain::{ProviderId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use std::{fmt, time::Duration};

const COOKIE: &str = "waypost_once";
/// How long the next page may take to ask for it.
const SHOWN_WITHIN: Duration = Duration::from_secs(120);
/// Cookies have a limit. A secret of ours is far shorter; a name is cut.
const MAX_NAME_CHARS: usize = 100;

/// A secret, and what it is of.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Once {
    user: i64,
    place: String,
    until: i64,
    pub name: String,
    pub secret: String,
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl Once {
    /// To be shown at `place`, a path of ours.
    pub fn new(signed: &Signed, now: Timestamp, place: &str, name: &str, secret: String) -> Self {
        Self {
            user: signed.user.id.0,
            place: place.to_owned(),
            until: (now + SHOWN_WITHIN).as_millis(),
            name: name.chars().take(MAX_NAME_CHARS).collect(),
            secret,
        }
    }

    /// Sends the browser to the page that shows it.
    pub fn go(&self, settings: &ConsoleSettings, sealer: &Sealer) -> Response {
        let mut response = redirect(&self.place);
        let text = serde_json::to_string(self).unwrap_or_default();
        let value = cookies::encode(&sealed_for(self.user, &self.place, |place| {
            sealer.seal(place, &text)
        }));
        let cookie = Cookie {
            name: COOKIE,
            value: &value,
            lasts: Some(SHOWN_WITHIN),
        };
        cookie.set(response.headers_mut(), settings);
        response
    }

    /// What this page is to show to this person.
    pub fn read(
        headers: &HeaderMap,
        settings: &ConsoleSettings,
        sealer: &Sealer,
        user: i64,
        path: &str,
        now: Timestamp,
    ) -> Option<Self> {
        let sealed = cookies::decode(cookies::read(headers, settings, COOKIE)?)?;
        let text = sealed_for(user, path, |place| sealer.open(place, &sealed)).ok()?;
        let once: Self = serde_json::from_str(&text).ok()?;
        let ours = once.user == user && once.place == path && now.as_millis() < once.until;
        ours.then_some(once)
    }

    pub fn forget(headers: &mut HeaderMap, settings: &ConsoleSettings) {
        Cookie::gone(COOKIE).set(headers, settings);
    }
}

/// What it is sealed for: a cookie of somebody else, or for another page, does not open.
fn sealed_for<T>(user: i64, path: &str, work: impl FnOnce(Place<'_>) -> T) -> T {
    let (console, setting) = (ProviderId::new("console"), format!("once {user} {path}"));
    work(Place {
        tenant: TenantId::DEFAULT,
        provider: &console,
        setting: &setting,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::header;

    const MADE: Timestamp = Timestamp::from_millis(1_000);

    #[test]
    fn a_secret_is_read_by_its_own_page_for_its_maker_within_its_time() {
        let (plain, sealer) = (ConsoleSettings::default(), Sealer::ephemeral());
        let once = Once {
            user: 7,
            place: "/keys".into(),
            until: (MADE + SHOWN_WITHIN).as_millis(),
            name: "line „4”; a=b".into(),
            secret: "wp_secret".into(),
        };
        let sent = once.go(&plain, &sealer);
        assert_eq!(sent.headers()[header::LOCATION], "/keys");
        let cookie = sent.headers()[header::SET_COOKIE].to_str().unwrap();
        assert!(
            cookie.contains("HttpOnly") && cookie.contains("Max-Age=120") && !cookie.contains("wp_secret"),
            "{cookie}"
        );
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, cookie.split(';').next().unwrap().parse().unwrap());
        let read = |user, path, at| Once::read(&headers, &plain, &sealer, user, path, at);
        assert_eq!(read(7, "/keys", MADE), Some(once));
        assert_eq!(read(8, "/keys", MADE), None);
        assert_eq!(read(7, "/users", MADE), None);
        assert_eq!(read(7, "/keys", MADE + SHOWN_WITHIN), None);
    }
}
