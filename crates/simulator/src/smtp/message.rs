//! The part of a conversation in which a mail is handed over.

use super::{
    caught::{Mail, header},
    script::{Answer, Phase},
    session::{LARGEST_MAIL, Session, Step},
};
use bytes::Bytes;
use std::io;

impl Session {
    pub(super) async fn data(&mut self) -> io::Result<()> {
        match self.decided(Phase::Data, None, None).await? {
            Step::Replied(_) => return Ok(()),
            Step::Usual if self.recipients.is_empty() && !self.shared.options.data_without_recipients => {
                self.say("554 5.5.1 no valid recipients");
                return Ok(());
            }
            Step::Usual => self.say("354 go on"),
        }
        let Some(data) = self.read_message().await? else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        let mail = self.mail_of(data);
        let id = mail.id().map(str::to_owned);
        let answer = self
            .shared
            .dial
            .decide(|| self.at(Phase::AfterDot, None, id.clone()));
        let none_accepted = mail.recipients.is_empty();
        self.reset();
        match answer {
            _ if none_accepted => self.say("554 5.5.1 no valid recipients"),
            None => {
                self.shared.caught.take(mail);
                self.say("250 2.0.0 Ok: queued as SIM");
            }
            Some((delay, answer)) => {
                tokio::time::sleep(delay).await;
                let taken = match &answer {
                    Answer::Usual | Answer::Cut | Answer::Stall => true,
                    Answer::Reply(line) => line.starts_with('2'),
                };
                if taken {
                    self.shared.caught.take(mail);
                }
                if self.act(answer).await? == Step::Usual {
                    self.say("250 2.0.0 Ok: queued as SIM");
                }
            }
        }
        Ok(())
    }

    /// Reads up to the final dot. `None` if the client went away before it.
    async fn read_message(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut data = Vec::with_capacity(1024);
        let mut first = true;
        loop {
            if !self.read_line().await? {
                return Ok(None);
            }
            if first {
                first = false;
                self.decided(Phase::Body, None, None).await?;
            }
            match self.line.as_slice() {
                b".\r\n" | b".\n" => return Ok(Some(data)),
                [b'.', rest @ ..] => data.extend_from_slice(rest),
                line => data.extend_from_slice(line),
            }
            if data.len() > LARGEST_MAIL {
                return Err(io::Error::other("mail too large"));
            }
        }
    }

    fn mail_of(&mut self, data: Vec<u8>) -> Mail {
        let unbracketed = |id: String| id.trim_matches(['<', '>']).to_owned();
        Mail {
            sender: self.sender.clone().unwrap_or_default(),
            recipients: self.recipients.clone(),
            message_id: header(&data, "Message-ID").map(unbracketed),
            notification_id: header(&data, "X-Waypost-Notification-Id"),
            data: Bytes::from(data),
            connection: self.connection,
            over_tls: self.over_tls,
            authenticated_as: self.user.clone(),
            at: std::time::Instant::now(),
        }
    }
}
