//! One conversation with one client.

use super::{
    Shared, TlsMode,
    auth::{self, Credential, Mechanism},
    caught::{Mail, header},
    script::{Answer, At, Phase},
};
use bytes::Bytes;
use std::{
    io,
    sync::{Arc, atomic::Ordering},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::TcpStream,
};

const LONGEST_LINE: u64 = 64 << 10;
const LARGEST_MAIL: usize = 32 << 20;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Serves one connection until it ends; errors only mean that it ended.
pub(super) async fn converse(stream: TcpStream, shared: Arc<Shared>, connection: u64) {
    let _ = stream.set_nodelay(true);
    if let Err(error) = begin(stream, shared, connection).await {
        tracing::debug!(error = &error as &dyn std::error::Error, "conversation ended");
    }
}

async fn begin(stream: TcpStream, shared: Arc<Shared>, connection: u64) -> io::Result<()> {
    let mut session = Session {
        io: BufReader::new(Box::new(stream) as Box<dyn Stream>),
        out: Vec::with_capacity(256),
        shared,
        connection,
        over_tls: false,
        user: None,
        sender: None,
        recipients: vec![],
        line: Vec::with_capacity(128),
    };
    if let TlsMode::Implicit(identity) = &session.shared.options.tls {
        let acceptor = identity.acceptor();
        session.upgrade(acceptor).await?;
    }
    if session.decided(Phase::Connect, None, None).await? == Step::Usual {
        session.say("220 simulator ESMTP");
    }
    while session.read_line().await? {
        if session.command().await? == Flow::Quit {
            return session.flush().await;
        }
    }
    Ok(())
}

struct Session {
    io: BufReader<Box<dyn Stream>>,
    out: Vec<u8>,
    shared: Arc<Shared>,
    connection: u64,
    over_tls: bool,
    user: Option<String>,
    sender: Option<String>,
    recipients: Vec<String>,
    line: Vec<u8>,
}

#[derive(PartialEq, Eq)]
enum Flow {
    On,
    Quit,
}

/// What the dial left to do.
#[derive(PartialEq, Eq)]
enum Step {
    Usual,
    /// A reply was given; `true` if it was a good one (2xx or 3xx).
    Replied(bool),
}

impl Session {
    async fn command(&mut self) -> io::Result<Flow> {
        if !self.io.buffer().is_empty() && !self.shared.pipelining.load(Ordering::Relaxed) {
            self.shared.caught.pipelined_unasked();
        }
        let line = String::from_utf8_lossy(&self.line).trim_end().to_owned();
        let verb = line.split([' ', ':']).next().unwrap_or("").to_ascii_uppercase();
        match verb.as_str() {
            "EHLO" | "HELO" | "LHLO" => self.hello(&verb).await?,
            "STARTTLS" => self.start_tls().await?,
            "AUTH" => self.authenticate(&line).await?,
            "MAIL" => self.mail(&line).await?,
            "RCPT" => self.rcpt(&line).await?,
            "DATA" => self.data().await?,
            "RSET" => {
                self.reset();
                if self.decided(Phase::Rset, None, None).await? == Step::Usual {
                    self.say("250 2.0.0 reset");
                }
            }
            "NOOP" => self.say("250 2.0.0 here"),
            "QUIT" => {
                self.say("221 2.0.0 bye");
                return Ok(Flow::Quit);
            }
            _ => self.say("500 5.5.1 what?"),
        }
        Ok(Flow::On)
    }

    async fn hello(&mut self, verb: &str) -> io::Result<()> {
        self.reset();
        if self.decided(Phase::Ehlo, None, None).await? != Step::Usual {
            return Ok(());
        }
        if verb == "HELO" {
            self.say("250 simulator");
            return Ok(());
        }
        let mut lines = vec!["simulator".to_owned()];
        if self.shared.pipelining.load(Ordering::Relaxed) {
            lines.push("PIPELINING".into());
        }
        lines.extend(["8BITMIME", "SMTPUTF8", "ENHANCEDSTATUSCODES"].map(String::from));
        lines.push(format!("SIZE {LARGEST_MAIL}"));
        if matches!(self.shared.options.tls, TlsMode::StartTls(_)) && !self.over_tls {
            lines.push("STARTTLS".into());
        }
        if !self.shared.options.auth.is_empty() {
            let names: Vec<_> = self.shared.options.auth.iter().map(|m| m.name()).collect();
            lines.push(format!("AUTH {}", names.join(" ")));
        }
        for (i, line) in lines.iter().enumerate() {
            let separator = if i + 1 == lines.len() { ' ' } else { '-' };
            self.say(&format!("250{separator}{line}"));
        }
        Ok(())
    }

    async fn start_tls(&mut self) -> io::Result<()> {
        if self.decided(Phase::StartTls, None, None).await? != Step::Usual {
            return Ok(());
        }
        let TlsMode::StartTls(identity) = &self.shared.options.tls else {
            self.say("502 5.5.1 not offered");
            return Ok(());
        };
        let acceptor = identity.acceptor();
        self.say("220 2.0.0 go ahead");
        self.flush().await?;
        self.reset();
        self.upgrade(acceptor).await
    }

    async fn upgrade(&mut self, acceptor: tokio_rustls::TlsAcceptor) -> io::Result<()> {
        let nowhere = BufReader::new(Box::new(tokio::io::empty()) as Box<dyn Stream>);
        let plain = std::mem::replace(&mut self.io, nowhere).into_inner();
        let secured = acceptor.accept(plain).await?;
        self.io = BufReader::new(Box::new(secured) as Box<dyn Stream>);
        self.over_tls = true;
        Ok(())
    }

