//! What an answer means for the message and for those behind it: the words that tables of answers are written in.
//!
//! A kind's table is a `match` over status and the service's own code that ends in one of these; what it does not know is
//! left to [`default_meaning`].

use super::Answer;
use domain::{Failure, FailureKind, HoldReason, Scope, code};
use std::{
    borrow::Cow,
    num::{NonZeroU8, NonZeroU32},
    time::Duration,
};

/// A row's right-hand side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Meaning {
    kind: FailureKind,
    scope: Scope,
    code: &'static str,
    hold: Option<HoldReason>,
    wait: Option<Duration>,
    tries: Option<NonZeroU8>,
    at_most_seconds: Option<NonZeroU32>,
}

impl Meaning {
    pub const fn transient(scope: Scope, code: &'static str) -> Self {
        Self {
            kind: FailureKind::Transient,
            scope,
            code,
            hold: None,
            wait: None,
            tries: None,
            at_most_seconds: None,
        }
    }

    pub const fn permanent(scope: Scope, code: &'static str) -> Self {
        Self {
            kind: FailureKind::Permanent,
            ..Self::transient(scope, code)
        }
    }

    const fn holding(reason: HoldReason, code: &'static str) -> Self {
        Self {
            hold: Some(reason),
            ..Self::permanent(Scope::Lane, code)
        }
    }

    /// The credentials are refused.
    pub const fn auth() -> Self {
        Self::holding(HoldReason::Auth, code::AUTH_FAILED)
    }

    /// The credentials are known and not allowed to do this.
    pub const fn forbidden() -> Self {
        Self::holding(HoldReason::Auth, code::FORBIDDEN)
    }

    /// A limit over hours or days is used up.
    pub const fn quota() -> Self {
        Self::holding(HoldReason::Quota, code::QUOTA)
    }

    /// The service wants money.
    pub const fn billing() -> Self {
        Self::holding(HoldReason::Billing, code::BILLING)
    }

    /// A setting is wrong, like the address of a webhook that was revoked. No message is to blame, so the lane is held
    /// and none is parked.
    pub const fn config() -> Self {
        Self::holding(HoldReason::Config, code::INVALID_CONFIG)
    }

    /// Too many requests just now.
    pub const fn rate_limited(scope: Scope) -> Self {
        Self::transient(scope, code::RATE_LIMITED)
    }

    /// The service has trouble of its own.
    pub const fn down() -> Self {
        Self::transient(Scope::Lane, code::PROVIDER_ERROR)
    }

    /// This message can never go out as it is.
    pub const fn invalid() -> Self {
        Self::permanent(Scope::Message, code::VALIDATION)
    }

    /// This address can never be served.
    pub const fn recipient() -> Self {
        Self::permanent(Scope::Recipient, code::RECIPIENT)
    }

    /// Nobody has a rule for this answer.
    pub const fn unknown() -> Self {
        Self {
            kind: FailureKind::Unknown,
            ..Self::transient(Scope::Message, code::UNKNOWN)
        }
    }

    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// Why the lane is held, where this would meet every other message too.
    pub const fn hold(&self) -> Option<HoldReason> {
        self.hold
    }

    /// Messages made of this template are not taken just now.
    pub const fn template_paused() -> Self {
        Self::transient(Scope::Template, code::TEMPLATE)
    }

    /// Such messages are taken at other hours.
    pub const fn outside_hours() -> Self {
        Self::transient(Scope::Message, code::OUTSIDE_HOURS)
    }

    /// Worth so many tries in all, whatever the policy grants.
    pub const fn tries(self, tries: u8) -> Self {
        Self {
            tries: NonZeroU8::new(tries),
            ..self
        }
    }

    /// And none once the message is this old.
    pub const fn at_most(self, seconds: u32) -> Self {
        Self {
            at_most_seconds: NonZeroU32::new(seconds),
            ..self
        }
    }

    /// Not sooner than this, unless the answer itself says when.
    pub const fn waiting(self, seconds: u64) -> Self {
        Self {
            wait: Some(Duration::from_secs(seconds)),
            ..self
        }
    }
}

