//! What a mail server's answer means, as one table over the phase and the reply.
//!
//! Enhanced codes (`5.1.1`) are believed before basic ones. Where a refusal is about our account, our sender or
//! the server itself, the lane is held and no message is blamed.

use super::{reply::Reply, wire::WireError};
use crate::vet::VetError;
use domain::{Failure, FailureKind, HoldReason, Scope, code};
use std::{fmt, time::Duration};

/// Where in the conversation it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Connect,
    Ehlo,
    StartTls,
    Auth,
    MailFrom,
    RcptTo,
    Data,
    /// The whole message has been sent: silence from here on proves nothing.
    AfterDot,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Connect => "connecting",
            Phase::Ehlo => "EHLO",
            Phase::StartTls => "STARTTLS",
            Phase::Auth => "AUTH",
            Phase::MailFrom => "MAIL FROM",
            Phase::RcptTo => "RCPT TO",
            Phase::Data => "DATA",
            Phase::AfterDot => "the end of the message",
        })
    }
}

/// What went wrong, and where.
#[derive(Debug)]
pub(super) struct SmtpError {
    pub phase: Phase,
    pub cause: Cause,
}

#[derive(Debug)]
pub(super) enum Cause {
    Wire(WireError),
    Reply(Reply),
    Address(VetError),
    Tls(String),
    /// The server does not offer what the settings ask for.
    NotOffered(&'static str),
    /// No access token could be had.
    Token(Failure),
}

impl Phase {
    pub fn wire(self, error: WireError) -> SmtpError {
        self.error(Cause::Wire(error))
    }

    pub fn reply(self, reply: Reply) -> SmtpError {
        self.error(Cause::Reply(reply))
    }

