//! What HTTP adapters share: one client, one exchange with its answer, a table of what statuses mean, and what went wrong
//! on the way.

mod answer;
mod body;
mod client;
mod meaning;

pub(crate) use answer::{Answer, Exchange};
pub(crate) use client::{Client, Names, Response, basic, user_agent};
pub(crate) use meaning::{Meaning, default_meaning, wrong_address};

use crate::vet::VetError;
use domain::{Failure, Scope, Timestamp, code};
use hyper::header::{HeaderMap, RETRY_AFTER};
use std::{error::Error, io, time::Duration};

/// How long the far end asks us to wait: seconds, decimals allowed, or a date. Anything else is ignored.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let since_epoch = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((Timestamp::EPOCH + since_epoch).since(now))
}

/// Why no answer came. `sent`: the request may have reached the far end whole.
fn no_answer(error: &hyper_util::client::legacy::Error, sent: bool) -> Failure {
    if let Some(vetted) = cause::<VetError>(error) {
        return vetted.clone().into();
    }
    let sent = sent && !error.is_connect();
    if cause::<io::Error>(error).is_some_and(|e| e.kind() == io::ErrorKind::TimedOut) {
        return unanswered(sent, code::TIMEOUT, chain(error));
    }
    let where_it_broke = match cause::<rustls::Error>(error) {
        _ if !error.is_connect() => "CONNECTION_LOST",
        Some(_) => "TLS",
        None => "CONNECT",
    };
    unanswered(sent, code::NETWORK, chain(error)).with_own_code(where_it_broke)
}

fn unanswered(sent: bool, code: &'static str, detail: String) -> Failure {
    if sent {
        Failure::ambiguous(Scope::Lane, code, detail)
    } else {
        Failure::transient(Scope::Lane, code, detail)
    }
}

/// The first cause of this type.
fn cause<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<T>() {
            return Some(found);
        }
        // An IO error names its cause's cause as its own, so the cause itself would be missed.
        let wrapped = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        next = match wrapped {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    None
}

/// The causes after one another; the first link says only that the client failed.
fn chain(error: &dyn Error) -> String {
    let mut words = vec![];
    let mut next = error.source();
    while let Some(error) = next {
        let text = error.to_string();
        if words.last() != Some(&text) {
            words.push(text);
        }
        next = error.source();
    }
    if words.is_empty() {
        return "the request failed".to_owned();
    }
    words.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_in_all_its_forms_and_ignored_in_others() {
        // 2026-01-01T00:00:00Z
        let now = Timestamp::from_millis(1_767_225_600_000);
        for (value, wait) in [
            ("120", Some(120.0)),
            (" 1.5 ", Some(1.5)),
            ("0", Some(0.0)),
            ("Thu, 01 Jan 2026 00:01:30 GMT", Some(90.0)),
            ("Wed, 31 Dec 2025 00:00:00 GMT", Some(0.0)),
            ("-5", None),
            ("soon", None),
            ("NaN", None),
            ("1e400", None),
            ("", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, value.parse().unwrap());
            assert_eq!(
                retry_after(&headers, now).map(|d| d.as_secs_f64()),
                wait,
                "{value:?}"
            );
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
