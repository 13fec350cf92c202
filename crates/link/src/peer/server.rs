//! The end that is asked.

use super::{
    About, HandIn, MESSAGE_BYTES, NotSent, PROTOCOL, PeerHost,
    proof::{self, Side},
    send_wire,
    strangers::{Stranger, TurnedAway},
    wire::{self, v1, v1::peer_server},
};
use crate::transport::{Peer, Wire};
use domain::{SiteId, lock::lock, pair::Node};
use futures_util::Stream;
use secrecy::SecretString;
use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, async_trait, transport::Server};
use uuid::Uuid;

/// A ping this often; unanswered for as long again, the other is gone.
const KEEP_ALIVE: Duration = Duration::from_secs(4);
/// Numbers that were given out and not answered yet; a stranger's many take the place of its own.
const OPEN_NONCES: usize = 64;
/// Sessions at once: the other machine's (it follows, asks for the lease, passes messages on), and some that it has lost.
const SESSIONS: usize = 8;
/// Questions at once on one connection. A message that was passed on is tried before it is answered.
const STREAMS: u32 = 32;

/// Listens. Without TLS only this machine is listened to, unless that was forced: messages are sent as they are.
pub fn listen(address: SocketAddr, tls: bool, insecure: bool) -> io::Result<std::net::TcpListener> {
    if !tls && !insecure && !address.ip().is_loopback() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "site.replication.listen {address} is not loopback and has no TLS; set site.replication.tls_cert_file \
                 and site.replication.tls_key_file, or site.insecure = true"
            ),
        ));
    }
    let listener = std::net::TcpListener::bind(address)
        .map_err(|e| io::Error::new(e.kind(), format!("site.replication.listen {address}: {e}")))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Answers the other machine of this site until `stop`.
pub async fn serve<S>(
    incoming: S,
    site: SiteId,
    key: SecretString,
    host: Arc<dyn PeerHost>,
    stop: CancellationToken,
) -> io::Result<()>
where
    S: Stream<Item = io::Result<Wire>> + Send + 'static,
{
    let service = Service {
        site,
        key,
        host,
        nonces: Mutex::default(),
        sessions: Mutex::default(),
        turned_away: TurnedAway::default(),
    };
    let service = peer_server::PeerServer::new(service)
        .max_decoding_message_size(MESSAGE_BYTES)
        .max_encoding_message_size(MESSAGE_BYTES);
    Server::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .http2_keepalive_timeout(Some(KEEP_ALIVE))
        .max_concurrent_streams(STREAMS)
        .add_service(service)
        .serve_with_incoming_shutdown(incoming, stop.cancelled_owned())
        .await
        .map_err(io::Error::other)
}

struct Service {
    site: SiteId,
    key: SecretString,
    host: Arc<dyn PeerHost>,
    /// What the asker said and what was answered.
    nonces: Mutex<VecDeque<(Vec<u8>, Vec<u8>)>>,
    sessions: Mutex<VecDeque<(Vec<u8>, Uuid)>>,
    turned_away: TurnedAway,
}

impl Service {
    /// Whose session it is.
    #[allow(clippy::result_large_err, reason = "a gRPC status is what the caller returns")]
    fn session(&self, session: &[u8]) -> Result<Uuid, Status> {
        let sessions = lock(&self.sessions);
        let found = sessions.iter().find(|(open, _)| open == session);
        let found = found.filter(|_| !session.is_empty()).map(|(_, id)| *id);
        found.ok_or_else(|| Status::unauthenticated("the session is not known here (any more)"))
    }

    /// Whose session it is that a question comes by.
    async fn asked(&self, session: &[u8]) -> Result<Uuid, Status> {
        let other = self.session(session)?;
        self.host.asks().await.map_err(refused)?;
        Ok(other)
    }

    fn open(&self, id: Uuid, session: Vec<u8>) {
        let mut sessions = lock(&self.sessions);
        sessions.truncate(SESSIONS - 1);
        sessions.push_front((session, id));
    }

    /// Each number is good for one answer.
    fn take_nonce(&self, nonce: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut nonces = lock(&self.nonces);
        let place = nonces.iter().position(|(_, ours)| ours == nonce)?;
        nonces.remove(place)
    }

    fn has_key(&self, entry: &v1::Entry, id: Uuid) -> bool {
        let Some((asker, asked)) = self.take_nonce(&entry.nonce) else {
            return false;
        };
        proof::holds(
            &self.key,
            Side::Asker,
            self.site.as_str(),
            [&asker, &asked],
            id,
            &entry.proof,
        )
    }
}

fn refused(why: String) -> Status {
    Status::failed_precondition(why)
}

#[async_trait]
impl peer_server::Peer for Service {
    async fn meet(&self, request: Request<v1::Meeting>) -> Result<Response<v1::Met>, Status> {
        let peer = request.extensions().get::<Peer>().cloned();
        let meeting = request.into_inner();
        if let Some(stranger) = Stranger::of(&meeting, &self.site) {
            return Err(self.turned_away.turn_away(&stranger, peer.as_ref()));
        }
        let nonce = proof::random().map_err(Status::internal)?;
        let id = self.host.node().await.map_err(Status::unavailable)?.id;
        let nonces = [meeting.nonce.as_slice(), nonce.as_slice()];
        let proof = proof::prove(&self.key, Side::Asked, self.site.as_str(), nonces, id);
        let mut open = lock(&self.nonces);
        open.truncate(OPEN_NONCES - 1);
        open.push_front((meeting.nonce, nonce.clone()));
        Ok(Response::new(v1::Met {
            protocol: PROTOCOL,
            nonce,
            id: id.as_bytes().to_vec(),
            proof,
        }))
    }

