//! What HTTP adapters share: reading little, waiting as asked, and telling what went wrong on the way.

use crate::vet::VetError;
use domain::{Failure, Scope, Timestamp};
use reqwest::{
    Response,
    header::{HeaderMap, RETRY_AFTER},
};
use std::{error::Error, time::Duration};

/// The most that is read of an answer, in bytes.
const READ: usize = 64 << 10;

/// The start of an answer's body; what cannot be read is left out.
pub(crate) async fn body_of(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        let room = READ - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == READ {
            break;
        }
    }
    body
}

/// How long the far end asks us to wait: seconds, decimals allowed, or a date. Anything else is ignored.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let since_epoch = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some((Timestamp::EPOCH + since_epoch).since(now))
}

/// Why no answer came. `sent`: the request may have reached the far end whole.
pub(crate) fn no_answer(error: &reqwest::Error, sent: bool) -> Failure {
    if let Some(vetted) = cause::<VetError>(error) {
        return vetted.clone().into();
    }
    let code = if error.is_timeout() {
        "TIMEOUT"
    } else if error.is_connect() {
        if is_tls(error) { "TLS" } else { "CONNECT" }
    } else {
        "CONNECTION_LOST"
    };
    let detail = chain(error);
    if sent && !error.is_connect() {
        Failure::ambiguous(Scope::Lane, code, detail)
    } else {
        Failure::transient(Scope::Lane, code, detail)
    }
}

fn is_tls(error: &reqwest::Error) -> bool {
    cause::<rustls::Error>(error).is_some()
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

/// The causes after one another; the first link of a reqwest error repeats the URL and says nothing else.
fn chain(error: &reqwest::Error) -> String {
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
