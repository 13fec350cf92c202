//! Central's end of the link: takes connections, asks the [`Gateway`] whom to admit, and carries questions and
//! answers for those who are.
//!
//! Leaves to others: who may speak for a site, storing, answering (`central::sites`).
//! Always true: before a site is admitted nothing is asked of the gateway in its name, and it can neither say much nor
//! stay long; at the stop, batches under way are answered before the link is closed.

mod accept;
mod door;
mod gateway;
mod remote;
mod session;

pub use accept::{listen, tcp};
pub(crate) use door::Place;
pub use gateway::{FromStandby, Gateway, LeaseRequest, Refusal, SiteHello, SiteSession};
pub use remote::{RelayFailed, RemoteSite};

use crate::{
    PROTOCOL,
    lease::{ask_in, rank_in},
    transport::{Peer, Wire},
    wire::v1::{self, from_site::What, link_server},
};
use domain::{SiteId, pair::lease::LEASE_TIMEOUT, submission::limit};
use futures_util::Stream;
use secrecy::SecretString;
use std::{io, sync::Arc, time::Duration};
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tonic::{Request, Response, Status, Streaming, async_trait, codegen::BoxStream, transport::Server};
use uuid::Uuid;

/// Batches of one site that are worked on at once; more wait on the wire.
pub const WINDOW: usize = 16;
/// How long a stranger may take to say hello.
const HELLO: Duration = Duration::from_secs(10);
/// A ping this often; unanswered for as long again, the site is gone.
const KEEP_ALIVE: Duration = Duration::from_secs(8);
/// How long batches under way may take after the stop.
const GRACE: Duration = Duration::from_secs(10);

/// What central says of itself.
#[derive(Debug, Clone)]
pub struct Identity {
    pub node: String,
    pub version: String,
}

/// Serves sites that come in by `incoming` until `stop`; then says goodbye and lets batches under way finish.
pub async fn serve<S>(
    incoming: S,
    identity: Identity,
    gateway: Arc<dyn Gateway>,
    stop: CancellationToken,
) -> io::Result<()>
where
    S: Stream<Item = io::Result<Wire>> + Send + 'static,
{
    let sessions = TaskTracker::new();
    let service = Service {
        identity,
        gateway,
        sessions: sessions.clone(),
        stop: stop.clone(),
    };
    let service = link_server::LinkServer::new(service)
        .max_decoding_message_size(crate::sizes::MESSAGE_BYTES)
        .max_encoding_message_size(crate::sizes::MESSAGE_BYTES);
    let server = Server::builder()
        .http2_keepalive_interval(Some(KEEP_ALIVE))
        .http2_keepalive_timeout(Some(KEEP_ALIVE))
        .initial_stream_window_size(4 << 20)
        .initial_connection_window_size(8 << 20)
        .max_concurrent_streams(4)
        .add_service(service)
        .serve_with_incoming_shutdown(incoming, stop.clone().cancelled_owned());
    let served = tokio::select! {
        served = server => served.map_err(io::Error::other),
        () = async { stop.cancelled().await; sleep(GRACE).await } => Ok(()),
    };
    sessions.close();
    timeout(GRACE, sessions.wait()).await.ok();
    served
}

struct Service {
    identity: Identity,
    gateway: Arc<dyn Gateway>,
    sessions: TaskTracker,
    stop: CancellationToken,
}

#[async_trait]
impl link_server::Link for Service {
    type ConnectStream = BoxStream<v1::FromCentral>;

    async fn connect(
        &self,
        request: Request<Streaming<v1::FromSite>>,
    ) -> Result<Response<Self::ConnectStream>, Status> {
        let peer = request.extensions().get::<Peer>().cloned();
        let name = peer.as_ref().map_or("unknown", |peer| &*peer.name).to_owned();
        let mut inbound = request.into_inner();
        let first = timeout(HELLO, inbound.message())
            .await
            .map_err(|_| Status::deadline_exceeded("no hello came"))??;
        let Some(What::Hello(hello)) = first.and_then(|f| f.what) else {
            return Err(Status::invalid_argument("the first thing a site says is hello"));
        };
        let hello = check(hello, name, &self.identity.version)?;
        let (out, frames) = mpsc::channel(64);
        let remote = RemoteSite::new(out);
        remote.is_in(hello.turn);
        let site = hello.site.clone();
        let session = self
            .gateway
            .admit(hello, remote.clone())
            .await
            .map_err(|refusal| {
                tracing::warn!(site.id = %site, reason = %refusal, "a site was not admitted");
                refused(refusal)
            })?;
        if let Some(peer) = peer {
            peer.let_in();
        }
        let welcome = v1::Welcome {
            protocol: PROTOCOL,
            version: self.identity.version.clone(),
            node: self.identity.node.clone(),
            database: Some(session.database().borrow().clone().into()),
            window: WINDOW as u32,
        };
        remote.say(0, v1::from_central::What::Welcome(welcome)).await;
        self.sessions
            .spawn(session::run(inbound, remote, session, self.stop.clone()));
        let frames = ReceiverStream::new(frames);
        Ok(Response::new(Box::pin(futures_util::StreamExt::map(frames, Ok))))
    }

