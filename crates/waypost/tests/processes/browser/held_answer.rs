//! Between browser and node: lets one request through, and keeps the answer to it back until it is let go. Whatever else
//! the browser asks waits until the node has answered that request, so that it is asked of a node that has acted on it.

use std::{net::SocketAddr, sync::Arc};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    NotAsked,
    Asked,
    Answered,
    LetGo,
}

#[derive(Clone)]
pub struct HeldAnswer {
    pub url: String,
    request: &'static [u8],
    stage: Arc<watch::Sender<Stage>>,
}

impl HeldAnswer {
    /// `request` is how the request begins whose answer is held, like `POST /sign-out`.
    pub async fn start(node: &str, request: &'static str) -> Self {
        let node: SocketAddr = node.trim_start_matches("http://").parse().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let held = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            request: request.as_bytes(),
            stage: Arc::new(watch::Sender::new(Stage::NotAsked)),
        };
        let serving = held.clone();
        tokio::spawn(async move {
            while let Ok((browser, _)) = listener.accept().await {
                let node = TcpStream::connect(node).await.unwrap();
                let (from_browser, to_browser) = browser.into_split();
                let (from_node, to_node) = node.into_split();
                let mine = Arc::new(watch::Sender::new(false));
                tokio::spawn(serving.clone().asking(from_browser, to_node, mine.clone()));
                tokio::spawn(serving.clone().answering(from_node, to_browser, mine));
            }
        });
        held
    }

    /// The node has done what it was asked for, and the browser does not know yet.
    pub async fn is_answered(&self) {
        self.reaches(Stage::Answered).await;
    }

    pub fn let_go(&self) {
        self.stage.send_replace(Stage::LetGo);
    }

    async fn reaches(&self, stage: Stage) {
        let mut stages = self.stage.subscribe();
        let _ = stages.wait_for(|now| *now >= stage).await;
    }

    async fn asking(self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mine: Arc<watch::Sender<bool>>) {
        let mut chunk = vec![0; 64 << 10];
        while let Ok(n @ 1..) = from.read(&mut chunk).await {
            if chunk[..n].starts_with(self.request) {
                mine.send_replace(true);
                self.stage.send_replace(Stage::Asked);
            } else if !*mine.borrow() && *self.stage.borrow() == Stage::Asked {
                self.reaches(Stage::Answered).await;
            }
            if to.write_all(&chunk[..n]).await.is_err() {
                return;
            }
        }
    }

    async fn answering(
        self,
        mut from: OwnedReadHalf,
        mut to: OwnedWriteHalf,
        mine: Arc<watch::Sender<bool>>,
    ) {
        let mut chunk = vec![0; 64 << 10];
        while let Ok(n @ 1..) = from.read(&mut chunk).await {
            if *mine.borrow() && *self.stage.borrow() < Stage::LetGo {
                self.stage.send_replace(Stage::Answered);
                self.reaches(Stage::LetGo).await;
            }
            if to.write_all(&chunk[..n]).await.is_err() {
                return;
            }
        }
    }
}
