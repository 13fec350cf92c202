//! A cable between the two machines of a site that can be cut, or clogged after so many bytes.

use crate::pair_world::World;
use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

/// What becomes of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    Up,
    /// Open connections end and no new one comes through.
    Cut,
    /// Nothing comes through, and nobody is told.
    Clogged,
    /// Questions come through, and no answer does.
    Deaf,
}

/// One way to the other machine: what is asked through it, and the answers.
#[derive(Debug)]
pub struct Cable {
    weather: watch::Sender<Weather>,
    /// Bytes of answers that still come through, and what happens then.
    left: AtomicU64,
    then: Weather,
}

impl Cable {
    pub fn becomes(&self, weather: Weather) {
        self.left.store(u64::MAX, Ordering::SeqCst);
        self.weather.send_replace(weather);
    }

    /// So many bytes of answers come through from here on.
    pub fn lets_through(&self, bytes: u64) {
        self.left.store(bytes, Ordering::SeqCst);
        self.weather.send_replace(Weather::Up);
    }

    pub async fn has_had_enough(&self) {
        let mut weather = self.weather.subscribe();
        weather.wait_for(|now| *now == self.then).await.unwrap();
    }

    async fn carries(&self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf, answers: bool) {
        let (mut weather, mut cut) = (self.weather.subscribe(), self.weather.subscribe());
        let mut bytes = vec![0; 16 << 10];
        loop {
            tokio::select! {
                () = is_cut(&mut cut) => return,
                read = from.read(&mut bytes) => {
                    let Ok(n @ 1..) = read else { return };
                    if answers && self.left.fetch_sub(n as u64, Ordering::SeqCst) < n as u64 {
                        self.becomes(self.then);
                    }
                    let open = |now: &Weather| *now != Weather::Clogged && !(answers && *now == Weather::Deaf);
                    match weather.wait_for(open).await {
                        Ok(now) if *now != Weather::Cut => {}
                        _ => return,
                    }
                    if to.write_all(&bytes[..n]).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    async fn connects(self: Arc<Self>, asker: TcpStream, to: SocketAddr) {
        let Ok(other) = TcpStream::connect(to).await else {
            return;
        };
        let ((asks, is_told), (answers, is_asked)) = (asker.into_split(), other.into_split());
        tokio::select! {
            () = self.carries(asks, is_asked, false) => {}
            () = self.carries(answers, is_told, true) => {}
        }
    }
}

async fn is_cut(weather: &mut watch::Receiver<Weather>) {
    let _ = weather.wait_for(|now| *now == Weather::Cut).await;
}

/// The second machine asks the first through this.
pub async fn to_the_first(world: &mut World, then: Weather) -> Arc<Cable> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let cable = Arc::new(Cable {
        weather: watch::Sender::new(Weather::Up),
        left: AtomicU64::new(u64::MAX),
        then,
    });
    let to = world.machines[0].listen;
    world.machines[1].other = format!("http://{address}").parse().unwrap();
    let all = cable.clone();
    tokio::spawn(async move {
        while let Ok((asker, _)) = listener.accept().await {
            if *all.weather.borrow() != Weather::Cut {
                tokio::spawn(all.clone().connects(asker, to));
            }
        }
    });
    cable
}
