//! Takes connections on a TCP port, with or without TLS.

use super::door::Door;
use crate::{tls::ServerTls, transport::Wire};
use domain::retry::slower;
use futures_util::Stream;
use std::{io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::{
    net::TcpListener,
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_stream::wrappers::ReceiverStream;

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Listens. Without TLS only this machine is listened to, unless that was forced: a site's key is said in the clear.
pub fn listen(address: SocketAddr, tls: bool, insecure: bool) -> io::Result<std::net::TcpListener> {
    if !tls && !insecure && !address.ip().is_loopback() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "server.link_listen {address} is not loopback and has no TLS; set server.link_tls_cert_file and \
                 server.link_tls_key_file, or server.insecure = true"
            ),
        ));
    }
    let listener = std::net::TcpListener::bind(address)
        .map_err(|e| io::Error::new(e.kind(), format!("server.link_listen {address}: {e}")))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The connections of a listener. Handshakes run beside each other, so that a slow one holds up nobody.
pub fn tcp(
    listener: std::net::TcpListener,
    tls: Option<ServerTls>,
) -> io::Result<impl Stream<Item = io::Result<Wire>> + Send + 'static> {
    let listener = TcpListener::from_std(listener)?;
    let (ready, wires) = mpsc::channel(16);
    let door = Arc::new(Door::default());
    tokio::spawn(async move {
        let mut crowded = false;
        let mut wait = Duration::from_millis(25);
        loop {
            let accepted = tokio::select! {
                () = ready.closed() => return,
                accepted = listener.accept() => accepted,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => {
                    wait = Duration::from_millis(25);
                    accepted
                }
                Err(error) => {
                    // Out of file descriptors, most likely: pressing on would only spin.
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "a site could not be let in"
                    );
                    wait = slower(wait);
                    sleep(wait).await;
                    continue;
                }
            };
            let Some(place) = door.enter(peer.ip()) else {
                metrics::counter!("waypost_link_refused_total").increment(1);
                if !std::mem::replace(&mut crowded, true) {
                    tracing::warn!(peer = %peer, "too many connections on the link; further ones are closed at once");
                }
                continue;
            };
            crowded = false;
            stream.set_nodelay(true).ok();
            let (ready, tls) = (ready.clone(), tls.clone());
            tokio::spawn(async move {
                let wire = match tls {
                    None => Wire::new(stream, peer.to_string()),
                    Some(tls) => match timeout(HANDSHAKE, tls.accept(stream)).await {
                        Ok(Ok(stream)) => Wire::new(stream, peer.to_string()),
                        Ok(Err(error)) => {
                            tracing::info!(peer = %peer, error = &error as &dyn std::error::Error, "a TLS handshake failed");
                            return;
                        }
                        Err(_) => return,
                    },
                };
                ready.send(Ok(wire.at(place))).await.ok();
            });
        }
    });
    Ok(ReceiverStream::new(wires))
}
