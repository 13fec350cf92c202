//! Where in a conversation a rule may strike, and what it may do there.

use crate::dial::Rule;

/// The points of a conversation at which the server decides what to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Before the greeting.
    Connect,
    Ehlo,
    StartTls,
    Auth,
    Mail,
    Rcpt,
    /// The DATA command itself.
    Data,
    /// The first line of the message has arrived, the rest may be on its way.
    Body,
    /// The message has arrived with its final dot.
    AfterDot,
    Rset,
}

impl Phase {
    /// Every phase that is answered with a reply.
    pub const ANSWERED: [Phase; 7] = [
        Phase::Connect,
        Phase::Ehlo,
        Phase::Auth,
        Phase::Mail,
        Phase::Rcpt,
        Phase::Data,
        Phase::AfterDot,
    ];
}

/// What a rule is told about the moment.
#[derive(Debug, Clone)]
pub struct At {
    pub phase: Phase,
    /// 1 for the first connection since the start.
    pub connection: u64,
    pub sender: Option<String>,
    /// The recipient being offered, at [`Phase::Rcpt`].
    pub recipient: Option<String>,
    /// Recipients accepted in this transaction so far.
    pub accepted: usize,
    /// The notification id or Message-ID, at [`Phase::AfterDot`].
    pub id: Option<String>,
}

/// What happens at a point instead of the usual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// As usual; for rules that only delay.
    Usual,
    /// This reply, without the line end. A 421 also closes the connection.
    Reply(String),
    /// The connection is closed without a word. After the final dot the mail has been taken all the same.
    Cut,
    /// Nothing, until the server stops. After the final dot the mail has been taken all the same.
    Stall,
}

pub type SmtpRule = Rule<At, Answer>;

impl SmtpRule {
    /// Strikes at this phase; what it does is said next.
    pub fn at(phase: Phase) -> Self {
        Rule::always(Answer::Usual).when(move |at: &At| at.phase == phase)
    }

    /// Only for this recipient.
    pub fn to(self, recipient: &str) -> Self {
        let wanted = recipient.to_owned();
        self.when(move |at| at.recipient.as_deref() == Some(wanted.as_str()))
    }

    /// Only once this many recipients of the transaction have been accepted.
    pub fn beyond(self, recipients: usize) -> Self {
        self.when(move |at| at.accepted >= recipients)
    }

    pub fn reply(self, line: &str) -> Self {
        self.answering(Answer::Reply(line.to_owned()))
    }

    pub fn cut(self) -> Self {
        self.answering(Answer::Cut)
    }

    pub fn stall(self) -> Self {
        self.answering(Answer::Stall)
    }
}