    pub fn error(self, cause: Cause) -> SmtpError {
        SmtpError { phase: self, cause }
    }
}

impl SmtpError {
    /// The server turned our credentials down.
    pub fn is_refused_login(&self) -> bool {
        matches!(&self.cause, Cause::Reply(reply) if self.phase == Phase::Auth && reply.code == 535)
    }
}

impl From<SmtpError> for Failure {
    fn from(error: SmtpError) -> Self {
        let phase = error.phase;
        match error.cause {
            Cause::Reply(reply) => refused(phase, &reply),
            Cause::Wire(error) => broken(phase, &error),
            Cause::Address(error) => error.into(),
            Cause::Tls(why) => Failure::transient(Scope::Lane, code::NETWORK, format!("TLS failed: {why}"))
                .with_own_code("TLS"),
            Cause::NotOffered(what) if phase == Phase::Auth => {
                not_offered("AUTH_NOT_OFFERED", format!("AUTH {what}"))
            }
            // Going on without encryption would be worse than waiting for somebody to look.
            Cause::NotOffered(what) => not_offered("TLS_NOT_OFFERED", what.to_owned()),
            Cause::Token(failure) => failure,
        }
    }
}

/// The settings ask for what the server does not have.
fn not_offered(own: &'static str, what: String) -> Failure {
    let detail = format!("the server does not offer {what}");
    Failure::permanent(Scope::Lane, code::INVALID_CONFIG, detail)
        .with_own_code(own)
        .holding(HoldReason::Config)
}

fn broken(phase: Phase, error: &WireError) -> Failure {
    let detail = format!("{phase}: {error}");
    let (code, own) = match error {
        WireError::Timeout => (code::TIMEOUT, None),
        WireError::Garbled => (code::PROVIDER_ERROR, Some("SMTP_GARBLED")),
        WireError::Closed | WireError::Io(_) if phase == Phase::Connect => (code::NETWORK, Some("CONNECT")),
        WireError::Closed | WireError::Io(_) => (code::NETWORK, Some("CONNECTION_LOST")),
    };
    let failure = match phase {
        Phase::AfterDot => Failure::ambiguous(Scope::Lane, code, detail),
        _ => Failure::transient(Scope::Lane, code, detail),
    };
    Failure {
        provider_code: own.map(Into::into),
        ..failure
    }
}

const GREYLISTED: Duration = Duration::from_secs(5 * 60);
/// Ten attempts this far apart give a full mailbox three days to be emptied.
const MAILBOX_FULL: Duration = Duration::from_secs(8 * 3600);
const QUOTA_USED_UP: Duration = Duration::from_secs(3600);

/// The table.
pub(super) fn refused(phase: Phase, reply: &Reply) -> Failure {
    use Phase::{AfterDot, Auth, Connect, Data, Ehlo, MailFrom, RcptTo, StartTls};
    let answer = Answer { phase, reply };
    let said = ReplyText(&reply.message.to_ascii_lowercase());
    match (reply.code, reply.enhanced, phase) {
        // The server is closing, or wants fewer connections.
        (421, _, _) => answer.transient(Scope::Lane),
        (432, _, _) => answer.throttled(),

        // Our account, whatever the phase.
        (530 | 534 | 535 | 538, _, _) => answer.refused_login(),
        (454, [4, 7, _], _) => answer.transient(Scope::Lane),

        // Sending limits, which some providers answer with a 5xx.
        (554, [5, 2, 0], _) if said.any(&["quota", "submission", "rrl", "limit"]) => answer.quota(),
        (554, [5, 2, 2], _) if said.any(&["storedrv", "quotaexceeded"]) => answer.quota(),
        (550, [5, 4, 5], _) => answer.quota(),

        // Before there is a message there is nothing to blame but the server or our account.
        (400..=499, _, Connect | Ehlo | StartTls | Auth) => answer.transient(Scope::Lane),
        (500..=599, _, Auth) => answer.refused_login(),
        (500..=599, _, Connect | Ehlo | StartTls) => answer.permanent(Scope::Lane).holding(HoldReason::Down),

        // The sender is the same for every message of the lane.
        (400..=499, _, MailFrom) => answer.transient(Scope::Lane),
        (552, _, MailFrom) | (_, [5, 3, 4], _) => answer.permanent(Scope::Message),
        (500..=504 | 555, esc, MailFrom) if esc[1] != 1 && esc[1] != 7 => answer.permanent(Scope::Message),
        (500..=599, _, MailFrom) => answer.forbidden(),

        // Recipients, one by one.
        (452, [_, 3, _], RcptTo) | (454, _, RcptTo) => answer.transient(Scope::Lane),
        (450, _, RcptTo) | (451, [4, 7, _], RcptTo) => {
            answer.transient(Scope::Recipient).after(Some(GREYLISTED))
        }
        (451, _, RcptTo) if said.any(&["greylist", "graylist"]) => {
            answer.transient(Scope::Recipient).after(Some(GREYLISTED))
        }
        (552 | 550, [5, 2, 2], RcptTo) => answer.transient(Scope::Recipient).after(Some(MAILBOX_FULL)),
        (552, [0, ..], RcptTo) => answer.transient(Scope::Recipient).after(Some(MAILBOX_FULL)),
        (400..=499, _, RcptTo) => answer.transient(Scope::Recipient),
        (500..=504 | 555, [0, ..] | [5, 5, _], RcptTo) => answer.permanent(Scope::Message),
        (500..=599, _, RcptTo) => answer.permanent(Scope::Recipient),

        // The message as a whole.
        (452, [_, 3, _], Data | AfterDot) => answer.transient(Scope::Lane),
        (450 | 451, [4, 7, _], Data | AfterDot) => answer.transient(Scope::Message).after(Some(GREYLISTED)),
        (400..=499, _, Data | AfterDot) => answer.transient(Scope::Message),
        (552 | 550, [5, 2, 2], AfterDot) => answer.transient(Scope::Recipient).after(Some(MAILBOX_FULL)),
        (550 | 551 | 553, [5, 1, _] | [5, 2, 1], AfterDot) => answer.permanent(Scope::Recipient),
        // Missing SPF or DKIM concerns all we send; other policy verdicts after the dot are about this content,
        // and one suspicious message must not hold up the rest.
        (550 | 554, [5, 7, 26], Data | AfterDot) => answer.forbidden(),
        (500..=599, _, Data | AfterDot) => answer.permanent(Scope::Message),

        (_, _, Auth) => answer.refused_login(),
        (_, _, Connect | Ehlo | StartTls) => answer.transient(Scope::Lane),
        _ => Failure::unknown(code::UNKNOWN, answer.detail()).with_own_code(answer.own_code()),
    }
}

/// More recipients than the server takes at once; the rest can go in a transaction of their own.
pub(super) fn is_too_many_recipients(reply: &Reply) -> bool {
    matches!(reply.code, 450..=452 | 550..=552)
        && (reply.enhanced[1..] == [5, 3]
            || ReplyText(&reply.message.to_ascii_lowercase()).any(&["too many recipients"]))
}

/// `5.1.1`, if the reply had one.
fn enhanced(reply: &Reply) -> Option<String> {
    let [class, subject, detail] = reply.enhanced;
    (class > 0).then(|| format!("{class}.{subject}.{detail}"))
}

/// A reply in one line: `550 5.1.1 no such user`.
pub(super) fn words(reply: &Reply) -> String {
    let message = reply.message.replace('\n', " ");
    match enhanced(reply) {
        Some(enhanced) => format!("{} {enhanced} {message}", reply.code),
        None => format!("{} {message}", reply.code),
    }
}

struct ReplyText<'a>(&'a str);

