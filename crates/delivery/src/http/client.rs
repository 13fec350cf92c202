//! The HTTP client of all adapters. Connections are kept, redirects are not followed, and no proxy is used: it would
//! resolve names for us.

use super::{
    body::{Sent, Watched},
    no_answer, unanswered,
};
use crate::{adapter::Deadline, vet::Vetting};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use domain::Failure;
use futures_util::{FutureExt, future::BoxFuture};
use hyper::{Request, body::Incoming, header::HeaderValue};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{
        self,
        connect::{
            HttpConnector,
            dns::{GaiResolver, Name},
        },
    },
    rt::{TokioExecutor, TokioTimer},
};
use rustls::ClientConfig;
use std::{
    error::Error,
    fmt,
    net::SocketAddr,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::time::timeout_at;
use tower_service::Service;

pub(crate) type Response = hyper::Response<Incoming>;

/// Shorter than the shortest keep-alive of common servers, so that we seldom write into a closing connection.
const CONNECTION_IDLE_LIMIT: Duration = Duration::from_secs(4);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub(crate) struct Client(legacy::Client<HttpsConnector<HttpConnector<Names>>, Watched>);

impl Client {
    pub fn new(tls: ClientConfig, names: Names) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(names);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        tcp.enforce_http(false);
        let either = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_all_versions()
            .wrap_connector(tcp);
        let client = legacy::Client::builder(TokioExecutor::new())
            .pool_idle_timeout(CONNECTION_IDLE_LIMIT)
            .pool_timer(TokioTimer::new())
            .build(either);
        Self(client)
    }

    /// Makes one attempt. Whether the far end may have got it is in the failure.
    /// Not an `async fn`, which would keep the request beside its copy in the client for as long as it waits.
    pub fn send(
        &self,
        request: Request<Bytes>,
        deadline: Deadline,
    ) -> impl Future<Output = Result<Response, Failure>> + use<> {
        let (parts, body) = request.into_parts();
        let (sent, body) = Sent::of(body);
        let request = Request::from_parts(parts, body);
        timeout_at(deadline.0, self.0.request(request)).map(move |answered| match answered {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(no_answer(&error, sent.get())),
            Err(_) => Err(unanswered(sent.get(), "TIMEOUT", "no answer in time".to_owned())),
        })
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

pub(crate) fn user_agent() -> HeaderValue {
    HeaderValue::from_static(concat!("Waypost/", env!("CARGO_PKG_VERSION")))
}

/// The value of `authorization` for a user and a password.
pub(crate) fn basic(user: &str, password: &str) -> Option<HeaderValue> {
    let encoded = STANDARD.encode(format!("{user}:{password}"));
    let mut value = HeaderValue::try_from(format!("Basic {encoded}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// Who turns names into addresses. Addresses that are written as such are not asked about.
#[derive(Clone)]
pub(crate) enum Names {
    Vetted(Arc<Vetting>),
    /// As every program on this machine sees them.
    Any(GaiResolver),
}

impl Names {
    pub fn any() -> Self {
        Self::Any(GaiResolver::new())
    }
}

impl Service<Name> for Names {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        match self.clone() {
            Names::Vetted(vetting) => Box::pin(async move {
                let addresses = vetting
                    .resolve(name.as_str(), Deadline::after(Duration::from_secs(30)))
                    .await?;
                let sockets: Vec<_> = addresses.into_iter().map(|ip| SocketAddr::new(ip, 0)).collect();
                Ok(sockets.into_iter())
            }),
            Names::Any(mut system) => Box::pin(async move {
                let found: Vec<_> = system.call(name).await?.collect();
                Ok(found.into_iter())
            }),
        }
    }
}
