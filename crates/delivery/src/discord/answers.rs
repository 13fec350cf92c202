//! What Discord's answers mean. The channel is part of the webhook, so what is wrong with it is wrong with the setting; a
//! dead webhook must not be asked again and again, or the address we come from is banned.

use crate::http::{Answer, Meaning, default_meaning};
use domain::{Accepted, Failure, Scope};
use serde::Deserialize;

#[derive(Deserialize)]
struct Posted {
    id: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Refused {
    code: Option<u32>,
    /// In seconds.
    retry_after: Option<f64>,
}

pub(super) fn understand(answer: &Answer) -> Result<Accepted, Failure> {
    let status = answer.status.as_u16();
    let refused: Refused = answer.json().unwrap_or_default();
    let meaning = match status {
        204 => return Ok(answer.taken()),
        200..=299 => return answer.accepted(answer.json().map(|posted: Posted| posted.id)),
        401 | 403 | 404 => Meaning::config(),
        429 => Meaning::rate_limited(Scope::Lane).waiting(whole_seconds(refused.retry_after)),
        _ => default_meaning(status).unwrap_or(Meaning::unknown()),
    };
    Err(answer.failure(meaning, refused.code.map(|code| code.to_string().into())))
}

/// Rounded up; what is no time is a second.
fn whole_seconds(wait: Option<f64>) -> u64 {
    let wait = wait.and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok());
    wait.map_or(1, |wait| {
        wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0))
    })
}
