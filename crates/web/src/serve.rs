//! Listens, with or without TLS, until told to stop; then lets requests under way finish.

use crate::connections::{Limited, Limits};
use axum::Router;
use axum_server::{Handle, tls_rustls::RustlsAcceptor, tls_rustls::RustlsConfig};
use hyper_util::rt::TokioTimer;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use std::{
    fmt, io,
    net::{SocketAddr, TcpListener},
    path::Path,
    sync::Arc,
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// How long requests under way may take after the stop.
const GRACE: Duration = Duration::from_secs(10);

/// A connection that sends no whole request head for this long is closed: neither a slow nor a silent client may
/// keep a socket for ever.
const HEAD_WITHIN: Duration = Duration::from_secs(75);

/// What one connection may have in memory before somebody reads it: a request head, a piece of a body.
const BUFFERED: usize = 64 << 10;

/// A certificate chain and its key, ready to serve with.
#[derive(Clone)]
pub struct Tls(RustlsConfig);

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

impl Tls {
    /// Reads PEM files. The error names the file and what is wrong with it.
    pub fn from_files(cert: &Path, key: &Path) -> io::Result<Self> {
        let named =
            |path: &Path, what: &dyn fmt::Display| io::Error::other(format!("{}: {what}", path.display()));
        let chain = CertificateDer::pem_file_iter(cert)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|e| named(cert, &e))?;
        if chain.is_empty() {
            return Err(named(cert, &"there is no certificate in it"));
        }
        let secret = PrivateKeyDer::from_pem_file(key).map_err(|e| named(key, &e))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(chain, secret)
            .map_err(|e| named(cert, &e))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(RustlsConfig::from_config(Arc::new(config))))
    }
}

/// Serves until `stop` is cancelled, then takes no new connections and gives the open ones a few seconds.
pub async fn serve(
    listener: TcpListener,
    tls: Option<Tls>,
    router: Router,
    stop: CancellationToken,
) -> io::Result<()> {
    serve_within(listener, tls, router, Limits::default(), stop).await
}

/// The same within other limits.
pub async fn serve_within(
    listener: TcpListener,
    tls: Option<Tls>,
    router: Router,
    limits: Limits,
    stop: CancellationToken,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let handle = Handle::new();
    let stopping = handle.clone();
    let watch = tokio::spawn(async move {
        stop.cancelled().await;
        stopping.graceful_shutdown(Some(GRACE));
    });
    let app = router.into_make_service_with_connect_info::<SocketAddr>();
    let mut server = axum_server::from_tcp(listener)?.handle(handle);
    let http = server.http_builder();
    http.http1()
        .timer(TokioTimer::new())
        .max_buf_size(BUFFERED)
        .header_read_timeout(HEAD_WITHIN);
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Some(HEAD_WITHIN));
    let limited = Limited::to(limits);
    let served = match tls {
        None => server.acceptor(limited).serve(app).await,
        Some(Tls(config)) => {
            let acceptor = RustlsAcceptor::new(config).acceptor(limited);
            server.acceptor(acceptor).serve(app).await
        }
    };
    watch.abort();
    served
}
