//! A cable that can be pulled: a TCP proxy between a site and central that cuts, delays, and swallows answers.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// How the cable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cable {
    Well,
    /// No connection is made, and those there are break.
    Pulled,
    /// What central says gets lost; what the site says arrives.
    Deaf,
}

#[derive(Debug, Clone)]
pub struct Proxy {
    pub address: SocketAddr,
    to: Arc<watch::Sender<SocketAddr>>,
    cable: Arc<watch::Sender<Cable>>,
    delay_ms: Arc<AtomicU64>,
    connections: Arc<AtomicUsize>,
}

impl Proxy {
    pub async fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = Self {
            address: listener.local_addr().unwrap(),
            to: Arc::new(watch::Sender::new(to)),
            cable: Arc::new(watch::Sender::new(Cable::Well)),
            delay_ms: Arc::default(),
            connections: Arc::default(),
        };
        let running = proxy.clone();
        tokio::spawn(async move {
            while let Ok((site, _)) = listener.accept().await {
                running.connections.fetch_add(1, Ordering::SeqCst);
                let proxy = running.clone();
                tokio::spawn(async move { proxy.carry(site).await });
            }
        });
        proxy
    }

    /// Central has come back somewhere else.
    pub fn lead_to(&self, to: SocketAddr) {
        self.to.send_replace(to);
    }

    pub fn set(&self, cable: Cable) {
        self.cable.send_replace(cable);
    }

    pub fn delay(&self, by: Duration) {
        self.delay_ms.store(by.as_millis() as u64, Ordering::SeqCst);
    }

    async fn carry(&self, site: TcpStream) {
        if *self.cable.borrow() == Cable::Pulled {
            return;
        }
        let to = *self.to.borrow();
        let Ok(central) = TcpStream::connect(to).await else {
            return;
        };
        let (from_site, to_site) = site.into_split();
        let (from_central, to_central) = central.into_split();
        let mut cable = self.cable.subscribe();
        tokio::select! {
            () = self.pump(from_site, to_central, false) => {}
            () = self.pump(from_central, to_site, true) => {}
            _ = cable.wait_for(|cable| *cable == Cable::Pulled) => {}
        }
    }

    async fn pump(
        &self,
        mut from: tokio::net::tcp::OwnedReadHalf,
        mut to: tokio::net::tcp::OwnedWriteHalf,
        answers: bool,
    ) {
        let mut chunk = vec![0; 64 << 10];
        // A stream with a hole in it is of no use any more: once deaf, deaf until it is cut.
        let mut lost = false;
        while let Ok(n) = from.read(&mut chunk).await {
            if n == 0 {
                return;
            }
            let delay = self.delay_ms.load(Ordering::SeqCst);
            if delay > 0 {
                tokio::time::sleep(Duration::from_millis(delay)).await;
            }
            lost |= answers && *self.cable.borrow() == Cable::Deaf;
            if !lost && to.write_all(&chunk[..n]).await.is_err() {
                return;
            }
        }
    }
}
