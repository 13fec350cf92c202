//! How many connections the HTTP server holds at once, in all and from one address. Beyond it new ones are closed unanswered: a
//! program that is out of file descriptors can neither deliver nor write.
//!
//! Always true: one address takes no more than its share, whoever is behind it; a connection without a request gives its
//! place up.

use crate::idle::{Activity, Counted, IdleLimit};
use axum_server::accept::Accept;
use domain::places::{Place, Places};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use std::{
    future::{Ready, ready},
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

/// Connections at once, of whoever they are. Live streams are a good part of them.
const CONNECTIONS: usize = 2000;
/// Of those, from one address: an office behind one gateway.
const PER_ADDRESS: usize = 400;
/// How long a connection may be there without a request.
const IDLE: Duration = Duration::from_secs(75);

/// How many connections there may be, and for how long.
#[derive(Debug, Clone)]
pub struct Limits {
    pub connections: usize,
    pub per_address: usize,
    /// Addresses that speak for others and have no share: the machine itself, and proxies in front of it.
    pub without_share: Vec<IpNet>,
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let (four, six) = (
            Ipv4Net::new(Ipv4Addr::LOCALHOST, 8),
            Ipv6Net::new(Ipv6Addr::LOCALHOST, 128),
        );
        let loopback = four
            .ok()
            .map(IpNet::V4)
            .into_iter()
            .chain(six.ok().map(IpNet::V6));
        Self {
            connections: CONNECTIONS,
            per_address: PER_ADDRESS,
            without_share: loopback.collect(),
            idle: IDLE,
        }
    }
}

impl Limits {
    /// The same with proxies in front.
    pub fn behind(proxies: &[IpNet]) -> Self {
        let mut limits = Self::default();
        limits.without_share.extend_from_slice(proxies);
        limits
    }

    fn has_share(&self, from: IpAddr) -> bool {
        !self.without_share.iter().any(|network| network.contains(&from))
    }
}

/// Takes a connection if there is a place for it.
#[derive(Debug, Clone)]
pub(crate) struct Limited {
    limits: Arc<Limits>,
    places: Arc<Places>,
    crowded: Arc<AtomicBool>,
}

impl Limited {
    pub fn to(limits: Limits) -> Self {
        Self {
            places: Places::new(limits.connections, limits.per_address),
            limits: Arc::new(limits),
            crowded: Arc::default(),
        }
    }

    fn enter(&self, from: IpAddr) -> Option<Place> {
        let from = from.to_canonical();
        self.places.enter(self.limits.has_share(from).then_some(from))
    }
}

impl<S> Accept<TcpStream, S> for Limited {
    type Stream = Held;
    type Service = Counted<S>;
    type Future = Ready<io::Result<(Held, Counted<S>)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let from = match stream.peer_addr() {
            Ok(peer) => peer.ip(),
            Err(gone) => return ready(Err(gone)),
        };
        let Some(place) = self.enter(from) else {
            metrics::counter!("waypost_http_refused_total").increment(1);
            if !self.crowded.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    "too many HTTP connections, in all or from one address; further ones are closed at once"
                );
            }
            return ready(Err(io::Error::other("too many connections")));
        };
        self.crowded.store(false, Ordering::Relaxed);
        if let Err(error) = stream.set_nodelay(true) {
            return ready(Err(error));
        }
        let activity = Activity::new();
        let held = Held {
            stream,
            idle: IdleLimit::new(activity.clone(), self.limits.idle),
            _place: place,
        };
        ready(Ok((held, Counted::new(service, activity))))
    }
}

/// A connection and its place.
#[derive(Debug)]
pub(crate) struct Held {
    stream: TcpStream,
    idle: IdleLimit,
    _place: Place,
}

impl AsyncRead for Held {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.idle.poll_over(cx).is_ready() {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Held {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    fn limits(connections: usize, per_address: usize) -> Limits {
        Limits {
            connections,
            per_address,
            ..Limits::default()
        }
    }

    #[tokio::test]
    async fn a_connection_is_taken_only_while_there_is_a_place_for_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limited = Limited::to(limits(1, 1));
        let connect = async || {
            let near = TcpStream::connect(address).await.unwrap();
            (near, limited.accept(listener.accept().await.unwrap().0, ()).await)
        };
        let (_near, first) = connect().await;
        let (_near, second) = connect().await;
        assert!(first.is_ok() && second.is_err());
        drop(first);
        let (_near, third) = connect().await;
        assert!(third.is_ok());
    }

    #[test]
    fn one_address_has_its_share_and_a_proxy_has_none() {
        let mut limits = limits(10, 2);
        limits.without_share.push("10.0.0.0/24".parse().unwrap());
        let limited = Limited::to(limits);
        let enter = |from: &str| limited.enter(from.parse().unwrap());
        let mut places = vec![];
        for (from, there_is) in [
            ("203.0.113.7", true),
            ("203.0.113.7", true),
            ("203.0.113.7", false),
            ("10.0.0.5", true),
            ("10.0.0.5", true),
            ("10.0.0.5", true),
            ("127.0.0.1", true),
            ("127.0.0.1", true),
            ("127.0.0.1", true),
        ] {
            let place = enter(from);
            assert_eq!(place.is_some(), there_is, "{from}");
            places.extend(place);
        }
    }
}
