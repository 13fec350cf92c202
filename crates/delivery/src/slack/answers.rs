//! What Slack's answers mean: words in plain text. The channel is part of the webhook, so what is wrong with it is wrong with
//! the setting.

use crate::http::{Answer, Meaning, default_meaning};
use domain::{Accepted, Failure, Scope};
use serde::Deserialize;
use std::borrow::Cow;

/// Triggers of workflows answer in JSON.
#[derive(Deserialize)]
struct WorkflowAnswer {
    ok: bool,
    error: Option<String>,
}

pub(super) fn understand(answer: &Answer) -> Result<Accepted, Failure> {
    let status = answer.status.as_u16();
    let said: Option<WorkflowAnswer> = answer.json();
    let text = answer.text();
    let word = match &said {
        Some(said) => said.error.as_deref().unwrap_or_default(),
        None => text.trim(),
    };
    let meaning = match (status, word) {
        (200..=299, "ok") => return Ok(answer.taken()),
        (200..=299, "") if said.as_ref().is_some_and(|said| said.ok) => return Ok(answer.taken()),
        (_, "invalid_token" | "token_revoked" | "account_inactive") => Meaning::auth(),
        // Somebody whom the text names.
        (_, "user_not_found") => Meaning::invalid(),
        (_, "channel_not_found" | "channel_is_archived" | "no_service" | "no_service_id" | "no_team") => {
            Meaning::config()
        }
        (429, _) => Meaning::rate_limited(Scope::Lane).waiting(1),
        (401 | 403 | 404 | 410, _) => Meaning::config(),
        (200..=299, _) => Meaning::unknown(),
        _ => default_meaning(status).unwrap_or(Meaning::unknown()),
    };
    let own = Some(word).filter(|word| is_code(word));
    Err(answer.failure(meaning, own.map(|word| Cow::Owned(word.to_owned()))))
}

/// Codes are words like `no_service`; a page of some proxy is none.
fn is_code(word: &str) -> bool {
    (1..=60).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}
