//! What an Apprise API server's answers mean. It tells little: that something behind it failed, not what.

use crate::http::{Answer, Meaning, default_meaning};
use domain::{Accepted, Failure};

pub(super) fn understand(answer: &Answer) -> Result<Accepted, Failure> {
    let status = answer.status.as_u16();
    let meaning = match status {
        // Nothing is configured under this key.
        204 | 404 | 405 => Meaning::config(),
        200..=299 => return Ok(answer.taken()),
        // The target was not notified, for a reason that only the server's own log knows.
        424 => Meaning::unknown(),
        _ => default_meaning(status).unwrap_or(Meaning::unknown()),
    };
    Err(answer.failure(meaning, None))
}
