//! Bytes underneath the link. TCP in earnest; a test puts a simulated network or a pipe in its place.

use crate::{address::Address, server::Place};
use async_trait::async_trait;
use std::{
    fmt, io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep},
};
use tonic::transport::server::Connected;

/// A connection of any kind.
pub trait Io: AsyncRead + AsyncWrite + Send + Unpin + 'static {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Io for T {}

/// Opens connections to central. TLS, where the address asks for it, is put on top by the client.
#[async_trait]
pub trait Dial: Send + Sync + 'static {
    async fn dial(&self, to: &Address) -> io::Result<Box<dyn Io>>;
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Tcp;

#[async_trait]
impl Dial for Tcp {
    async fn dial(&self, to: &Address) -> io::Result<Box<dyn Io>> {
        let stream = TcpStream::connect((to.host.as_str(), to.port)).await?;
        stream.set_nodelay(true)?;
        Ok(Box::new(stream))
    }
}

/// What a stranger may say before it is let in: the preface of HTTP/2, headers, and hello.
pub const STRANGER_BYTES: usize = 8 << 10;
/// How long a stranger may be connected.
pub const STRANGER_TIME: Duration = Duration::from_secs(20);

/// Who is at the other end of an accepted connection, for the log; and whether it has been let in.
#[derive(Debug, Clone)]
pub struct Peer {
    pub name: Arc<str>,
    let_in: Arc<AtomicBool>,
    place: Option<Arc<Place>>,
}

impl Peer {
    /// From now on it may say as much as it likes, for as long as it likes.
    pub(crate) fn let_in(&self) {
        self.let_in.store(true, Ordering::Release);
        if let Some(place) = &self.place {
            place.let_in();
        }
    }
}

/// An accepted connection. Until its peer is let in it is read from only a little, and not for long.
pub struct Wire {
    io: Box<dyn Io>,
    peer: Peer,
    /// Of a stranger: what it has said, and when its time is up.
    stranger: Option<(usize, Pin<Box<Sleep>>)>,
}

impl Wire {
    /// Must be called inside a runtime.
    pub fn new(io: impl Io, peer: impl Into<Arc<str>>) -> Self {
        Self {
            io: Box::new(io),
            peer: Peer {
                name: peer.into(),
                let_in: Arc::default(),
                place: None,
            },
            stranger: Some((0, Box::pin(sleep(STRANGER_TIME)))),
        }
    }

    /// The place it takes up as long as it is open.
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.peer.place = Some(Arc::new(place));
        self
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wire({})", self.peer.name)
    }
}

impl Connected for Wire {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let wire = &mut *self;
        if wire.peer.let_in.load(Ordering::Acquire) {
            wire.stranger = None;
        }
        let Some((said, time)) = &mut wire.stranger else {
            return Pin::new(&mut wire.io).poll_read(cx, buf);
        };
        if time.as_mut().poll(cx).is_ready() {
            let late = "it was not let in in time";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, late)));
        }
        let before = buf.filled().len();
        ready!(Pin::new(&mut wire.io).poll_read(cx, buf))?;
        *said += buf.filled().len().saturating_sub(before);
        if *said > STRANGER_BYTES {
            let much = "it said too much before it was let in";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, much)));
        }
        Poll::Ready(Ok(()))
    }
}

/// Writing to a connection in a wrapper goes to the connection itself, its `io`. The names are those of the file it is used in.
macro_rules! write_through {
    ($wrapper:ty) => {
        impl AsyncWrite for $wrapper {
            fn poll_write(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                Pin::new(&mut self.io).poll_write(cx, buf)
            }

            fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.io).poll_flush(cx)
            }

            fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.io).poll_shutdown(cx)
            }

            fn poll_write_vectored(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[io::IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                Pin::new(&mut self.io).poll_write_vectored(cx, bufs)
            }

            fn is_write_vectored(&self) -> bool {
                self.io.is_write_vectored()
            }
        }
    };
}
pub(crate) use write_through;

write_through!(Wire);
