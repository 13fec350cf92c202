//! A network between sites and central that a test can cut, mute and mend, made of pipes in memory.

use async_trait::async_trait;
use domain::lock::lock;
use futures_util::Stream;
use link::{
    Address,
    transport::{Dial, Io, Wire},
};
use std::{
    io,
    sync::{Arc, Mutex},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, ReadHalf, WriteHalf, duplex, split},
    sync::{mpsc, watch},
};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;

/// What the network does with what is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Weather {
    up: bool,
    /// What central says is swallowed: acks are lost although the work was done.
    central_muted: bool,
}

/// A site dials through it; the other end comes out of [`Network::incoming`]. Clones are the same network.
#[derive(Debug, Clone)]
pub struct Network(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    weather: watch::Sender<Weather>,
    /// Cancelled to end every open connection.
    open: Mutex<CancellationToken>,
    central: Mutex<Option<mpsc::Sender<io::Result<Wire>>>>,
    dialled: Mutex<Vec<String>>,
}

impl Default for Network {
    fn default() -> Self {
        Self(Arc::new(Inner {
            weather: watch::Sender::new(Weather {
                up: true,
                central_muted: false,
            }),
            open: Mutex::default(),
            central: Mutex::default(),
            dialled: Mutex::default(),
        }))
    }
}

impl Network {
    /// The connections that reach central from now on. Asked again, the older receiver gets nothing more.
    pub fn incoming(&self) -> impl Stream<Item = io::Result<Wire>> + Send + 'static {
        let (central, incoming) = mpsc::channel(16);
        *lock(&self.0.central) = Some(central);
        ReceiverStream::new(incoming)
    }

    /// Ends every connection and refuses new ones.
    pub fn cut(&self) {
        self.0.weather.send_modify(|w| w.up = false);
        self.drop_connections();
    }

    /// Ends every connection; new ones are fine.
    pub fn drop_connections(&self) {
        let mut open = lock(&self.0.open);
        std::mem::take(&mut *open).cancel();
    }

    pub fn mend(&self) {
        self.0.weather.send_replace(Weather {
            up: true,
            central_muted: false,
        });
    }

    /// From now on, nothing that central says arrives.
    pub fn mute_central(&self) {
        self.0.weather.send_modify(|w| w.central_muted = true);
    }

    /// The addresses that were dialled, in order.
    pub fn dialled(&self) -> Vec<String> {
        lock(&self.0.dialled).clone()
    }
}

#[async_trait]
impl Dial for Network {
    async fn dial(&self, to: &Address) -> io::Result<Box<dyn Io>> {
        lock(&self.0.dialled).push(to.to_string());
        let refused = || io::Error::new(io::ErrorKind::ConnectionRefused, "connection refused");
        let central = lock(&self.0.central).clone();
        let (Some(central), true) = (central, self.0.weather.borrow().up) else {
            return Err(refused());
        };
        let (site, near) = duplex(64 << 10);
        let (far, arrived) = duplex(64 << 10);
        central
            .send(Ok(Wire::new(arrived, "pipe")))
            .await
            .map_err(|_| refused())?;
        let ended = lock(&self.0.open).clone();
        let (near_read, near_write) = split(near);
        let (far_read, far_write) = split(far);
        tokio::spawn(carry(near_read, far_write, ended.clone(), None));
        tokio::spawn(carry(
            far_read,
            near_write,
            ended,
            Some(self.0.weather.subscribe()),
        ));
        Ok(Box::new(site))
    }
}

async fn carry(
    mut from: ReadHalf<DuplexStream>,
    mut to: WriteHalf<DuplexStream>,
    ended: CancellationToken,
    muted: Option<watch::Receiver<Weather>>,
) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        let read = tokio::select! {
            biased;
            () = ended.cancelled() => return,
            read = from.read(&mut buffer) => read,
        };
        let Ok(n @ 1..) = read else { break };
        if muted.as_ref().is_some_and(|w| w.borrow().central_muted) {
            continue;
        }
        if to.write_all(&buffer[..n]).await.is_err() {
            break;
        }
    }
    to.shutdown().await.ok();
}