impl ReplyText<'_> {
    fn any(&self, needles: &[&str]) -> bool {
        needles.iter().any(|needle| self.0.contains(needle))
    }
}

struct Answer<'a> {
    phase: Phase,
    reply: &'a Reply,
}

impl Answer<'_> {
    fn own_code(&self) -> String {
        match enhanced(self.reply) {
            Some(enhanced) => format!("SMTP_{}_{enhanced}", self.reply.code),
            None => format!("SMTP_{}", self.reply.code),
        }
    }

    fn detail(&self) -> String {
        format!("{} refused: {}", self.phase, words(self.reply))
    }

    fn failure(&self, kind: FailureKind, scope: Scope, code: &'static str) -> Failure {
        Failure {
            kind,
            ..Failure::transient(scope, code, self.detail()).with_own_code(self.own_code())
        }
    }

    fn transient(&self, scope: Scope) -> Failure {
        let code = match scope {
            Scope::Recipient => code::RECIPIENT,
            Scope::Message | Scope::Template | Scope::Lane => code::PROVIDER_ERROR,
        };
        self.failure(FailureKind::Transient, scope, code)
    }

    fn permanent(&self, scope: Scope) -> Failure {
        let code = match scope {
            Scope::Recipient => code::RECIPIENT,
            Scope::Message => code::VALIDATION,
            Scope::Template | Scope::Lane => code::PROVIDER_ERROR,
        };
        self.failure(FailureKind::Permanent, scope, code)
    }

    fn throttled(&self) -> Failure {
        self.failure(FailureKind::Transient, Scope::Lane, code::RATE_LIMITED)
    }

    fn forbidden(&self) -> Failure {
        self.failure(FailureKind::Permanent, Scope::Lane, code::FORBIDDEN)
            .holding(HoldReason::Auth)
    }

    fn refused_login(&self) -> Failure {
        self.failure(FailureKind::Permanent, Scope::Lane, code::AUTH_FAILED)
            .holding(HoldReason::Auth)
    }

    fn quota(&self) -> Failure {
        self.failure(FailureKind::Transient, Scope::Lane, code::QUOTA)
            .holding(HoldReason::Quota)
            .after(Some(QUOTA_USED_UP))
    }
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;
