//! What Interakt's answers mean. It has no list of codes: reasons are words, and `result` decides, not the status.

use crate::http::{Answer, Meaning, default_meaning};
use domain::{Accepted, Failure, Scope};
use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(default)]
struct InteraktAnswer {
    result: Option<bool>,
    message: Option<String>,
    id: Option<String>,
    data: Option<Inner>,
}

#[derive(Deserialize)]
struct Inner {
    id: Option<String>,
}

pub(super) fn understand(answer: &Answer) -> Result<Accepted, Failure> {
    let said: InteraktAnswer = answer.json().unwrap_or_default();
    let status = answer.status.as_u16();
    let words = said.message.unwrap_or_default().to_lowercase();
    let meaning = match (status, said.result) {
        (200..=299, Some(true)) => return answer.accepted(said.id.or_else(|| said.data?.id)),
        (401 | 403, _) => Meaning::auth(),
        // It says so of itself that it took none; what does not is something else at this address.
        (404 | 405, None) => Meaning::config(),
        (200..=299 | 400..=428 | 430..=499, _) => by_words(&words),
        (status, _) => default_meaning(status).unwrap_or(Meaning::unknown()),
    };
    Err(answer.failure(meaning, None))
}

fn by_words(words: &str) -> Meaning {
    let has = |word: &str| words.contains(word);
    match words {
        _ if has("invalid token") || has("unauthorized") => Meaning::auth(),
        _ if has("rate limit") => Meaning::rate_limited(Scope::Lane),
        _ if has("template") || has("variable") => Meaning::permanent(Scope::Message, "TEMPLATE"),
        _ if has("24 hour") || has("not available for the organization") => Meaning::invalid(),
        _ if has("phone") || has("country code") => Meaning::recipient(),
        _ => Meaning::unknown(),
    }
}
