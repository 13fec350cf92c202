//! One connection to a mail server, from the first packet until it is ready to take mail.

use super::{
    classify::{Cause, Phase, SmtpError},
    reply::Reply,
    settings::{Security, SmtpSettings},
    wire::{Log, Stream, Wire, WireError},
};
use crate::{adapter::Deadline, redact::MASK, vet::Vetting};
use base64::{Engine, engine::general_purpose::STANDARD};
use rustls::pki_types::ServerName;
use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use tokio::{net::TcpStream, time::Instant, time::timeout_at};
use tokio_rustls::TlsConnector;

/// A name with several addresses: how long one of them may keep us from the next.
const CONNECT_TIMEOUT_PER_ADDRESS: Duration = Duration::from_secs(10);

/// How to log in, with the secret of the moment.
pub(super) enum Credentials<'a> {
    None,
    Plain(&'a str, &'a str),
    Login(&'a str, &'a str),
    XOAuth2(&'a str, &'a str),
}

/// What the server said it can do.
#[derive(Debug, Clone, Default)]
pub(super) struct Capabilities {
    pub pipelining: bool,
    pub utf8: bool,
    pub size: bool,
    start_tls: bool,
    mechanisms: Vec<String>,
}

impl Capabilities {
    fn read(reply: &Reply) -> Self {
        let mut capabilities = Self::default();
        for line in reply.message.to_ascii_uppercase().lines().skip(1) {
            let mut words = line.split([' ', '=']).filter(|w| !w.is_empty());
            match words.next() {
                Some("PIPELINING") => capabilities.pipelining = true,
                Some("SMTPUTF8") => capabilities.utf8 = true,
                Some("SIZE") => capabilities.size = true,
                Some("STARTTLS") => capabilities.start_tls = true,
                Some("AUTH") => capabilities.mechanisms.extend(words.map(str::to_owned)),
                _ => {}
            }
        }
        capabilities
    }
}

/// A connection that is ready for MAIL.
pub(super) struct Session {
    pub wire: Wire,
    pub capabilities: Capabilities,
    pub born: Instant,
    /// Transactions so far.
    pub used: u32,
}

impl Session {
    /// Connects, encrypts and logs in.
    pub async fn open(
        settings: &SmtpSettings,
        vetting: &Vetting,
        credentials: &Credentials<'_>,
        log: Log,
        deadline: Deadline,
    ) -> Result<Self, SmtpError> {
        let stream = connect(settings, vetting, deadline).await?;
        let me = introduction(settings, &stream);
        let wire = match &settings.security {
            Security::Implicit(config) => encrypt(Box::new(stream), settings, config, deadline).await?,
            _ => Wire::new(Box::new(stream)),
        };
        let mut session = Self {
            wire: wire.logged(log),
            capabilities: Capabilities::default(),
            born: Instant::now(),
            used: 0,
        };
        let greeting = session
            .wire
            .reply(deadline)
            .await
            .map_err(|e| Phase::Connect.wire(e))?;
        if greeting.code != 220 {
            return Err(Phase::Connect.reply(greeting));
        }
        session.hello(&me, deadline).await?;
        if let Security::StartTls(config) = &settings.security {
            session = session.start_tls(settings, config, deadline).await?;
            session.hello(&me, deadline).await?;
        }
        session.log_in(credentials, deadline).await?;
        Ok(session)
    }

    /// Sends a command line and waits for its reply.
    pub async fn command(
        &mut self,
        line: &str,
        phase: Phase,
        deadline: Deadline,
    ) -> Result<Reply, SmtpError> {
        let line = format!("{line}\r\n");
        self.wire
            .send(line.as_bytes(), deadline)
            .await
            .map_err(|e| phase.wire(e))?;
        self.wire.reply(deadline).await.map_err(|e| phase.wire(e))
    }

    /// The same for a line that carries credentials; `shown` stands for it in a transcript.
    async fn hidden_command(
        &mut self,
        line: &str,
        shown: &str,
        deadline: Deadline,
    ) -> Result<Reply, SmtpError> {
        let line = format!("{line}\r\n");
        self.wire
            .send_hidden(line.as_bytes(), shown, deadline)
            .await
            .map_err(|e| Phase::Auth.wire(e))?;
        self.wire.reply(deadline).await.map_err(|e| Phase::Auth.wire(e))
    }

    async fn hello(&mut self, me: &str, deadline: Deadline) -> Result<(), SmtpError> {
        let mut reply = self.command(&format!("EHLO {me}"), Phase::Ehlo, deadline).await?;
        if matches!(reply.code, 500 | 502 | 504) {
            // A server from before 1995, or one that pretends to be.
            reply = self.command(&format!("HELO {me}"), Phase::Ehlo, deadline).await?;
        }
        if reply.code != 250 {
            return Err(Phase::Ehlo.reply(reply));
        }
        self.capabilities = Capabilities::read(&reply);
        Ok(())
    }

