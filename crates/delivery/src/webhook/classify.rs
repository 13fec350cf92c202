//! What a receiver's answer means, as one table over the status. A webhook's one destination is its lane.

use domain::{Failure, HoldReason, Scope};
use hyper::StatusCode;
use std::time::Duration;

/// What of an answer decides.
pub(super) struct Answer {
    pub status: StatusCode,
    pub retry_after: Option<Duration>,
    /// The receiver wants no more attempts at this message: `webhook-delivery: abort-message`.
    pub abort: bool,
    /// The start of the body, for people.
    pub said: String,
}

impl Answer {
    pub fn words(&self) -> String {
        let status = match self.status.canonical_reason() {
            Some(reason) => format!("{} {reason}", self.status.as_u16()),
            None => self.status.as_u16().to_string(),
        };
        if self.said.is_empty() {
            status
        } else {
            format!("{status}: {}", self.said)
        }
    }
}

/// The table. `None` for success.
pub(super) fn classify(answer: &Answer) -> Option<Failure> {
    let status = answer.status.as_u16();
    let code = format!("HTTP_{status}");
    let words = answer.words();
    let permanent = |scope| Failure::permanent(scope, code.clone(), words.clone());
    Some(match status {
        200..=299 => return None,
        _ if answer.abort => Failure::permanent(Scope::Message, "WEBHOOK_ABORTED", words),
        // Following it could lead anywhere; whoever set the URL must set the new one.
        300..=399 => Failure::transient(Scope::Lane, code, format!("redirects are not followed: {words}")),
        401 | 403 | 407 => permanent(Scope::Lane).holding(HoldReason::Auth),
        402 => permanent(Scope::Lane).holding(HoldReason::Billing),
        408 | 425 | 429 | 500..=599 => Failure::transient(Scope::Lane, code, words).after(answer.retry_after),
        410 => permanent(Scope::Destination),
        400..=499 => permanent(Scope::Message),
        _ => Failure::unknown(code, words),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::FailureKind::{self, Permanent, Transient, Unknown};

    fn answer(status: u16) -> Answer {
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            retry_after: Some(Duration::from_secs(9)),
            abort: false,
            said: "no".into(),
        }
    }

    #[test]
    fn each_status_means_what_the_table_says() {
        type Row = (u16, FailureKind, Scope, Option<HoldReason>);
        #[rustfmt::skip]
        let table: &[Row] = &[
            (101, Unknown,   Scope::Message,     None),
            (301, Transient, Scope::Lane,        None),
            (308, Transient, Scope::Lane,        None),
            (400, Permanent, Scope::Message,     None),
            (401, Permanent, Scope::Lane,        Some(HoldReason::Auth)),
            (402, Permanent, Scope::Lane,        Some(HoldReason::Billing)),
            (403, Permanent, Scope::Lane,        Some(HoldReason::Auth)),
            (404, Permanent, Scope::Message,     None),
            (408, Transient, Scope::Lane,        None),
            (410, Permanent, Scope::Destination, None),
            (413, Permanent, Scope::Message,     None),
            (422, Permanent, Scope::Message,     None),
            (425, Transient, Scope::Lane,        None),
            (429, Transient, Scope::Lane,        None),
            (500, Transient, Scope::Lane,        None),
            (502, Transient, Scope::Lane,        None),
            (503, Transient, Scope::Lane,        None),
            (504, Transient, Scope::Lane,        None),
            (522, Transient, Scope::Lane,        None),
            (999, Unknown,   Scope::Message,     None),
        ];
        for (status, kind, scope, hold) in table {
            let failure = classify(&answer(*status)).unwrap();
            assert_eq!(
                (failure.kind, failure.scope, failure.hold),
                (*kind, *scope, *hold),
                "{status}"
            );
            assert_eq!(failure.code, format!("HTTP_{status}"));
        }
        for status in [200, 201, 202, 204] {
            assert_eq!(classify(&answer(status)), None);
        }
    }

    #[test]
    fn only_what_is_tried_again_waits_as_asked() {
        for (status, waits) in [(429, true), (503, true), (500, true), (400, false), (401, false)] {
            let failure = classify(&answer(status)).unwrap();
            assert_eq!(failure.retry_after.is_some(), waits, "{status}");
        }
    }

    #[test]
    fn a_receiver_can_end_the_attempts() {
        let aborted = Answer {
            abort: true,
            ..answer(503)
        };
        let failure = classify(&aborted).unwrap();
        assert_eq!((failure.kind, failure.scope), (Permanent, Scope::Message));
    }
}
