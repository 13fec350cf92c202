//! One mail transaction: one sender, all recipients, one message, a result for each recipient.

use super::{
    address::Mailbox,
    classify::{self, Phase, SmtpError},
    reply::Reply,
    session::Session,
    wire::WireError,
};
use crate::adapter::Deadline;
use domain::{Accepted, Failure, Scope, code};

/// Recipients per burst: their replies must fit the far end's send buffer while it is still reading from us.
const RCPT_PER_BURST: usize = 100;

/// A transaction that came to an end.
pub(super) struct TransactionResult {
    /// In the order of the recipients. `None`: the server wants fewer at once, so this one goes in a later one.
    pub results: Vec<Option<Result<Accepted, Failure>>>,
    /// Whether the session can be used again.
    pub usable: bool,
}

/// A transaction that broke off before the message was out.
#[derive(Debug)]
pub(super) struct BrokenOff {
    pub error: SmtpError,
    /// Not even MAIL was answered: on a kept session this only means that the session was stale.
    pub before_any_answer: bool,
}

/// What is sent, the same for every recipient.
pub(super) struct Letter<'a> {
    pub from: &'a Mailbox,
    /// Stuffed, with the final dot.
    pub data: &'a [u8],
    /// What of it nobody else is to read: the link with which its recipient ends what they get.
    pub secret: Option<&'a str>,
}

pub(super) async fn transact(
    session: &mut Session,
    letter: &Letter<'_>,
    recipients: &[&Mailbox],
    deadline: Deadline,
) -> Result<TransactionResult, BrokenOff> {
    session.used += 1;
    let mut transaction = Transaction {
        session,
        deadline,
        answers: Vec::with_capacity(recipients.len()),
    };
    let replies = if transaction.session.capabilities.pipelining {
        transaction.speak_in_bursts(letter, recipients).await?
    } else {
        transaction.speak_in_turns(letter, recipients).await?
    };
    transaction.finish(letter, recipients.len(), replies).await
}

/// How the server took MAIL and DATA.
struct CommandReplies {
    mail: Reply,
    data: Option<Reply>,
}

struct Transaction<'a> {
    session: &'a mut Session,
    deadline: Deadline,
    /// Answers to RCPT, in order.
    answers: Vec<Reply>,
}

