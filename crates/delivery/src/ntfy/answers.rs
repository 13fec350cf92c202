//! What ntfy's answers mean. Its error codes are those of the server's source, `server/errors.go`.

use crate::{
    http::{Answer, Meaning, default_meaning},
    kit::Sending,
};
use domain::{Accepted, Failure, Scope};
use serde::Deserialize;

/// A quota of the day is asked about once an hour.
const QUOTA_PROBE_SECONDS: u64 = 3600;

#[derive(Deserialize)]
struct Published {
    id: String,
}

#[derive(Deserialize)]
struct Refused {
    code: u32,
}

pub(super) fn understand(sending: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
    let status = answer.status.as_u16();
    let code = answer.json::<Refused>().map(|refused| refused.code);
    let meaning = match (status, code.unwrap_or_default()) {
        (200..=299, _) => {
            let published: Option<Published> = answer.json();
            return answer.accepted(published.map(|p| p.id));
        }
        (_, 40009 | 40010 | 50701) => sending.no_such_place(),
        (_, 42901) => Meaning::rate_limited(Scope::Lane).waiting(30),
        (_, 42902 | 42910) => Meaning::transient(Scope::Message, "QUOTA").waiting(QUOTA_PROBE_SECONDS),
        (_, 42904 | 42905 | 42908) => Meaning::quota().waiting(QUOTA_PROBE_SECONDS),
        (_, 42909) => Meaning::auth().waiting(QUOTA_PROBE_SECONDS),
        // The address is not that of an ntfy server.
        (404 | 405, _) => Meaning::config(),
        _ => default_meaning(status).unwrap_or(Meaning::unknown()),
    };
    Err(answer.failure(meaning, code.map(|code| code.to_string().into())))
}
