//! A wire to the server that can be cut, and that can lose an answer after the server has committed.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
};

pub struct Link {
    pub url: String,
    state: Arc<State>,
}

struct State {
    server: SocketAddr,
    /// Which answer from now on is lost; none at zero.
    lose: AtomicUsize,
    down: AtomicBool,
    /// Connections that were not let through.
    refused: AtomicUsize,
    /// Bumped to end every connection.
    cut: watch::Sender<u64>,
}

impl Link {
    pub async fn to(server_url: &str) -> Link {
        let config: tokio_postgres::Config = server_url.parse().unwrap();
        let server = SocketAddr::from(([127, 0, 0, 1], config.get_ports()[0]));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let here = listener.local_addr().unwrap();
        let state = Arc::new(State {
            server,
            lose: AtomicUsize::new(0),
            down: AtomicBool::new(false),
            refused: AtomicUsize::new(0),
            cut: watch::channel(0).0,
        });
        let accepting = state.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                if accepting.down.load(Ordering::SeqCst) {
                    accepting.refused.fetch_add(1, Ordering::SeqCst);
                } else {
                    tokio::spawn(carry(stream, accepting.clone()));
                }
            }
        });
        let url = server_url.replace(&server.to_string(), &here.to_string());
        Link { url, state }
    }

    /// The answer after `passed` others is lost: the server has done what was asked, and the connection ends.
    pub fn lose_an_answer(&self, passed: usize) {
        self.state.lose.store(passed + 1, Ordering::SeqCst);
    }

    pub fn cut(&self) {
        self.state.down.store(true, Ordering::SeqCst);
        self.state.cut.send_modify(|n| *n += 1);
    }

    /// How many connections were tried in vain.
    pub fn refused(&self) -> usize {
        self.state.refused.load(Ordering::SeqCst)
    }

    pub fn mend(&self) {
        self.state.down.store(false, Ordering::SeqCst);
    }
}

/// Whether these bytes end with "ready for query", as every answer does: one that comes in two pieces is still one.
fn ends_an_answer(bytes: &[u8]) -> bool {
    bytes
        .last_chunk::<6>()
        .is_some_and(|end| end.starts_with(b"Z\0\0\0\x05"))
}

async fn carry(client: TcpStream, state: Arc<State>) {
    let mut cut = state.cut.subscribe();
    let Ok(server) = TcpStream::connect(state.server).await else {
        return;
    };
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let asking = async { tokio::io::copy(&mut from_client, &mut to_server).await.ok() };
    let answering = async {
        let mut buffer = vec![0; 64 << 10];
        loop {
            let n = from_server.read(&mut buffer).await.unwrap_or(0);
            let count_down = |left: usize| left.checked_sub(usize::from(ends_an_answer(&buffer[..n])));
            let left = state
                .lose
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, count_down);
            let lost = left == Ok(1) && ends_an_answer(&buffer[..n]);
            if n == 0 || lost || to_client.write_all(&buffer[..n]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        _ = asking => {}
        () = answering => {}
        _ = cut.changed() => {}
    }
}
