//! An HTTP receiver that records what it is sent and answers as told, and a token endpoint next to it.
//!
//! Every path is a receiver except `/token`, which hands out access tokens for client credentials, and those of the
//! services that are played here, and `/simulator`, where it is controlled and looked at.

mod listener;
mod received;
mod script;
mod token;

pub use received::{HttpCounts, Received};
pub use script::{HttpAnswer, HttpAt, HttpRule, Reply};
pub use token::TokenEndpoint;

use crate::{
    control::{self, Control},
    dial::Dial,
    receipts::Receipts,
    services,
    smtp::SmtpServer,
    tls::Identity,
};
use axum::{
    body::Body,
    extract::{ConnectInfo, Request, State},
    response::{IntoResponse, Response},
    routing::post,
};
use futures_util::{StreamExt, stream};
use listener::{Connections, Cut};
use received::RequestLog;
use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

const LARGEST_BODY: usize = 8 << 20;

#[derive(Debug, Clone)]
pub struct HttpOptions {
    pub listen: SocketAddr,
    /// Speaks TLS with this certificate.
    pub tls: Option<Identity>,
    /// Requests kept to be looked at; the oldest go first. Counting goes on.
    pub keep: usize,
    /// Ids counted one by one; beyond that only totals.
    pub keep_ids: usize,
    /// A mail catcher that is shown and controlled at `/simulator` too.
    pub mail: Option<Arc<SmtpServer>>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            tls: None,
            keep: 1_000,
            keep_ids: 1_000_000,
            mail: None,
        }
    }
}

/// A running receiver. Dropping it stops it; [`HttpReceiver::stop`] also waits for the end.
#[derive(Debug)]
pub struct HttpReceiver {
    address: SocketAddr,
    tls: Option<Identity>,
    shared: Arc<ReceiverState>,
    server: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
pub(crate) struct ReceiverState {
    pub(crate) dial: Dial<HttpAt, HttpAnswer>,
    pub(crate) record: RequestLog,
    pub(crate) control: Control,
    tokens: TokenEndpoint,
    pub(crate) receipts: Receipts,
    pub(crate) stop: CancellationToken,
}

impl HttpReceiver {
    /// Listens, and answers 200 from now on.
    pub async fn start(options: HttpOptions) -> io::Result<Self> {
        let listener = TcpListener::bind(options.listen).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(ReceiverState {
            dial: Dial::default(),
            record: RequestLog::new(options.keep, options.keep_ids),
            control: Control::new(options.mail.clone()),
            tokens: TokenEndpoint::default(),
            receipts: Receipts::default(),
            stop: CancellationToken::new(),
        });
        let app = control::router()
            .route("/token", post(token))
            .fallback(receive)
            .with_state(shared.clone())
            .into_make_service_with_connect_info::<Cut>();
        let connections = Connections::new(listener, options.tls.clone(), shared.clone())?;
        let stop = shared.stop.clone();
        let server = tokio::spawn(async move {
            let serving = axum::serve(connections, app).with_graceful_shutdown(stop.cancelled_owned());
            if let Err(error) = serving.await {
                tracing::warn!(error = &error as &dyn std::error::Error, "receiver ended");
            }
        });
        Ok(Self {
            address,
            tls: options.tls,
            shared,
            server: tokio::sync::Mutex::new(Some(server)),
        })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of a path (`/hook`) as a URL.
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.address)
    }

    /// The root to trust, where the receiver speaks TLS.
    pub fn ca_pem(&self) -> Option<&str> {
        self.tls.as_ref().map(|identity| identity.ca_pem.as_str())
    }

    /// Misbehave like this as well.
    pub fn on(&self, rule: HttpRule) {
        self.shared.dial.add(rule);
    }

    /// Behave from now on.
    pub fn behave(&self) {
        self.shared.dial.clear();
    }

    pub fn tokens(&self) -> &TokenEndpoint {
        &self.shared.tokens
    }

    /// What the services that are played here tell later.
    pub fn receipts(&self) -> &Receipts {
        &self.shared.receipts
    }

    /// The requests kept, oldest first.
    pub fn requests(&self) -> Vec<Received> {
        self.shared.record.requests()
    }

    pub fn counts(&self) -> HttpCounts {
        self.shared.record.counts()
    }