    async fn enter(&self, request: Request<v1::Entry>) -> Result<Response<v1::Entered>, Status> {
        let peer = request.extensions().get::<Peer>().cloned();
        let mut entry = request.into_inner();
        let wrong_key = || self.turned_away.turn_away(&Stranger::WrongKey, peer.as_ref());
        if entry.proof.is_empty() {
            // It has noticed that the keys differ, and says nothing of itself.
            self.take_nonce(&entry.nonce);
            return Err(wrong_key());
        }
        let node = entry.node.take().unwrap_or_default();
        let other = Node::try_from(node).map_err(Status::invalid_argument)?;
        if !self.has_key(&entry, other.id) {
            return Err(wrong_key());
        }
        let about = About::from(entry.about.unwrap_or_default());
        self.host
            .met(about, other.clone())
            .await
            .inspect_err(|why| tracing::warn!(reason = why, "the other machine of this site was turned away"))
            .map_err(refused)?;
        if let Some(peer) = peer {
            peer.let_in();
        }
        let session = proof::random().map_err(Status::internal)?;
        self.open(other.id, session.clone());
        let node = self.host.node().await.map_err(Status::unavailable)?;
        Ok(Response::new(v1::Entered {
            session,
            about: Some(self.host.about().into()),
            node: Some(node.into()),
        }))
    }

    async fn look(&self, request: Request<v1::Asked>) -> Result<Response<v1::Node>, Status> {
        self.asked(&request.into_inner().session).await?;
        let node = self.host.node().await.map_err(Status::unavailable)?;
        Ok(Response::new(node.into()))
    }

    async fn follow(&self, request: Request<v1::FollowFrom>) -> Result<Response<v1::Changes>, Status> {
        let from = request.into_inner();
        let other = self.asked(&from.session).await?;
        let changes = match from.beside {
            false => self.host.changes(other, from.after).await,
            true => self.host.changes_beside(from.after).await,
        };
        let changes = changes.map_err(Status::unavailable)?;
        Ok(Response::new(wire::changes_out(changes)))
    }

    async fn copy(&self, request: Request<v1::CopyFrom>) -> Result<Response<v1::Copied>, Status> {
        let from = request.into_inner();
        self.asked(&from.session).await?;
        let table = wire::table_in(from.table).map_err(Status::invalid_argument)?;
        let copied = self.host.copy(table, from.after.map(Into::into)).await;
        let copied = copied.map_err(Status::unavailable)?;
        Ok(Response::new(wire::copied_out(table, copied)))
    }

    async fn hand_in(&self, request: Request<v1::HandedIn>) -> Result<Response<v1::TakenIn>, Status> {
        let handed = request.into_inner();
        self.asked(&handed.session).await?;
        let rows = |rows| wire::rows_in(rows).map_err(Status::invalid_argument);
        let handed = HandIn {
            messages: rows(handed.messages)?,
            ended: rows(handed.ended)?,
            news: rows(handed.news)?,
        };
        let taken = self.host.hand_in(handed).await;
        Ok(Response::new(taken.map_err(refused)?.into()))
    }

    async fn step_down(&self, request: Request<v1::Asked>) -> Result<Response<v1::Node>, Status> {
        self.asked(&request.into_inner().session).await?;
        Ok(Response::new(
            self.host.step_down().await.map_err(refused)?.into(),
        ))
    }

    async fn take_over(&self, request: Request<v1::TakeOverAsked>) -> Result<Response<v1::Node>, Status> {
        let asked = request.into_inner();
        self.asked(&asked.session).await?;
        let node = self.host.take_over(wire::relief_in(asked.why())).await;
        Ok(Response::new(node.map_err(refused)?.into()))
    }

    async fn promise(&self, request: Request<v1::AskPromise>) -> Result<Response<v1::Promised>, Status> {
        let asked = request.into_inner();
        self.asked(&asked.session).await?;
        let id = Uuid::from_slice(&asked.id)
            .map_err(|_| Status::invalid_argument("the id of a turn has 16 bytes"))?;
        let lease = Duration::from_millis(asked.lease_ms);
        let promised = self.host.promise((asked.counter, id), lease).await;
        Ok(Response::new(match promised {
            Ok(lease) => v1::Promised {
                lease_ms: Some(u64::try_from(lease.as_millis()).unwrap_or(u64::MAX)),
                reason: String::new(),
            },
            Err(reason) => v1::Promised {
                lease_ms: None,
                reason,
            },
        }))
    }

    async fn send(&self, request: Request<v1::SendAsked>) -> Result<Response<v1::SendAnswered>, Status> {
        let asked = request.into_inner();
        self.asked(&asked.session).await?;
        let message = send_wire::asked_in(asked).map_err(refused)?;
        match self.host.send(message).await {
            Ok(answered) => Ok(Response::new(send_wire::answered_out(answered))),
            Err(NotSent::NotTaken(why)) => Err(refused(why)),
            Err(NotSent::Unknown(why)) => Err(Status::unknown(why)),
        }
    }
}
