//! What a receiver's answer means: the default table, and one word of its own. A webhook's one destination is its lane: one
//! that is gone holds it.

use crate::http::{Answer, default_meaning};
use domain::{Accepted, Failure, Scope, code};

pub(super) fn understand(answer: &Answer) -> Result<Accepted, Failure> {
    let Some(meaning) = default_meaning(answer.status.as_u16()) else {
        return Ok(answer.taken());
    };
    // The receiver wants no more attempts at this message, whatever the status.
    if answer.header("webhook-delivery") == Some("abort-message") {
        let refused = Failure::permanent(Scope::Message, code::VALIDATION, answer.words());
        return Err(refused.with_own_code("abort-message"));
    }
    Err(answer.failure(meaning, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::FailureKind::Permanent;
    use hyper::header::HeaderValue;

    #[test]
    fn the_status_is_the_receivers_own_code_and_success_keeps_its_words() {
        let failure = understand(&Answer::of(503, "no")).unwrap_err();
        assert_eq!(failure.code, "PROVIDER_ERROR");
        assert_eq!(failure.provider_code.as_deref(), Some("HTTP_503"));
        let accepted = understand(&Answer::of(202, "thanks")).unwrap();
        assert_eq!(accepted.detail.as_deref(), Some("202 Accepted: thanks"));
    }

    #[test]
    fn a_receiver_can_end_the_attempts() {
        let mut answer = Answer::of(503, "");
        let abort = HeaderValue::from_static("abort-message");
        answer.headers.insert("webhook-delivery", abort);
        let failure = understand(&answer).unwrap_err();
        assert_eq!((failure.kind, failure.scope), (Permanent, Scope::Message));
    }
}