impl Answer {
    /// The failure that this answer is. `own_code` is the service's own; without one the status stands for it. A success that
    /// breaks off before it says what it means may have been one: nobody knows.
    pub fn failure(&self, meaning: Meaning, own_code: Option<Cow<'static, str>>) -> Failure {
        if meaning.kind == FailureKind::Unknown && self.status.is_success() && !self.whole {
            let words = format!("the answer broke off: {}", self.words());
            return Failure::ambiguous(Scope::Lane, code::NETWORK, words);
        }
        let status = || format!("HTTP_{}", self.status.as_u16()).into();
        let asked = match (meaning.kind, meaning.hold) {
            (FailureKind::Transient, _) | (_, Some(HoldReason::Quota)) => self.retry_after,
            _ => None,
        };
        let words = match self.status.is_redirection() {
            true => format!("redirects are not followed: {}", self.words()),
            false => self.words(),
        };
        Failure {
            kind: meaning.kind,
            scope: meaning.scope,
            code: meaning.code.into(),
            provider_code: Some(own_code.unwrap_or_else(status)),
            detail: words,
            retry_after: asked.or(meaning.wait),
            tries: meaning.tries,
            at_most_seconds: meaning.at_most_seconds,
            hold: meaning.hold,
            ours: false,
        }
    }
}

/// What a status means where the service says nothing better. `None` for success.
pub(crate) fn default_meaning(status: u16) -> Option<Meaning> {
    Some(match status {
        200..=299 => return None,
        // Following it could lead anywhere; whoever set the URL must set the new one.
        300..=399 => Meaning::down(),
        401 | 407 => Meaning::auth(),
        402 => Meaning::billing(),
        403 => Meaning::forbidden(),
        408 | 425 | 500..=599 => Meaning::down(),
        429 => Meaning::rate_limited(Scope::Lane),
        // Where it goes is a setting.
        410 => Meaning::config(),
        400..=499 => Meaning::invalid(),
        _ => Meaning::unknown(),
    })
}

/// Where all messages go to one address, and that is a setting: it is what was not found, or answers to something else. Only of an
/// answer in which the service itself says nothing of a message.
pub(crate) fn wrong_address(status: u16) -> Option<Meaning> {
    matches!(status, 404 | 405).then(Meaning::config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::FailureKind::{Permanent, Transient, Unknown};

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
            (407, Permanent, Scope::Lane,        Some(HoldReason::Auth)),
            (408, Transient, Scope::Lane,        None),
            (410, Permanent, Scope::Lane,        Some(HoldReason::Config)),
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
            let meaning = default_meaning(*status).unwrap();
            let failure = Answer::of(*status, "no").failure(meaning, None);
            assert_eq!(
                (failure.kind, failure.scope, failure.hold),
                (*kind, *scope, *hold),
                "{status}"
            );
            assert_eq!(failure.provider_code, Some(format!("HTTP_{status}").into()));
        }
        for status in [200, 201, 202, 204] {
            assert_eq!(default_meaning(status), None);
        }
    }

    #[test]
    fn only_what_is_tried_again_waits_and_the_answer_knows_better_than_the_table() {
        let asked = Some(Duration::from_secs(9));
        for (meaning, retry_after, wait) in [
            (Meaning::down(), asked, Some(9)),
            (Meaning::down().waiting(60), asked, Some(9)),
            (Meaning::down().waiting(60), None, Some(60)),
            (Meaning::quota().waiting(60), None, Some(60)),
            (Meaning::quota().waiting(60), asked, Some(9)),
            (Meaning::auth(), asked, None),
            (Meaning::invalid(), asked, None),
        ] {
            let answer = Answer {
                retry_after,
                ..Answer::of(503, "")
            };
            let failure = answer.failure(meaning, None);
            assert_eq!(failure.retry_after, wait.map(Duration::from_secs), "{meaning:?}");
        }
    }
}
