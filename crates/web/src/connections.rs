//! How many connections the HTTP server holds at once. Beyond it new ones are closed unanswered: a program that is out of
//! file descriptors can neither deliver nor write.

use axum_server::accept::Accept;
use std::{
    future::{Ready, ready},
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::{OwnedSemaphorePermit, Semaphore},
};

/// Takes a connection if there is a place for it.
#[derive(Debug, Clone)]
pub(crate) struct Limited {
    places: Arc<Semaphore>,
    crowded: Arc<AtomicBool>,
}

impl Limited {
    pub fn to(connections: usize) -> Self {
        Self {
            places: Arc::new(Semaphore::new(connections)),
            crowded: Arc::default(),
        }
    }
}

impl<S> Accept<TcpStream, S> for Limited {
    type Stream = Held;
    type Service = S;
    type Future = Ready<io::Result<(Held, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            metrics::counter!("waypost_http_refused_total").increment(1);
            if !self.crowded.swap(true, Ordering::Relaxed) {
                tracing::warn!("too many HTTP connections; further ones are closed at once");
            }
            return ready(Err(io::Error::other("too many connections")));
        };
        self.crowded.store(false, Ordering::Relaxed);
        let nodelay = stream.set_nodelay(true);
        ready(nodelay.map(|()| {
            (
                Held {
                    stream,
                    _place: place,
                },
                service,
            )
        }))
    }
}

/// A connection and its place.
#[derive(Debug)]
pub(crate) struct Held {
    stream: TcpStream,
    _place: OwnedSemaphorePermit,
}

impl AsyncRead for Held {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
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

    #[tokio::test]
    async fn a_connection_is_taken_only_while_there_is_a_place_for_it() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let limited = Limited::to(1);
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
}
