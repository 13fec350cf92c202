//! A mail server that catches what it is given and misbehaves as told.

mod auth;
mod caught;
mod login;
mod message;
mod readable;
mod script;
mod session;

pub use auth::{Credential, Mechanism};
pub use caught::{Counts, Mail};
pub use script::{Answer, At, Phase, SmtpRule};

use crate::{dial::Dial, tls::Identity};
use auth::Credentials;
use caught::Caught;
use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// After a failed accept, usually for want of file descriptors.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(20);

/// What the server offers from the start.
#[derive(Debug, Clone)]
pub struct SmtpOptions {
    pub listen: SocketAddr,
    pub tls: TlsMode,
    pub pipelining: bool,
    /// Mechanisms offered; none means that AUTH is not offered at all.
    pub auth: Vec<Mechanism>,
    /// Whether MAIL is refused with 530 before AUTH.
    pub require_auth: bool,
    /// Some servers answer DATA with 354 although no recipient was accepted.
    pub data_without_recipients: bool,
    /// Mails kept to be looked at; the oldest go first. Counting goes on.
    pub keep: usize,
    /// Notification ids counted one by one; beyond that only totals.
    pub keep_ids: usize,
}

#[derive(Debug, Clone, Default)]
pub enum TlsMode {
    #[default]
    None,
    StartTls(Identity),
    Implicit(Identity),
}

impl Default for SmtpOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            tls: TlsMode::None,
            pipelining: true,
            auth: vec![],
            require_auth: false,
            data_without_recipients: false,
            keep: 1_000,
            keep_ids: 1_000_000,
        }
    }
}

/// A running server. Dropping it stops it; [`SmtpServer::stop`] also waits for its connections to end.
#[derive(Debug)]
pub struct SmtpServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    tasks: TaskTracker,
}

#[derive(Debug)]
struct Shared {
    options: SmtpOptions,
    dial: Dial<At, Answer>,
    credentials: Credentials,
    caught: Caught,
    pipelining: AtomicBool,
    stop: CancellationToken,
}

impl SmtpServer {
    /// Listens, and answers from now on.
    pub async fn start(options: SmtpOptions) -> io::Result<Self> {
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            dial: Dial::default(),
            credentials: Credentials::default(),
            caught: Caught::new(options.keep, options.keep_ids),
            pipelining: AtomicBool::new(options.pipelining),
            stop: CancellationToken::new(),
            options,
        });
        let tasks = TaskTracker::new();
        tasks.spawn(accept(listener, shared.clone(), tasks.clone()));
        Ok(Self {
            address,
            shared,
            tasks,
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The root to trust, where the server speaks TLS.
    pub fn ca_pem(&self) -> Option<&str> {
        match &self.shared.options.tls {
            TlsMode::None => None,
            TlsMode::StartTls(identity) | TlsMode::Implicit(identity) => Some(&identity.ca_pem),
        }
    }

    /// Misbehave like this as well.
    pub fn on(&self, rule: SmtpRule) {
        self.shared.dial.add(rule);
    }

    /// Behave from now on.
    pub fn behave(&self) {
        self.shared.dial.clear();
    }

    pub fn set_pipelining(&self, offered: bool) {
        self.shared.pipelining.store(offered, Ordering::Relaxed);
    }

    /// Only these credentials are good from now on; with none set, all are.
    pub fn accept_credentials(&self, credentials: Vec<Credential>) {
        self.shared.credentials.replace(credentials);
    }

    /// The mails kept, oldest first.
    pub fn mails(&self) -> Vec<Mail> {
        self.shared.caught.mails()
    }

    pub fn counts(&self) -> Counts {
        self.shared.caught.counts()
    }

    /// How often each recipient got the notification of this id.
    pub fn deliveries_of(&self, id: &str) -> Vec<(String, u32)> {
        self.shared.caught.deliveries_of(id)
    }

    /// Waits until this many mails have been caught in all.
    pub async fn wait_for(&self, mails: u64) {
        self.shared.caught.wait(|counts| counts.mails >= mails).await;
    }

    /// Waits until the counts are as wanted.
    pub async fn wait_until(&self, wanted: impl Fn(&Counts) -> bool) {
        self.shared.caught.wait(wanted).await;
    }

    /// Forgets mails and counts.
    pub fn forget(&self) {
        self.shared.caught.forget();
    }

    /// Closes the listener and every connection, and waits until they are gone.
    pub async fn stop(&self) {
        self.shared.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, tasks: TaskTracker) {
    let stop = shared.stop.clone();
    let serve = async {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let shared = shared.clone();
                    let number = shared.caught.connected();
                    tasks.spawn(async move {
                        let stop = shared.stop.clone();
                        stop.run_until_cancelled(session::converse(stream, shared.clone(), number))
                            .await;
                        shared.caught.disconnected();
                    });
                }
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "accepting failed");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            }
        }
    };
    stop.run_until_cancelled(serve).await;
}
