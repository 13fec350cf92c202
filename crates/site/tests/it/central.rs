//! A central inside the process: keeps what it acknowledges, and fails on request.

use async_trait::async_trait;
use domain::{
    NotificationId, Status, Timestamp,
    site::{DatabaseIdentity, Telemetry},
};
use link::{Ack, Down, Forward, LinkState, RemoteStatus, Uplink};
use std::{
    collections::{HashMap, HashSet},
    sync::Mutex,
};
use tokio::sync::watch;
use uuid::Uuid;

pub struct Central {
    state: watch::Sender<LinkState>,
    pub inner: Mutex<Inner>,
    rows: watch::Sender<usize>,
}

#[derive(Default)]
pub struct Inner {
    /// In the order of arrival.
    pub rows: Vec<Forward>,
    ids: HashSet<NotificationId>,
    /// How often each id was submitted.
    pub submitted: HashMap<NotificationId, usize>,
    pub statuses: HashMap<NotificationId, RemoteStatus>,
    pub telemetry: Vec<Telemetry>,
    pub telemetry_known: HashSet<Uuid>,
    /// Stored, but the answer gets lost: so many batches.
    pub lose_acks: usize,
    pub not_now: usize,
    pub refuse: HashSet<NotificationId>,
    pub no_telemetry: bool,
    /// Takes questions and news and never answers.
    pub silent: bool,
    /// Runs when a batch has been stored, before it is acknowledged.
    pub after_commit: Option<Box<dyn FnOnce() + Send>>,
}

pub fn identity(epoch: &str) -> DatabaseIdentity {
    DatabaseIdentity {
        id: Uuid::nil(),
        epoch: epoch.into(),
    }
}

fn up(epoch: &str) -> LinkState {
    LinkState::Up {
        since: Timestamp::EPOCH,
        central: identity(epoch),
        address: "test".into(),
    }
}

impl Central {
    pub fn new() -> Self {
        Self {
            state: watch::Sender::new(up("one")),
            inner: Mutex::default(),
            rows: watch::Sender::new(0),
        }
    }

    pub fn goes_down(&self) {
        self.state.send_replace(LinkState::Down {
            since: Timestamp::EPOCH,
            why: "pulled".into(),
        });
    }

    pub fn comes_back(&self) {
        self.comes_back_as("one");
    }

    /// With this database behind it.
    pub fn comes_back_as(&self, epoch: &str) {
        self.state.send_replace(up(epoch));
    }

    /// The database is restored from before these rows.
    pub fn forget(&self, keep: usize) {
        let mut inner = self.inner.lock().unwrap();
        inner.rows.truncate(keep);
        inner.ids = inner.rows.iter().map(|row| row.id).collect();
        self.rows.send_replace(keep);
    }

    pub fn rows(&self) -> Vec<NotificationId> {
        self.inner.lock().unwrap().rows.iter().map(|row| row.id).collect()
    }

    pub async fn has_rows(&self, n: usize) {
        let _ = self.rows.subscribe().wait_for(|rows| *rows >= n).await;
    }

    pub fn submissions_of(&self, id: NotificationId) -> usize {
        self.inner
            .lock()
            .unwrap()
            .submitted
            .get(&id)
            .copied()
            .unwrap_or(0)
    }

    async fn unless_silent(&self) {
        let silent = self.inner.lock().unwrap().silent;
        if silent {
            std::future::pending().await
        }
    }

    fn check(&self) -> Result<(), Down> {
        match &*self.state.borrow() {
            LinkState::Up { .. } => Ok(()),
            LinkState::Down { since, why } => Err(Down {
                since: *since,
                why: why.clone(),
            }),
        }
    }
}

#[async_trait]
impl Uplink for Central {
    async fn submit(&self, batch: Vec<Forward>) -> Result<Vec<Ack>, Down> {
        self.check()?;
        let (acks, after) = {
            let mut inner = self.inner.lock().unwrap();
            if inner.not_now > 0 {
                inner.not_now -= 1;
                return Ok(batch.iter().map(|_| Ack::NotNow("busy".into())).collect());
            }
            let mut acks = vec![];
            for forward in batch {
                *inner.submitted.entry(forward.id).or_default() += 1;
                acks.push(if inner.refuse.contains(&forward.id) {
                    Ack::Refused("unknown type \"Pigeon\"".into())
                } else if inner.ids.insert(forward.id) {
                    inner.rows.push(forward);
                    Ack::Accepted
                } else {
                    Ack::Duplicate
                });
            }
            self.rows.send_replace(inner.rows.len());
            if inner.lose_acks > 0 {
                inner.lose_acks -= 1;
                return Err(Down {
                    since: Timestamp::EPOCH,
                    why: "cut".into(),
                });
            }
            (acks, inner.after_commit.take())
        };
        if let Some(after) = after {
            after();
        }
        Ok(acks)
    }

    async fn status(&self, id: NotificationId) -> Result<Option<RemoteStatus>, Down> {
        self.check()?;
        self.unless_silent().await;
        let inner = self.inner.lock().unwrap();
        let pending = || RemoteStatus {
            status: Status::Pending,
            retry_count: 0,
            last_error: None,
            enqueued_at: Timestamp::EPOCH,
            delivered_at: None,
            receipt: None,
        };
        Ok(inner
            .statuses
            .get(&id)
            .cloned()
            .or_else(|| inner.ids.contains(&id).then(pending)))
    }

    async fn telemetry(&self, batch: Vec<Telemetry>) -> Result<Vec<bool>, Down> {
        self.check()?;
        self.unless_silent().await;
        let mut inner = self.inner.lock().unwrap();
        if inner.no_telemetry {
            return Ok(vec![false; batch.len()]);
        }
        let n = batch.len();
        for news in batch {
            if inner.telemetry_known.insert(news.id) {
                inner.telemetry.push(news);
            }
        }
        Ok(vec![true; n])
    }

    fn state(&self) -> watch::Receiver<LinkState> {
        self.state.subscribe()
    }
}
