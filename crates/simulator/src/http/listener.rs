//! Connections that can be cut from inside a handler, with or without TLS.

use super::ReceiverState;
use crate::tls::Identity;
use axum::{extract::connect_info::Connected, serve};
use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Accepts on a task of its own, so that one slow handshake holds up nobody.
pub(super) struct Connections {
    ready: mpsc::Receiver<(Cuttable, SocketAddr)>,
    address: SocketAddr,
}

impl Connections {
    pub fn new(listener: TcpListener, tls: Option<Identity>, shared: Arc<ReceiverState>) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (sender, ready) = mpsc::channel(64);
        tokio::spawn(async move {
            let stop = shared.stop.clone();
            let accepting = async {
                loop {
                    let Ok((stream, peer)) = listener.accept().await else {
                        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                        continue;
                    };
                    shared.record.connected();
                    let _ = stream.set_nodelay(true);
                    match &tls {
                        None => {
                            let _ = sender.send((Cuttable::new(Box::new(stream)), peer)).await;
                        }
                        Some(identity) => {
                            tokio::spawn(shake_hands(identity.clone(), stream, peer, sender.clone()));
                        }
                    }
                }
            };
            stop.run_until_cancelled(accepting).await;
        });
        Ok(Self { ready, address })
    }
}

async fn shake_hands(
    identity: Identity,
    stream: TcpStream,
    peer: SocketAddr,
    sender: mpsc::Sender<(Cuttable, SocketAddr)>,
) {
    if let Ok(secured) = identity.acceptor().accept(stream).await {
        let _ = sender.send((Cuttable::new(Box::new(secured)), peer)).await;
    }
}

impl serve::Listener for Connections {
    type Io = Cuttable;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Cuttable, SocketAddr) {
        match self.ready.recv().await {
            Some(connection) => connection,
            // The accepting task is gone: the receiver is stopping and will not ask again.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

/// Cuts the connection it belongs to.
#[derive(Debug, Clone)]
pub(super) struct Cut(Arc<AtomicBool>);

impl Cut {
    /// Nothing more is written; the connection closes with whatever is written next.
    pub fn now(&self) {
        self.0.store(true, Ordering::Release);
    }
}

impl Connected<serve::IncomingStream<'_, Connections>> for Cut {
    fn connect_info(stream: serve::IncomingStream<'_, Connections>) -> Self {
        stream.io().cut.clone()
    }
}

pub(super) struct Cuttable {
    stream: Box<dyn Stream>,
    cut: Cut,
}

impl Cuttable {
    fn new(stream: Box<dyn Stream>) -> Self {
        Self {
            stream,
            cut: Cut(Arc::default()),
        }
    }

    fn check(&self) -> io::Result<()> {
        if self.cut.0.load(Ordering::Acquire) {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
}

impl AsyncRead for Cuttable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Cuttable {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check()?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
