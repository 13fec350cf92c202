//! What Home Assistant's answers mean.

use crate::http::{Answer, Meaning, default_meaning};
use domain::{Accepted, Failure, Scope};

/// After a restart a service may be missing until its integration has started, which takes ten minutes at most. Counted in
/// tries a minute or more apart, because a message may have waited for hours before its first.
const TRIES_WHILE_STARTING: u8 = 10;
const BETWEEN_TRIES_SECONDS: u64 = 60;

pub(super) fn understand(answer: &Answer) -> Result<Accepted, Failure> {
    let status = answer.status.as_u16();
    let meaning = match status {
        200 | 201 => return Ok(answer.taken()),
        // It does not say whether the data is bad or the service not there yet.
        400 => Meaning::transient(Scope::Message, "VALIDATION")
            .waiting(BETWEEN_TRIES_SECONDS)
            .tries(TRIES_WHILE_STARTING),
        // Not an address of its API: a wrong base, or a proxy in front of it.
        404 | 405 => Meaning::config(),
        _ => default_meaning(status).unwrap_or(Meaning::unknown()),
    };
    Err(answer.failure(meaning, None))
}
