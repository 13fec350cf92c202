//! One conversation with one client.

use super::{
    Shared, TlsMode,
    script::{Answer, At, Phase},
};
use std::{
    io,
    sync::{Arc, atomic::Ordering},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader},
    net::TcpStream,
};

const LONGEST_LINE: u64 = 64 << 10;
pub(super) const LARGEST_MAIL: usize = 32 << 20;

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

pub(super) struct Session {
    io: BufReader<Box<dyn Stream>>,
    out: Vec<u8>,
    pub(super) shared: Arc<Shared>,
    pub(super) connection: u64,
    pub(super) over_tls: bool,
    pub(super) user: Option<String>,
    pub(super) sender: Option<String>,
    pub(super) recipients: Vec<String>,
    pub(super) line: Vec<u8>,
}

#[derive(PartialEq, Eq)]
enum Flow {
    On,
    Quit,
}

/// What the dial left to do.
#[derive(PartialEq, Eq)]
pub(super) enum Step {
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

    pub(super) fn at(&self, phase: Phase, recipient: Option<&str>, id: Option<String>) -> At {
        At {
            phase,
            connection: self.connection,
            sender: self.sender.clone(),
            recipient: recipient.map(str::to_owned),
            accepted: self.recipients.len(),
            id,
        }
    }

    pub(super) async fn decided(
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

    pub(super) async fn act(&mut self, answer: Answer) -> io::Result<Step> {
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

    pub(super) fn reset(&mut self) {
        self.sender = None;
        self.recipients.clear();
    }

    pub(super) fn say(&mut self, line: &str) {
        self.out.extend_from_slice(line.as_bytes());
        self.out.extend_from_slice(b"\r\n");
    }

    pub(super) async fn flush(&mut self) -> io::Result<()> {
        if !self.out.is_empty() {
            self.io.write_all(&self.out).await?;
            self.out.clear();
            self.io.flush().await?;
        }
        Ok(())
    }

    /// The next line, into `self.line`. Answers go out when the client has nothing more for us to read.
    pub(super) async fn read_line(&mut self) -> io::Result<bool> {
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
