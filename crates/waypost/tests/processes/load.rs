//! Senders that go on through crashes and remember what was acknowledged.

use client::{Again, Channel, Client, Notification, NotificationId};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{sync::watch, task::JoinSet};

/// Shared by all senders of a test.
#[derive(Clone)]
pub struct Load {
    pub acknowledged: Arc<Mutex<Vec<NotificationId>>>,
    client: watch::Sender<Client>,
    total: u64,
    /// Without it the provider is named.
    channel: Option<Channel>,
    next: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    acks: watch::Sender<u64>,
}

impl Load {
    pub fn new(total: u64, client: Client) -> Self {
        Self {
            acknowledged: Arc::default(),
            client: watch::Sender::new(client),
            total,
            channel: None,
            next: Arc::default(),
            stop: Arc::default(),
            acks: watch::Sender::new(0),
        }
    }

    /// The same to a channel, whoever serves it.
    pub fn by_channel(mut self, channel: Channel) -> Self {
        self.channel = Some(channel);
        self
    }

    /// Where to send from now on.
    pub fn send_to(&self, client: &Client) {
        self.client.send_replace(client.clone());
    }

    /// Completes when so many have been acknowledged.
    pub async fn acknowledged(&self, n: u64) {
        self.acks.subscribe().wait_for(|acks| *acks >= n).await.unwrap();
    }

    /// `senders` tasks; each sends one after the other, and one that fails again under the same id until it is
    /// acknowledged by whichever node is up.
    pub fn start(&self, senders: usize) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        for _ in 0..senders {
            tasks.spawn(self.clone().send_all());
        }
        tasks
    }

    async fn send_all(self) {
        let client = self.client.subscribe();
        while !self.stop.load(Ordering::Relaxed) {
            let n = self.next.fetch_add(1, Ordering::Relaxed);
            if n >= self.total {
                return;
            }
            let id = NotificationId::mint();
            let notification = match self.channel {
                Some(channel) => Notification::default().channel(channel),
                None => Notification::by_provider("hook"),
            };
            let notification = notification
                .id(id)
                .subject(format!("message {n}"))
                .body("x".repeat(200));
            loop {
                let current = client.borrow().clone();
                match current.submit(&notification).await {
                    Ok(answer) => {
                        assert_eq!(answer.notification_id, id);
                        break;
                    }
                    Err(error) if error.may_pass() => tokio::time::sleep(Duration::from_millis(20)).await,
                    Err(error) => panic!("{error:?}"),
                }
            }
            self.acknowledged.lock().unwrap().push(id);
            self.acks.send_modify(|acks| *acks += 1);
        }
    }
}

/// A client that gives up at once, so that the load's own loop decides whom to ask next.
pub fn one_try(client: &Client) -> Client {
    Client::builder(client.url())
        .api_key(crate::node::KEY)
        .timeout(Duration::from_secs(10))
        .retrying(Again::tries(1))
        .build()
        .unwrap()
}