    async fn lease(&self, request: Request<v1::AskLease>) -> Result<Response<v1::LeaseAnswer>, Status> {
        let peer = request.extensions().get::<Peer>().cloned();
        let mut asked = request.into_inner();
        let site = site_in(&asked.site)?;
        let asked = LeaseRequest {
            key: SecretString::from(std::mem::take(&mut asked.key)),
            ask: ask_in(asked).map_err(Status::invalid_argument)?,
            site,
        };
        // Whoever asked has given up by then: an answer that comes later than that would be counted wrongly.
        let answer = timeout(LEASE_TIMEOUT, self.gateway.lease(asked)).await;
        let answer = answer.map_err(|_| Status::deadline_exceeded("central took too long"))?;
        let answer = answer.map_err(refused)?;
        if let Some(peer) = peer {
            peer.let_in();
        }
        Ok(Response::new(answer.into()))
    }

    async fn submit_beside(
        &self,
        request: Request<v1::SubmitFromStandby>,
    ) -> Result<Response<v1::Acks>, Status> {
        let peer = request.extensions().get::<Peer>().cloned();
        let v1::SubmitFromStandby {
            site,
            key,
            notifications,
        } = request.into_inner();
        let site = site_in(&site)?;
        if notifications.len() > session::MOST_AT_ONCE {
            return Err(Status::invalid_argument(session::TOO_MANY));
        }
        let key = SecretString::from(key);
        let handed = session::submitted(notifications, async |batch| {
            self.gateway.submit_beside(FromStandby { site, key, batch }).await
        });
        let acks = handed.await.map_err(refused)?;
        if let Some(peer) = peer {
            peer.let_in();
        }
        Ok(Response::new(acks))
    }
}

#[allow(clippy::result_large_err, reason = "a gRPC status is what the caller returns")]
fn site_in(site: &str) -> Result<SiteId, Status> {
    SiteId::parse(site).map_err(|why| Status::invalid_argument(format!("the site id {site:?} {why}")))
}

fn refused(refusal: Refusal) -> Status {
    match refusal {
        Refusal::Denied(why) => Status::permission_denied(why),
        Refusal::NotNow(why) => Status::unavailable(why),
    }
}

/// What can be said about a hello without asking who it is.
#[allow(clippy::result_large_err, reason = "a gRPC status is what the caller returns")]
fn check(hello: v1::Hello, peer: String, ours: &str) -> Result<SiteHello, Status> {
    if hello.protocol != PROTOCOL {
        let older = if hello.protocol > PROTOCOL {
            "central"
        } else {
            "the site's agent"
        };
        return Err(Status::failed_precondition(format!(
            "site {:?} (waypost {}) speaks link version {}, this central (waypost {ours}) speaks {PROTOCOL}; {older} has to be updated",
            hello.site, hello.version, hello.protocol
        )));
    }
    let site = site_in(&hello.site)?;
    for (what, text) in [("node", &hello.node), ("version", &hello.version)] {
        if text.chars().count() > limit::NAME {
            let words = format!("the {what} of a site may have at most {} characters", limit::NAME);
            return Err(Status::invalid_argument(words));
        }
    }
    Ok(SiteHello {
        site,
        node: hello.node,
        version: hello.version,
        buffer: Uuid::from_slice(&hello.buffer).unwrap_or_default(),
        run: Uuid::from_slice(&hello.run).unwrap_or_default(),
        turn: hello.turn.and_then(|turn| rank_in(Some(turn)).ok()),
        key: SecretString::from(hello.key),
        peer,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_version_is_refused_with_who_has_to_be_updated() {
        let hello = |protocol| v1::Hello {
            protocol,
            site: "north".into(),
            version: "9.9".into(),
            ..v1::Hello::default()
        };
        let refused = |protocol| check(hello(protocol), "pipe".into(), "0.1.0").unwrap_err();
        assert_eq!(
            refused(PROTOCOL + 1).message(),
            "site \"north\" (waypost 9.9) speaks link version 2, this central (waypost 0.1.0) speaks 1; central has to be updated"
        );
        assert!(
            refused(0)
                .message()
                .ends_with("the site's agent has to be updated")
        );
        assert_eq!(refused(0).code(), tonic::Code::FailedPrecondition);
        assert!(check(hello(PROTOCOL), "pipe".into(), "0.1.0").is_ok());
        let endless = v1::Hello {
            node: "n".repeat(limit::NAME + 1),
            ..hello(PROTOCOL)
        };
        assert!(check(endless, "pipe".into(), "0.1.0").is_err());
    }
}
