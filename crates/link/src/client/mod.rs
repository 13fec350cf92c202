//! The site's end of the link: [`LinkClient`] is an [`Uplink`] that keeps itself connected while [`LinkClient::run`]
//! runs.
//!
//! Leaves to others: what to send and when to try again (`site`), how long to wait between dials (`domain::retry`).
//! Always true: a call made while the link is down answers `Down` at once; one that is under way when it breaks
//! answers `Down` then; none hangs.

mod caller;
mod connect;
mod reasons;
mod run;
mod session;
mod standby;
mod witness;
mod words;

pub use standby::StandbyClient;
pub use witness::WitnessClient;

use crate::{
    address::Address,
    message::{Ack, Down, Forward, LinkState, RemoteStatus},
    sizes::{FRAME_BYTES, FRAME_ITEMS},
    tls::ClientTls,
    transport::{Dial, Tcp},
    uplink::Uplink,
    wire::v1,
};
use async_trait::async_trait;
use domain::{Clock, Jitter, NotificationId, SiteId, SystemClock, lock::lock, pair::Rank, site::Telemetry};
use futures_util::future::join_all;
use prost::Message;
use reasons::Reasons;
use secrecy::SecretString;
use session::Session;
use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::watch;
use uuid::Uuid;

pub use crate::sizes::ITEM_BYTES;

/// How a site reaches central.
#[derive(Clone)]
pub struct Options {
    pub site: SiteId,
    pub node: String,
    /// The program's version, shown at central.
    pub version: String,
    /// Names the agent's buffer: two agents that were given one site id are told apart by it.
    pub buffer: Uuid,
    /// Names this run of the agent.
    pub run: Uuid,
    /// Of a machine of a pair: the turn it is active in.
    pub turn: Option<Rank>,
    pub key: SecretString,
    /// Tried one after the other.
    pub central: Vec<Address>,
    /// Needed for `https` addresses.
    pub tls: Option<ClientTls>,
    /// Plain text to another machine is refused unless this is set.
    pub insecure: bool,
    /// Unanswered batches at once, if central allows as many.
    pub window: usize,
    pub pace: Pace,
    pub dial: Arc<dyn Dial>,
    pub clock: Arc<dyn Clock>,
    /// Where the random share of the wait between dials comes from.
    pub jitter: Arc<dyn Fn() -> Jitter + Send + Sync>,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Options({} -> {:?})", self.site, self.central)
    }
}

/// How patient a site is with central.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// For a connection, and again for central's welcome.
    pub connect: Duration,
    /// For an answer; then the link is given up and dialled again.
    pub answer: Duration,
    /// A ping this often; unanswered for as long again, the peer is dead.
    pub keep_alive: Duration,
    /// How often the site reports.
    pub report: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            answer: Duration::from_secs(60),
            keep_alive: Duration::from_secs(8),
            report: Duration::from_secs(5),
        }
    }
}

impl Options {
    pub fn new(site: SiteId, key: SecretString, central: Vec<Address>) -> Self {
        Self {
            site,
            node: String::new(),
            version: env!("CARGO_PKG_VERSION").into(),
            buffer: Uuid::nil(),
            run: Uuid::new_v4(),
            turn: None,
            key,
            central,
            tls: None,
            insecure: false,
            window: 8,
            pace: Pace::default(),
            dial: Arc::new(Tcp),
            clock: Arc::new(SystemClock),
            jitter: Arc::new(Jitter::random),
        }
    }

    /// What is wrong with them, as (configuration key, what it takes).
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut bad = vec![];
        if self.central.is_empty() {
            bad.push(("site.central", "must name at least one address".into()));
        }
        for address in &self.central {
            if let Some(danger) = address.danger().filter(|_| !self.insecure) {
                bad.push(("site.central", danger));
            }
            if address.tls && self.tls.is_none() {
                bad.push(("site.ca_file", format!("TLS is not set up for {address}")));
            }
        }
        bad
    }
}

/// Central, over gRPC. Clones are the same link.
#[derive(Clone)]
pub struct LinkClient(Arc<Inner>);

struct Inner {
    options: Options,
    state: watch::Sender<LinkState>,
    session: Mutex<Option<Arc<Session>>>,
    /// Why it is down, as logged so far.
    reasons: Mutex<Reasons>,
}

