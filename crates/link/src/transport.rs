//! Bytes underneath the link. TCP in earnest; a test puts a simulated network or a pipe in its place.

use crate::address::Address;
use async_trait::async_trait;
use std::{
    fmt, io,
    pin::Pin,
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
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

/// Who is at the other end of an accepted connection, for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer(pub String);

/// An accepted connection.
pub struct Wire {
    io: Box<dyn Io>,
    peer: Peer,
}

impl Wire {
    pub fn new(io: impl Io, peer: impl Into<String>) -> Self {
        Self {
            io: Box::new(io),
            peer: Peer(peer.into()),
        }
    }
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wire({})", self.peer.0)
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
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
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