    async fn start_tls(
        mut self,
        settings: &SmtpSettings,
        config: &Arc<rustls::ClientConfig>,
        deadline: Deadline,
    ) -> Result<Self, SmtpError> {
        if !self.capabilities.start_tls {
            return Err(Phase::StartTls.error(Cause::NotOffered("STARTTLS")));
        }
        let reply = self.command("STARTTLS", Phase::StartTls, deadline).await?;
        if reply.code != 220 {
            return Err(Phase::StartTls.reply(reply));
        }
        let log = self.wire.log.clone();
        let Some(stream) = self.wire.into_stream() else {
            let why = "the server spoke before the handshake".to_owned();
            return Err(Phase::StartTls.error(Cause::Tls(why)));
        };
        Ok(Self {
            wire: encrypt(stream, settings, config, deadline).await?.logged(log),
            // What was offered in the clear counts for nothing.
            capabilities: Capabilities::default(),
            born: self.born,
            used: 0,
        })
    }

    async fn log_in(&mut self, credentials: &Credentials<'_>, deadline: Deadline) -> Result<(), SmtpError> {
        let mechanism = match credentials {
            Credentials::None => return Ok(()),
            Credentials::Plain(..) => "PLAIN",
            Credentials::Login(..) => "LOGIN",
            Credentials::XOAuth2(..) => "XOAUTH2",
        };
        if !self.capabilities.mechanisms.iter().any(|m| m == mechanism) {
            return Err(Phase::Auth.error(Cause::NotOffered(mechanism)));
        }
        let (first, then) = match credentials {
            Credentials::None => return Ok(()),
            Credentials::Plain(user, password) => {
                let response = STANDARD.encode(format!("\0{user}\0{password}"));
                (format!("AUTH PLAIN {response}"), vec![response])
            }
            Credentials::Login(user, password) => (
                "AUTH LOGIN".to_owned(),
                vec![STANDARD.encode(user), STANDARD.encode(password)],
            ),
            // A challenge is the server's way to say why not; an empty line asks for the verdict.
            Credentials::XOAuth2(user, token) => (
                format!("AUTH XOAUTH2 {}", xoauth2(user, token)),
                vec![String::new()],
            ),
        };
        let shown = format!("AUTH {mechanism} {MASK}");
        let mut reply = self.hidden_command(&first, &shown, deadline).await?;
        for answer in then {
            if reply.code != 334 {
                break;
            }
            reply = self.hidden_command(&answer, MASK, deadline).await?;
        }
        if reply.code == 235 {
            Ok(())
        } else {
            Err(Phase::Auth.reply(reply))
        }
    }
}

/// The string that carries a token.
pub(super) fn xoauth2(user: &str, token: &str) -> String {
    STANDARD.encode(format!("user={user}\x01auth=Bearer {token}\x01\x01"))
}

async fn connect(
    settings: &SmtpSettings,
    vetting: &Vetting,
    deadline: Deadline,
) -> Result<TcpStream, SmtpError> {
    let addresses = vetting
        .resolve(&settings.host, deadline)
        .await
        .map_err(|e| Phase::Connect.error(Cause::Address(e)))?;
    let mut last = WireError::Timeout;
    for address in addresses {
        let socket = SocketAddr::new(address, settings.port);
        match timeout_at(
            deadline.within(CONNECT_TIMEOUT_PER_ADDRESS).0,
            TcpStream::connect(socket),
        )
        .await
        {
            Ok(Ok(stream)) => {
                // Without it every pipelined burst waits for the far end's delayed acknowledgement.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(error)) => last = WireError::Io(error),
            Err(_) => last = WireError::Timeout,
        }
    }
    Err(Phase::Connect.wire(last))
}

async fn encrypt(
    stream: Box<dyn Stream>,
    settings: &SmtpSettings,
    config: &Arc<rustls::ClientConfig>,
    deadline: Deadline,
) -> Result<Wire, SmtpError> {
    let failed = |why: String| Phase::StartTls.error(Cause::Tls(why));
    let name = ServerName::try_from(settings.host.clone()).map_err(|e| failed(e.to_string()))?;
    let handshake = TlsConnector::from(config.clone()).connect(name, stream);
    match timeout_at(deadline.0, handshake).await {
        Ok(Ok(secured)) => Ok(Wire::new(Box::new(secured))),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(_) => Err(Phase::StartTls.wire(WireError::Timeout)),
    }
}

/// Our own name, or else our address, as RFC 5321 has it for hosts without a name.
fn introduction(settings: &SmtpSettings, stream: &TcpStream) -> String {
    if let Some(name) = &settings.host_name {
        return name.clone();
    }
    match stream.local_addr().map(|a| a.ip().to_canonical()) {
        Ok(IpAddr::V4(ip)) => format!("[{ip}]"),
        Ok(IpAddr::V6(ip)) => format!("[IPv6:{ip}]"),
        Err(_) => settings.domain.clone(),
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("used", &self.used)
            .finish_non_exhaustive()
    }
}