    async fn authenticate(&mut self, line: &str) -> io::Result<()> {
        if self.decided(Phase::Auth, None, None).await? != Step::Usual {
            return Ok(());
        }
        let mut words = line.split_whitespace().skip(1);
        let name = words.next().unwrap_or("").to_ascii_uppercase();
        let initial = words.next().map(str::to_owned);
        let offered = self.shared.options.auth.iter().copied();
        let offered = match offered.into_iter().find(|m| m.name() == name) {
            None => {
                self.say("504 5.5.4 mechanism not offered");
                return Ok(());
            }
            Some(Mechanism::Plain) => {
                let text = self.or_ask(initial, "").await?;
                auth::read_plain(&text)
            }
            Some(Mechanism::Login) => {
                let user = self.or_ask(initial, "Username:").await?;
                let password = self.or_ask(None, "Password:").await?;
                auth::decode(&user)
                    .zip(auth::decode(&password))
                    .map(|(user, password)| Credential::new(&user, &password))
            }
            Some(Mechanism::XOAuth2) => {
                let text = self.or_ask(initial, "").await?;
                let offered = auth::read_xoauth2(&text).filter(|c| self.shared.credentials.accept(c));
                if offered.is_none() {
                    let why = r#"{"status":"401","schemes":"bearer","scope":"https://mail.example.com/"}"#;
                    self.ask(why).await?;
                }
                offered
            }
        };
        match offered.filter(|c| self.shared.credentials.accept(c)) {
            Some(credential) => {
                self.user = Some(credential.user);
                self.say("235 2.7.0 welcome");
            }
            None => self.say("535 5.7.8 credentials not accepted"),
        }
        Ok(())
    }

    async fn or_ask(&mut self, initial: Option<String>, challenge: &str) -> io::Result<String> {
        match initial {
            Some(text) => Ok(text),
            None => self.ask(challenge).await,
        }
    }

    async fn ask(&mut self, challenge: &str) -> io::Result<String> {
        self.say(&format!("334 {}", auth::encode(challenge)));
        if !self.read_line().await? {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(String::from_utf8_lossy(&self.line).trim_end().to_owned())
    }

    async fn mail(&mut self, line: &str) -> io::Result<()> {
        let sender = address(line);
        match self.decided(Phase::Mail, None, None).await? {
            Step::Replied(false) => return Ok(()),
            Step::Replied(true) => {}
            Step::Usual if self.sender.is_some() => {
                self.say("503 5.5.1 one at a time");
                return Ok(());
            }
            Step::Usual if self.shared.options.require_auth && self.user.is_none() => {
                self.say("530 5.7.0 authentication required");
                return Ok(());
            }
            Step::Usual => self.say("250 2.1.0 sender ok"),
        }
        self.sender = Some(sender);
        Ok(())
    }

    async fn rcpt(&mut self, line: &str) -> io::Result<()> {
        if self.sender.is_none() {
            self.say("503 5.5.1 MAIL first");
            return Ok(());
        }
        let recipient = address(line);
        match self.decided(Phase::Rcpt, Some(&recipient), None).await? {
            Step::Replied(false) => return Ok(()),
            Step::Replied(true) => {}
            Step::Usual => self.say("250 2.1.5 recipient ok"),
        }
        self.recipients.push(recipient);
        Ok(())
    }

    async fn data(&mut self) -> io::Result<()> {
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
        }
    }

    fn at(&self, phase: Phase, recipient: Option<&str>, id: Option<String>) -> At {
        At {
            phase,
            connection: self.connection,
            sender: self.sender.clone(),
            recipient: recipient.map(str::to_owned),
            accepted: self.recipients.len(),
            id,
        }
    }

    async fn decided(
        &mut self,
        phase: Phase,
        recipient: Option<&str>,
        id: Option<String>,
    ) -> io::Result<Step> {
        match self.shared.dial.decide(|| self.at(phase, recipient, id)) {
            None => Ok(Step::Usual),
            Some((delay, answer)) => {
                tokio::time::sleep(delay).await;
                self.act(answer).await
            }
        }
    }

    async fn act(&mut self, answer: Answer) -> io::Result<Step> {
        match answer {
            Answer::Usual => Ok(Step::Usual),
            Answer::Reply(line) => {
                self.say(&line);
                if line.starts_with("421") {
                    self.flush().await?;
                    return Err(io::Error::other("closed with 421"));
                }
                Ok(Step::Replied(line.starts_with(['2', '3'])))
            }
            Answer::Cut => Err(io::Error::other("cut")),
            Answer::Stall => {
                self.flush().await?;
                std::future::pending().await
            }
        }
    }

    fn reset(&mut self) {
        self.sender = None;
        self.recipients.clear();
    }

    fn say(&mut self, line: &str) {
        self.out.extend_from_slice(line.as_bytes());
        self.out.extend_from_slice(b"\r\n");
    }

    async fn flush(&mut self) -> io::Result<()> {
        if !self.out.is_empty() {
            self.io.write_all(&self.out).await?;
            self.out.clear();
            self.io.flush().await?;
        }
        Ok(())
    }

    /// The next line, into `self.line`. Answers go out when the client has nothing more for us to read.
    async fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        if !self.io.buffer().contains(&b'\n') {
            self.flush().await?;
        }
        let read = (&mut self.io)
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut self.line)
            .await?;
        Ok(read > 0 && self.line.ends_with(b"\n"))
    }
}

/// What stands between the angle brackets of MAIL or RCPT.
fn address(line: &str) -> String {
    let start = line.find('<').map_or(0, |i| i + 1);
    let end = line[start..].find('>').map_or(line.len(), |i| start + i);
    line[start..end].to_owned()
}
