//! The end that asks.

use super::{
    About, HandIn, MESSAGE_BYTES, NotSent, PROTOCOL, SendAnswered, SendAsked, TakenIn,
    proof::{self, Side},
    send_wire,
    wire::{self, v1, v1::peer_client},
};
use crate::{
    address::Address,
    tls::ClientTls,
    transport::{Dial, Io, Tcp},
};
use domain::{
    SiteId, chain,
    pair::{Changes, Copied, Node, Rank, Relief, Row, Table, Value, lease::LEASE_TIMEOUT},
};
use hyper_util::rt::TokioIo;
use secrecy::SecretString;
use std::{collections::BTreeMap, fmt, io, sync::Arc, time::Duration};
use tokio::time::timeout;
use tonic::{
    Code, Response, Status,
    transport::{Channel, Endpoint},
};
use uuid::Uuid;

/// For a connection, and for both to prove themselves.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// For an answer that needs no work.
const LOOK_TIMEOUT: Duration = Duration::from_secs(2);
/// For an answer that carries rows.
const ROWS_TIMEOUT: Duration = Duration::from_secs(30);
/// For attempts under way to end at the other machine.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(90);
/// A ping this often; unanswered for as long again, the other is gone.
const KEEP_ALIVE: Duration = Duration::from_secs(4);

/// How the other machine is reached.
#[derive(Clone)]
pub struct PeerOptions {
    pub site: SiteId,
    pub key: SecretString,
    pub address: Address,
    /// Needed for an `https` address.
    pub tls: Option<ClientTls>,
    /// Plain text to another machine is refused unless this is set.
    pub insecure: bool,
    pub dial: Arc<dyn Dial>,
}

impl PeerOptions {
    pub fn new(site: SiteId, key: SecretString, address: Address) -> Self {
        Self {
            site,
            key,
            address,
            tls: None,
            insecure: false,
            dial: Arc::new(Tcp),
        }
    }
}

impl fmt::Debug for PeerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PeerOptions({} at {})", self.site, self.address)
    }
}

/// The other machine, which has proved that it is one.
#[derive(Debug, Clone)]
pub struct PeerSession {
    client: peer_client::PeerClient<Channel>,
    session: Vec<u8>,
    /// What it said when it was met.
    pub about: About,
    pub node: Node,
}

/// Connects, and has both prove that they hold the site's key. An error is why not, in words.
pub async fn connect(options: &PeerOptions, about: About, node: Node) -> Result<PeerSession, String> {
    let address = &options.address;
    match timeout(CONNECT_TIMEOUT, open(options, about, node)).await {
        Ok(done) => done.map_err(|why| format!("{address}: {why}")),
        Err(_) => Err(format!(
            "{address} did not answer within {} s",
            CONNECT_TIMEOUT.as_secs()
        )),
    }
}

async fn open(options: &PeerOptions, about: About, node: Node) -> Result<PeerSession, String> {
    let io = dial(options).await.map_err(|e| chain(&e))?;
    let endpoint = Endpoint::from_static("http://peer")
        .http2_keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE)
        .keep_alive_while_idle(true);
    let mut io = Some(TokioIo::new(io));
    let once = tower::service_fn(move |_| {
        let io = io
            .take()
            .ok_or_else(|| io::Error::other("the connection is over"));
        async move { io }
    });
    let channel = endpoint
        .connect_with_connector(once)
        .await
        .map_err(|e| chain(&e))?;
    let mut client = peer_client::PeerClient::new(channel)
        .max_decoding_message_size(MESSAGE_BYTES)
        .max_encoding_message_size(MESSAGE_BYTES);

    let (site, nonce) = (options.site.as_str(), proof::random()?);
    let meeting = v1::Meeting {
        protocol: PROTOCOL,
        site: site.to_owned(),
        nonce: nonce.clone(),
    };
    let met = answer(client.meet(meeting).await)?;
    let other = Uuid::from_slice(&met.id).map_err(|_| "it has no id".to_owned())?;
    if other == node.id {
        return Err("it is this machine, or its buffer is a copy of this one's".into());
    }
    let nonces = [nonce.as_slice(), met.nonce.as_slice()];
    if !proof::holds(&options.key, Side::Asked, site, nonces, other, &met.proof) {
        // So that the other machine has a line in its log as well. It is a stranger, and is told nothing.
        let farewell = v1::Entry {
            nonce: met.nonce,
            ..v1::Entry::default()
        };
        let _ = client.enter(farewell).await;
        return Err("it does not have the key of this site".into());
    }
    let entry = v1::Entry {
        proof: proof::prove(&options.key, Side::Asker, site, nonces, node.id),
        nonce: met.nonce,
        // What it can reach is told by the one who is asked: little is read of a stranger.
        about: Some(
            About {
                targets: BTreeMap::default(),
                ..about
            }
            .into(),
        ),
        node: Some(node.into()),
    };
    let entered = answer(client.enter(entry).await)?;
    Ok(PeerSession {
        client,
        session: entered.session,
        about: entered.about.unwrap_or_default().into(),
        node: entered.node.unwrap_or_default().try_into()?,
    })
}

