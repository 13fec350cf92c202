//! How many connections the site's API holds at once. Beyond it new ones are closed unanswered: an agent that is out of
//! file descriptors can neither take a message in nor hand one over.
//!
//! Always true: one address takes no more than its share, except the machine's own scripts, which have none; a connection
//! on which nothing is said gives its place up.

use axum::serve::Listener;
use domain::places::{Place, Places};
use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    time::{Instant, Sleep, sleep_until},
};

/// Connections at once, of whoever they are.
pub const CONNECTIONS: usize = 512;
/// Of those, from one address.
const PER_ADDRESS: usize = 128;
/// How long nothing may be said on a connection: longer than any request takes.
const IDLE: Duration = Duration::from_secs(240);

/// Takes a connection if there is a place for it.
#[derive(Debug)]
pub(super) struct Limited {
    listener: TcpListener,
    places: Arc<Places>,
    idle: Duration,
    crowded: bool,
}

impl Limited {
    pub fn new(listener: TcpListener, connections: usize) -> Self {
        Self {
            listener,
            places: Places::new(connections, PER_ADDRESS),
            idle: IDLE,
            crowded: false,
        }
    }
}

impl Listener for Limited {
    type Io = Held;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Held, SocketAddr) {
        loop {
            let (stream, peer) = Listener::accept(&mut self.listener).await;
            let from = peer.ip().to_canonical();
            let Some(place) = self.places.enter((!from.is_loopback()).then_some(from)) else {
                metrics::counter!("waypost_site_http_refused_total").increment(1);
                if !std::mem::replace(&mut self.crowded, true) {
                    tracing::warn!(
                        "too many connections to the site's API, in all or from one address; further ones are closed at once"
                    );
                }
                continue;
            };
            self.crowded = false;
            return (Held::new(stream, place, self.idle), peer);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection and its place.
#[derive(Debug)]
pub(super) struct Held {
    stream: TcpStream,
    idle: Duration,
    over: Pin<Box<Sleep>>,
    _place: Place,
}

impl Held {
    fn new(stream: TcpStream, place: Place, idle: Duration) -> Self {
        Self {
            stream,
            idle,
            over: Box::pin(sleep_until(Instant::now() + idle)),
            _place: place,
        }
    }

    fn poll_over(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        self.over
            .as_mut()
            .poll(cx)
            .map(|()| io::ErrorKind::TimedOut.into())
    }

    /// What was said keeps the connection for another while.
    fn said<T>(&mut self, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.over.as_mut().reset(Instant::now() + self.idle);
        }
        done
    }
}

impl AsyncRead for Held {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Poll::Ready(over) = self.poll_over(cx) {
            return Poll::Ready(Err(over));
        }
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.said(read)
    }
}

impl AsyncWrite for Held {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        if let Poll::Ready(over) = self.poll_over(cx) {
            return Poll::Ready(Err(over));
        }
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.said(written)
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
        if let Poll::Ready(over) = self.poll_over(cx) {
            return Poll::Ready(Err(over));
        }
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.said(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;

    #[tokio::test(start_paused = true)]
    async fn a_connection_on_which_nothing_is_said_gives_its_place_up() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut limited = Limited::new(listener, 1);
        let silent = TcpStream::connect(limited.local_addr().unwrap()).await.unwrap();
        let (mut held, _) = limited.accept().await;
        let over = held.read(&mut [0]).await.unwrap_err();
        assert_eq!(over.kind(), io::ErrorKind::TimedOut);
        drop(silent);
    }
}