impl Transaction<'_> {
    async fn speak_in_bursts(
        &mut self,
        letter: &Letter<'_>,
        recipients: &[&Mailbox],
    ) -> Result<CommandReplies, BrokenOff> {
        let mut mail = None;
        let mut bursts = recipients.chunks(RCPT_PER_BURST).peekable();
        while let Some(burst) = bursts.next() {
            let is_last = bursts.peek().is_none();
            let mut commands = String::with_capacity(64 * (burst.len() + 2));
            if mail.is_none() {
                commands.push_str(&self.mail_command(letter, recipients));
            }
            for recipient in burst {
                commands.push_str(&rcpt_command(recipient));
            }
            if is_last {
                commands.push_str("DATA\r\n");
            }
            let (phase, is_first) = if mail.is_none() {
                (Phase::MailFrom, true)
            } else {
                (Phase::RcptTo, false)
            };
            self.send(commands.as_bytes(), phase, is_first).await?;
            let answer = match mail.take() {
                Some(answer) => answer,
                None => self.answer(Phase::MailFrom, true).await?,
            };
            for _ in burst {
                let answer = self.answer(Phase::RcptTo, false).await?;
                self.answers.push(answer);
            }
            let data = if is_last {
                Some(self.answer(Phase::Data, false).await?)
            } else {
                None
            };
            if is_last || !answer.is_positive() {
                return Ok(CommandReplies { mail: answer, data });
            }
            mail = Some(answer);
        }
        unreachable!("a transaction has at least one recipient")
    }

    async fn speak_in_turns(
        &mut self,
        letter: &Letter<'_>,
        recipients: &[&Mailbox],
    ) -> Result<CommandReplies, BrokenOff> {
        self.send(
            self.mail_command(letter, recipients).as_bytes(),
            Phase::MailFrom,
            true,
        )
        .await?;
        let mail = self.answer(Phase::MailFrom, true).await?;
        if !mail.is_positive() {
            return Ok(CommandReplies { mail, data: None });
        }
        for recipient in recipients {
            self.send(rcpt_command(recipient).as_bytes(), Phase::RcptTo, false)
                .await?;
            let answer = self.answer(Phase::RcptTo, false).await?;
            self.answers.push(answer);
        }
        if !self.answers.iter().any(Reply::is_positive) {
            return Ok(CommandReplies { mail, data: None });
        }
        self.send(b"DATA\r\n", Phase::Data, false).await?;
        let data = Some(self.answer(Phase::Data, false).await?);
        Ok(CommandReplies { mail, data })
    }

    async fn finish(
        mut self,
        letter: &Letter<'_>,
        count: usize,
        replies: CommandReplies,
    ) -> Result<TransactionResult, BrokenOff> {
        if matches!(replies.mail.code, 530 | 534 | 535) {
            // The server has forgotten who we are; a new session may help where this one was kept.
            return Err(BrokenOff {
                error: Phase::MailFrom.reply(replies.mail),
                before_any_answer: true,
            });
        }
        let wanted = replies.mail.is_positive() && self.answers.iter().any(Reply::is_positive);
        let message = match replies.data {
            Some(go) if go.code == 354 && wanted => self.send_message(letter).await?,
            Some(go) if go.code == 354 => {
                // Asked for a message that nobody is to get: an empty one ends it (RFC 2920, 3.1).
                let answer = self.exchange(b".\r\n").await;
                DataResult::refused(Phase::Data, answer.is_some())
            }
            Some(no) if wanted => {
                let usable = self.exchange(b"RSET\r\n").await.is_some();
                DataResult {
                    result: Err(classify::refused(Phase::Data, &no)),
                    usable,
                }
            }
            _ => {
                let usable = self.exchange(b"RSET\r\n").await.is_some();
                DataResult::refused(Phase::MailFrom, usable)
            }
        };
        let usable = message.usable;
        if !replies.mail.is_positive() {
            let failure = classify::refused(Phase::MailFrom, &replies.mail);
            let results = vec![Some(Err(failure)); count];
            return Ok(TransactionResult { results, usable });
        }
        // Deferring helps only if this round has delivered to somebody.
        let may_defer = message.result.is_ok();
        let results = self
            .answers
            .iter()
            .map(|answer| match answer {
                answer if answer.is_positive() => Some(message.result.clone()),
                answer if may_defer && classify::is_too_many_recipients(answer) => None,
                answer => Some(Err(classify::refused(Phase::RcptTo, answer))),
            })
            .collect();
        Ok(TransactionResult { results, usable })
    }

    /// Sends the message. From its last byte on, only an answer tells what became of it.
    async fn send_message(&mut self, letter: &Letter<'_>) -> Result<DataResult, BrokenOff> {
        if let Err(error) = self.session.wire.send(letter.data, self.deadline).await {
            return Err(BrokenOff {
                error: Phase::Data.wire(error),
                before_any_answer: false,
            });
        }
        let (result, usable) = match self.session.wire.reply(self.deadline).await {
            Ok(reply) if reply.is_positive() => (Ok(accepted(&reply)), true),
            Ok(reply) => {
                let in_step = matches!(reply.code, 400..=599) && reply.code != 421;
                (Err(classify::refused(Phase::AfterDot, &reply)), in_step)
            }
            Err(error) => (Err(Phase::AfterDot.wire(error).into()), false),
        };
        Ok(DataResult { result, usable })
    }

    fn mail_command(&self, letter: &Letter<'_>, recipients: &[&Mailbox]) -> String {
        let mut command = format!("MAIL FROM:<{}>", letter.from.address);
        if self.session.capabilities.size {
            command.push_str(&format!(" SIZE={}", letter.data.len()));
        }
        let utf8 = letter.from.needs_utf8() || recipients.iter().any(|r| r.needs_utf8());
        if utf8 && self.session.capabilities.utf8 {
            command.push_str(" SMTPUTF8");
        }
        command.push_str("\r\n");
        command
    }

    async fn send(&mut self, bytes: &[u8], phase: Phase, is_first: bool) -> Result<(), BrokenOff> {
        self.session
            .wire
            .send(bytes, self.deadline)
            .await
            .map_err(|error| self.broken(phase, error, is_first))
    }

    /// The next answer. A 421 means that the server is leaving, and ends the transaction.
    async fn answer(&mut self, phase: Phase, is_first: bool) -> Result<Reply, BrokenOff> {
        match self.session.wire.reply(self.deadline).await {
            Ok(reply) if reply.code == 421 => Err(BrokenOff {
                error: phase.reply(reply),
                before_any_answer: is_first,
            }),
            Ok(reply) => Ok(reply),
            Err(error) => Err(self.broken(phase, error, is_first)),
        }
    }

    fn broken(&self, phase: Phase, error: WireError, is_first: bool) -> BrokenOff {
        BrokenOff {
            before_any_answer: is_first && !matches!(error, WireError::Timeout),
            error: phase.wire(error),
        }
    }

    /// Tidies up after a transaction that delivers nothing. `None`: the session is of no more use.
    async fn exchange(&mut self, bytes: &[u8]) -> Option<Reply> {
        self.session.wire.send(bytes, self.deadline).await.ok()?;
        let reply = self.session.wire.reply(self.deadline).await.ok()?;
        (reply.code != 421).then_some(reply)
    }
}

/// What became of the message itself.
struct DataResult {
    result: Result<Accepted, Failure>,
    usable: bool,
}

impl DataResult {
    /// No message was wanted; the recipients' own answers say why.
    fn refused(phase: Phase, usable: bool) -> Self {
        Self {
            result: Err(Failure::permanent(
                Scope::Message,
                code::RECIPIENT,
                format!("{phase}: no recipient was accepted"),
            )),
            usable,
        }
    }
}

fn rcpt_command(recipient: &Mailbox) -> String {
    format!("RCPT TO:<{}>\r\n", recipient.address)
}

fn accepted(reply: &Reply) -> Accepted {
    Accepted {
        provider_message_id: queue_id(&reply.message),
        detail: Some(classify::words(reply)),
    }
}

/// `Ok: queued as 4XyZ` names the mail in the server's own log.
fn queue_id(message: &str) -> Option<String> {
    let (_, after) = message.split_once("queued as ")?;
    let id = after.split_whitespace().next()?;
    Some(crate::redact::cut(id.trim_end_matches(['.', ',', ';']), 200).to_owned())
}

impl From<BrokenOff> for Failure {
    fn from(broken: BrokenOff) -> Self {
        broken.error.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_own_name_for_a_mail_is_kept() {
        for (message, id) in [
            ("Ok: queued as 4XyZ", Some("4XyZ")),
            ("Ok: queued as 4XyZ.", Some("4XyZ")),
            ("thanks", None),
        ] {
            assert_eq!(queue_id(message).as_deref(), id);
        }
    }
}