async fn dial(options: &PeerOptions) -> io::Result<Box<dyn Io>> {
    let address = &options.address;
    if !address.tls && !address.is_loopback() && !options.insecure {
        return Err(io::Error::other(
            "messages would be sent in the clear; use https://, or set site.insecure = true",
        ));
    }
    let io = options.dial.dial(address).await?;
    match (&options.tls, address.tls) {
        (_, false) => Ok(io),
        (Some(tls), true) => tls.connect(&address.host, io).await,
        (None, true) => Err(io::Error::other("TLS is not set up")),
    }
}

fn answer<T>(answer: Result<Response<T>, Status>) -> Result<T, String> {
    match answer {
        Ok(answer) => Ok(answer.into_inner()),
        Err(status) if status.message().is_empty() => Err(status.code().to_string()),
        Err(status) => Err(status.message().to_owned()),
    }
}

async fn within<T>(
    time: Duration,
    question: impl Future<Output = Result<Response<T>, Status>>,
) -> Result<T, String> {
    match timeout(time, question).await {
        Ok(said) => answer(said),
        Err(_) => Err(format!("no answer came within {} s", time.as_secs())),
    }
}

impl PeerSession {
    fn asked(&self) -> v1::Asked {
        v1::Asked {
            session: self.session.clone(),
        }
    }

    /// Where it stands now.
    pub async fn look(&mut self) -> Result<Node, String> {
        let asked = self.asked();
        within(LOOK_TIMEOUT, self.client.look(asked)).await?.try_into()
    }

    /// What changed there after this place, which is on the disk here; none where its log does not go back so far.
    pub async fn changes(&mut self, after: i64) -> Result<Option<Changes>, String> {
        self.changes_for(after, false).await
    }

    /// The same for a whole copy, whose file is not in place yet.
    pub async fn changes_beside(&mut self, after: i64) -> Result<Option<Changes>, String> {
        self.changes_for(after, true).await
    }

    async fn changes_for(&mut self, after: i64, beside: bool) -> Result<Option<Changes>, String> {
        let from = v1::FollowFrom {
            session: self.session.clone(),
            after,
            beside,
        };
        wire::changes_in(within(ROWS_TIMEOUT, self.client.follow(from)).await?)
    }

    pub async fn copy(&mut self, table: Table, after: Option<Value>) -> Result<Copied, String> {
        let from = v1::CopyFrom {
            session: self.session.clone(),
            table: table.number(),
            after: after.map(Into::into),
        };
        wire::copied_in(within(ROWS_TIMEOUT, self.client.copy(from)).await?)
    }

    pub async fn hand_in(&mut self, handed: HandIn) -> Result<TakenIn, String> {
        let rows = |table: Table, rows: Vec<Row>| {
            let rows = rows.into_iter().map(|row| wire::row_out(table, row));
            rows.collect()
        };
        let handed = v1::HandedIn {
            session: self.session.clone(),
            messages: rows(Table::Messages, handed.messages),
            ended: rows(Table::Tracking, handed.ended),
            news: rows(Table::Telemetry, handed.news),
        };
        Ok(within(ROWS_TIMEOUT, self.client.hand_in(handed)).await?.into())
    }

    pub async fn step_down(&mut self) -> Result<Node, String> {
        let asked = self.asked();
        within(HANDOVER_TIMEOUT, self.client.step_down(asked))
            .await?
            .try_into()
    }

    /// Without a reason somebody said so.
    pub async fn take_over(&mut self, why: Option<Relief>) -> Result<Node, String> {
        let asked = v1::TakeOverAsked {
            session: self.session.clone(),
            why: wire::relief_out(why).into(),
        };
        within(HANDOVER_TIMEOUT, self.client.take_over(asked))
            .await?
            .try_into()
    }

    /// For how long it promises not to take over, or why it does not; an error is why there is no answer.
    pub async fn promise(&mut self, turn: Rank, lease: Duration) -> Result<Result<Duration, String>, String> {
        let asked = v1::AskPromise {
            session: self.session.clone(),
            counter: turn.0,
            id: turn.1.as_bytes().to_vec(),
            lease_ms: u64::try_from(lease.as_millis()).unwrap_or(u64::MAX),
        };
        let promised = within(LEASE_TIMEOUT, self.client.promise(asked)).await?;
        let lease = promised.lease_ms.map(Duration::from_millis);
        Ok(lease.ok_or(promised.reason))
    }

    /// Has the active one take this message in, within this time. Only what the other itself says in so many words is certain: a
    /// connection that broke may have carried the question.
    pub async fn send(&mut self, message: SendAsked, within: Duration) -> Result<SendAnswered, NotSent> {
        let asked = send_wire::asked_out(self.session.clone(), message);
        match timeout(within, self.client.send(asked)).await {
            Ok(Ok(answered)) => send_wire::answered_in(answered.into_inner()).map_err(NotSent::Unknown),
            Ok(Err(status)) => {
                let certain = matches!(
                    status.code(),
                    Code::FailedPrecondition | Code::Unauthenticated | Code::Unimplemented
                );
                let words = match status.message() {
                    "" => status.code().to_string(),
                    words => words.to_owned(),
                };
                Err(match certain {
                    true => NotSent::NotTaken(words),
                    false => NotSent::Unknown(words),
                })
            }
            Err(_) => Err(NotSent::Unknown(format!(
                "no answer came within {} s",
                within.as_secs()
            ))),
        }
    }
}
