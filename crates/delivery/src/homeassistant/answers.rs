//! What Home Assistant's answers mean.

use crate::{
    http::{Answer, Meaning, default_meaning},
    kit::Sending,
};
use domain::{Accepted, Failure, Scope};
use std::time::Duration;

/// After a restart a service may be missing until its integration has started.
const STARTING_FOR: Duration = Duration::from_secs(600);

pub(super) fn understand(sending: &Sending<'_>, answer: &Answer) -> Result<Accepted, Failure> {
    let status = answer.status.as_u16();
    let young = sending.now.since(sending.message.created_at) < STARTING_FOR;
    let meaning = match status {
        200 | 201 => return Ok(answer.taken()),
        // It does not say whether the data is bad or the service not there yet.
        400 if young => Meaning::transient(Scope::Message, "VALIDATION").waiting(60),
        // Not an address of its API: a wrong base, or a proxy in front of it.
        404 | 405 => Meaning::config(),
        _ => default_meaning(status).unwrap_or(Meaning::unknown()),
    };
    Err(answer.failure(meaning, None))
}