impl fmt::Debug for LinkClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LinkClient({})", self.0.options.site)
    }
}

impl LinkClient {
    /// A link that is down until [`LinkClient::run`] runs.
    pub fn new(options: Options) -> Self {
        let state = LinkState::Down {
            since: options.clock.now(),
            why: "not connected yet".into(),
        };
        Self(Arc::new(Inner {
            options,
            state: watch::Sender::new(state),
            session: Mutex::default(),
            reasons: Mutex::default(),
        }))
    }

    fn session(&self) -> Result<Arc<Session>, Down> {
        let session = lock(&self.0.session).clone();
        session.ok_or_else(|| match &*self.0.state.borrow() {
            LinkState::Down { since, why } => Down {
                since: *since,
                why: why.clone(),
            },
            LinkState::Up { since, .. } => Down {
                since: *since,
                why: "the link has just gone down".into(),
            },
        })
    }

    fn broke(&self, why: String) -> Down {
        Down {
            since: self.0.options.clock.now(),
            why,
        }
    }
}

#[async_trait]
impl Uplink for LinkClient {
    async fn submit(&self, batch: Vec<Forward>) -> Result<Vec<Ack>, Down> {
        let session = self.session()?;
        let frames = frames(batch);
        let answers = join_all(frames.into_iter().map(|frame| async {
            match frame {
                Frame::TooLarge(bytes) => Ok(vec![too_large(bytes)]),
                Frame::Send(notifications) => session.submit(notifications).await,
            }
        }))
        .await;
        whole(answers).map_err(|why| self.broke(why))
    }

    async fn status(&self, id: NotificationId) -> Result<Option<RemoteStatus>, Down> {
        let session = self.session()?;
        session.status(id).await.map_err(|why| self.broke(why))
    }

    async fn telemetry(&self, batch: Vec<Telemetry>) -> Result<Vec<bool>, Down> {
        let session = self.session()?;
        let mut heard = Vec::with_capacity(batch.len());
        let mut rest = batch.into_iter().peekable();
        while rest.peek().is_some() {
            let news = rest.by_ref().take(FRAME_ITEMS).map(Into::into).collect();
            heard.extend(session.telemetry(news).await.map_err(|why| self.broke(why))?);
        }
        Ok(heard)
    }

    fn state(&self) -> watch::Receiver<LinkState> {
        self.0.state.subscribe()
    }
}

#[derive(Debug, PartialEq)]
enum Frame {
    Send(Vec<v1::Notification>),
    /// One notification of so many bytes, which the link does not carry.
    TooLarge(usize),
}

/// The batch cut into frames, in order.
fn frames(batch: Vec<Forward>) -> Vec<Frame> {
    let mut frames = vec![];
    let mut open: Vec<v1::Notification> = vec![];
    let mut bytes = 0;
    for item in batch {
        let item = v1::Notification::from(item);
        let weight = item.encoded_len();
        let full = open.len() >= FRAME_ITEMS || bytes + weight > FRAME_BYTES;
        if !open.is_empty() && (full || weight > ITEM_BYTES) {
            frames.push(Frame::Send(std::mem::take(&mut open)));
            bytes = 0;
        }
        if weight > ITEM_BYTES {
            frames.push(Frame::TooLarge(weight));
        } else {
            bytes += weight;
            open.push(item);
        }
    }
    if !open.is_empty() {
        frames.push(Frame::Send(open));
    }
    frames
}

fn too_large(bytes: usize) -> Ack {
    Ack::Refused(format!(
        "the notification takes {bytes} bytes; central accepts at most {ITEM_BYTES}"
    ))
}

/// The answers of all frames as one. What is known is told: only when nothing is does the whole fail.
fn whole(frames: Vec<Result<Vec<Ack>, (usize, String)>>) -> Result<Vec<Ack>, String> {
    if let [first, ..] = frames.as_slice()
        && frames.iter().all(Result::is_err)
        && let Err((_, why)) = first
    {
        return Err(why.clone());
    }
    let known = frames.into_iter().flat_map(|frame| match frame {
        Ok(acks) => acks,
        Err((items, why)) => vec![Ack::NotNow(why); items],
    });
    Ok(known.collect())
}
