//! What one attempt taught us. Adapters produce it; [`crate::settle`] and [`crate::retry`] draw the conclusions.

use crate::{code, hold::HoldReason};
use serde::{Deserialize, Serialize};
use std::{
    borrow::Cow,
    num::{NonZeroU8, NonZeroU32},
    time::Duration,
};

/// The result of one attempt over all its targets.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Every target accepted.
    Delivered(Accepted),
    /// No target accepted, all for the same reason.
    Failed(Failure),
    /// Targets fared differently: a report for each who was asked for. Who has none was not, and stays as he was.
    Mixed(Vec<RecipientReport>),
}

/// What the far end said when it took the message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Accepted {
    /// The far end's own id for the message, for receipts and for support calls.
    pub provider_message_id: Option<String>,
    /// The far end's words, redacted and cut.
    pub detail: Option<String>,
}

/// One recipient's part of an attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct RecipientReport {
    pub address: String,
    pub result: Result<Accepted, Failure>,
}

/// Why an attempt did not succeed.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub kind: FailureKind,
    pub scope: Scope,
    /// Stable and the same for all kinds, upper case: one of [`crate::code`].
    pub code: Cow<'static, str>,
    /// The far end's own code, where it has one: `42901`, `SMTP_550_5.1.1`, `HTTP_503`.
    pub provider_code: Option<Cow<'static, str>>,
    /// For people. Redacted: no credentials, no secret URLs.
    pub detail: String,
    /// The far end asked us to wait this long.
    pub retry_after: Option<Duration>,
    /// Worth so many tries in all, whatever the policy grants.
    pub tries: Option<NonZeroU8>,
    /// And none once the message is so many seconds old.
    pub at_most_seconds: Option<NonZeroU32>,
    /// The whole lane must stop: trying other messages cannot help until somebody acts.
    pub hold: Option<HoldReason>,
    /// Of our own making: we refused to send it, or stopped before an answer could come. It says nothing about the far end.
    pub ours: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FailureKind {
    /// Trying again may help.
    Transient,
    /// Trying again cannot help.
    Permanent,
    /// We have no rule for this answer.
    Unknown,
    /// The far end may or may not have taken it: the request was sent whole, no answer came.
    Ambiguous,
}

impl FailureKind {
    /// What it means to whoever may try again, without a full stop.
    pub fn in_words(self) -> &'static str {
        match self {
            FailureKind::Transient => "trying again may help",
            FailureKind::Permanent => "trying again cannot help",
            FailureKind::Unknown => "there is no rule for this answer",
            FailureKind::Ambiguous => "nobody knows whether it went out",
        }
    }
}

/// What is blocked by the failure: a lane's counts for its breaker, and what throttles pauses just that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scope {
    /// This message alone.
    Message,
    /// Messages to this recipient.
    Recipient,
    /// Messages made of this template.
    Template,
    /// Everything that goes out through this provider.
    Lane,
}

impl Failure {
    fn new(
        kind: FailureKind,
        scope: Scope,
        code: impl Into<Cow<'static, str>>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            scope,
            code: code.into(),
            provider_code: None,
            detail: detail.into(),
            retry_after: None,
            tries: None,
            at_most_seconds: None,
            hold: None,
            ours: false,
        }
    }

    pub fn transient(scope: Scope, code: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self::new(FailureKind::Transient, scope, code, detail)
    }

    pub fn permanent(scope: Scope, code: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self::new(FailureKind::Permanent, scope, code, detail)
    }

    pub fn unknown(code: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self::new(FailureKind::Unknown, Scope::Message, code, detail)
    }

    pub fn ambiguous(scope: Scope, code: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self::new(FailureKind::Ambiguous, scope, code, detail)
    }

    /// The lane is held for this reason; the message itself is not to blame and is not counted.
    pub fn holding(mut self, reason: HoldReason) -> Self {
        self.scope = Scope::Lane;
        self.hold = Some(reason);
        self
    }

    /// The far end's own code, or a closer name of what went wrong on the way to it.
    pub fn with_own_code(mut self, own: impl Into<Cow<'static, str>>) -> Self {
        self.provider_code = Some(own.into());
        self
    }

    /// The far end had no part in it.
    pub fn of_our_making(mut self) -> Self {
        self.ours = true;
        self
    }

    pub fn after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// The far end as a whole does not answer, as opposed to refusing this message, or to wanting less just now.
    pub fn is_lane_down(&self) -> bool {
        self.scope == Scope::Lane
            && matches!(self.kind, FailureKind::Transient | FailureKind::Ambiguous)
            && !self.is_throttled()
    }

    /// The tries it is worth in all, where that is not the policy's affair.
    pub fn tries(&self) -> Option<u32> {
        self.tries.map(|tries| tries.get().into())
    }

    /// The age from which on the message is not worth another try.
    pub fn at_most(&self) -> Option<Duration> {
        self.at_most_seconds
            .map(|seconds| Duration::from_secs(seconds.get().into()))
    }

    /// It was not refused: it came too soon after others, or at the wrong hour.
    pub fn is_throttled(&self) -> bool {
        self.kind == FailureKind::Transient
            && matches!(self.code.as_ref(), code::RATE_LIMITED | code::OUTSIDE_HOURS)
    }
}

impl Outcome {
    /// Whether the far end had no part in any of it.
    pub fn is_ours(&self) -> bool {
        match self {
            Outcome::Delivered(_) => false,
            Outcome::Failed(failure) => failure.ours,
            Outcome::Mixed(reports) => {
                let ours =
                    |report: &RecipientReport| report.result.as_ref().is_err_and(|failure| failure.ours);
                !reports.is_empty() && reports.iter().all(ours)
            }
        }
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Outcome::Failed(failure)
    }
}
