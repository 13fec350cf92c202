//! What Pushover's answers mean. Its rule: whatever is 4xx never works when repeated as it is. What does not say which request it
//! answers, or what is wrong with it, is not Pushover's: a proxy's, or of whatever else is at the address.

use crate::{
    http::{Answer, Meaning, default_meaning, wrong_address},
    kit::Sending,
};
use domain::{Accepted, Failure};
use serde::Deserialize;

/// No sooner than this after trouble of the service's own, by its rules.
const MIN_RETRY_SECONDS: u64 = 5;

#[derive(Deserialize, Default)]
#[serde(default)]
struct PushoverAnswer {
    status: u8,
    request: Option<String>,
    /// Of emergencies: what an acknowledgement is asked for by.
    receipt: Option<String>,
    user: Option<String>,
    token: Option<String>,
    errors: Vec<String>,
}

pub(super) fn understand(sending: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
    let said: PushoverAnswer = answer.json().unwrap_or_default();
    let status = answer.status.as_u16();
    let names = |what: &str| said.errors.iter().any(|error| error.starts_with(what));
    let its_own = said.request.is_some() || !said.errors.is_empty();
    let by_status = || wrong_address(status).or_else(|| default_meaning(status));
    let (meaning, code) = match status {
        200..=299 if said.status == 1 => return answer.accepted(said.receipt.or(said.request)),
        429 => (
            Meaning::quota().waiting(answer.seconds_until("x-limit-app-reset", sending.now)),
            "quota",
        ),
        400..=499 if said.token.is_some() || names("application token") => (Meaning::auth(), "token"),
        400..=499 if said.user.is_some() || names("user") => (sending.no_such_place(), "user"),
        400..=499 if !its_own => (by_status().unwrap_or(Meaning::unknown()), "http"),
        400..=499 => (Meaning::invalid(), "input"),
        500..=599 => (Meaning::down().waiting(MIN_RETRY_SECONDS), "server"),
        200..=299 if answer.whole && said.request.is_some() => (Meaning::invalid(), "input"),
        200..=299 => return answer.accepted(None),
        _ => (by_status().unwrap_or(Meaning::unknown()), "http"),
    };
    Err(answer.failure(meaning, Some(code.into())))
}
