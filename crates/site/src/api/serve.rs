//! Listening.

use super::{
    Api,
    connections::{CONNECTIONS, Limited},
    router,
};
use std::{net::SocketAddr, time::Duration};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use tower_http::{catch_panic::CatchPanicLayer, timeout::TimeoutLayer};

/// No request takes longer: an attempt ends before.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(180);

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("{0} can be reached from other machines: set site.api_token")]
    TokenNeeded(SocketAddr),
    #[error("cannot listen on {address}")]
    Listen {
        address: SocketAddr,
        source: std::io::Error,
    },
}

/// A running server.
#[derive(Debug)]
pub struct Listening {
    pub address: SocketAddr,
    /// Ends after `stop`, when the requests under way have been answered.
    pub server: JoinHandle<std::io::Result<()>>,
}

/// Answers requests until stopped. An address that others can reach needs a token.
pub async fn serve(api: Api, listen: SocketAddr, stop: CancellationToken) -> Result<Listening, ServeError> {
    serve_within(api, listen, CONNECTIONS, stop).await
}

/// The same with so many connections at once.
pub async fn serve_within(
    api: Api,
    listen: SocketAddr,
    connections: usize,
    stop: CancellationToken,
) -> Result<Listening, ServeError> {
    if !listen.ip().is_loopback() && !api.access.needs_token() {
        return Err(ServeError::TokenNeeded(listen));
    }
    let wrong = |source| ServeError::Listen {
        address: listen,
        source,
    };
    let listener = TcpListener::bind(listen).await.map_err(wrong)?;
    let address = listener.local_addr().map_err(wrong)?;
    let app = router(api)
        .layer(TimeoutLayer::with_status_code(
            axum::http::StatusCode::SERVICE_UNAVAILABLE,
            REQUEST_TIMEOUT,
        ))
        .layer(CatchPanicLayer::custom(super::problem::panicked));
    let server = tokio::spawn(async move {
        axum::serve(Limited::new(listener, connections), app)
            .with_graceful_shutdown(stop.cancelled_owned())
            .await
    });
    Ok(Listening { address, server })
}