    /// How often a request with this `webhook-id` was taken with a 2xx.
    pub fn deliveries_of(&self, id: &str) -> u32 {
        self.shared.record.deliveries_of(id)
    }

    /// Waits until this many requests were taken with a 2xx.
    pub async fn wait_for(&self, taken: u64) {
        self.wait_until(|counts| counts.taken >= taken).await;
    }

    /// Waits until the counts are as wanted.
    pub async fn wait_until(&self, wanted: impl Fn(&HttpCounts) -> bool) {
        self.shared.record.wait(wanted).await;
    }

    /// Forgets requests and counts.
    pub fn forget(&self) {
        self.shared.record.forget();
    }

    /// Answers what is under way, closes the rest, and waits for the end.
    pub async fn stop(&self) {
        self.shared.stop.cancel();
        if let Some(server) = self.server.lock().await.take() {
            let _ = server.await;
        }
    }
}

impl Drop for HttpReceiver {
    fn drop(&mut self) {
        self.shared.stop.cancel();
    }
}

async fn receive(
    State(shared): State<Arc<ReceiverState>>,
    ConnectInfo(cut): ConnectInfo<Cut>,
    request: Request,
) -> Response {
    let Some(received) = Received::read(request, LARGEST_BODY).await else {
        return axum::http::StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    shared.record.arrived();
    let decided = shared.dial.decide(|| HttpAt {
        path: received.path.clone(),
        id: received.id.clone(),
    });
    match decided {
        None => usual(&shared, received),
        Some((delay, HttpAnswer::Usual)) => {
            tokio::time::sleep(delay).await;
            usual(&shared, received)
        }
        Some((delay, HttpAnswer::BreakOff)) => {
            tokio::time::sleep(delay).await;
            broken_off(usual(&shared, received)).await
        }
        Some((delay, answer)) => {
            tokio::time::sleep(delay).await;
            shared.record.take(received, answer.takes());
            act(answer, &shared, &cut).await
        }
    }
}

/// Good behaviour: a service answers as it does, anybody else takes everything.
fn usual(shared: &ReceiverState, received: Received) -> Response {
    match services::answer(&received, shared.record.counts().requests) {
        Some(reply) => {
            if reply.takes() {
                shared.receipts.taken(&received, reply.body_text(), &shared.stop);
            }
            shared.record.take(received, reply.takes());
            reply.into_response()
        }
        None => {
            shared.record.take(received, true);
            axum::http::StatusCode::OK.into_response()
        }
    }
}

async fn token(
    State(shared): State<Arc<ReceiverState>>,
    ConnectInfo(cut): ConnectInfo<Cut>,
    body: String,
) -> Response {
    let decided = shared.dial.decide(|| HttpAt {
        path: "/token".into(),
        id: None,
    });
    if let Some((delay, answer)) = decided {
        tokio::time::sleep(delay).await;
        return act(answer, &shared, &cut).await;
    }
    shared.tokens.answer(&body)
}

async fn act(answer: HttpAnswer, shared: &ReceiverState, cut: &Cut) -> Response {
    match answer {
        HttpAnswer::Usual => axum::http::StatusCode::OK.into_response(),
        HttpAnswer::BreakOff => broken_off(axum::http::StatusCode::OK.into_response()).await,
        HttpAnswer::Reply(reply) => reply.into_response(),
        HttpAnswer::Cut => {
            cut.now();
            Response::new(Body::empty())
        }
        HttpAnswer::Stall => {
            shared.stop.cancelled().await;
            cut.now();
            Response::new(Body::empty())
        }
    }
}

/// The answer up to the middle of its body, where the connection breaks.
async fn broken_off(answer: Response) -> Response {
    let (parts, body) = answer.into_parts();
    let whole = axum::body::to_bytes(body, LARGEST_BODY).await.unwrap_or_default();
    let half = whole.slice(..whole.len() / 2);
    let broken = async {
        // Pending once, so that what came before is on its way.
        tokio::task::yield_now().await;
        Err(std::io::Error::other("broken off"))
    };
    let body = stream::iter([Ok(half)]).chain(stream::once(broken));
    let mut answer = Response::from_parts(parts, Body::from_stream(body));
    answer.headers_mut().remove(axum::http::header::CONTENT_LENGTH);
    answer
}
