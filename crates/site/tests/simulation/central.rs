//! A central over the real link server. Its database is a list that outlives the process.

use crate::trace::Trace;
use async_trait::async_trait;
use domain::{
    NotificationId,
    pair::{LeaseAnswer, LeaseAsk, Terms, WitnessRow, witness},
    site::{DatabaseIdentity, Telemetry},
};
use link::{
    Ack, Forward, RemoteStatus, SiteReport,
    server::{
        FromStandby, Gateway, Identity, LeaseRequest, Refusal, RemoteSite, SiteHello, SiteSession, serve,
    },
    transport::Wire,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use turmoil::net::TcpListener;
use uuid::Uuid;

pub const PORT: u16 = 7443;
/// The longest that it gives.
pub const LEASE: Duration = Duration::from_secs(5);

/// What survives a crash of central.
#[derive(Debug, Clone, Default)]
pub struct Database(Arc<Mutex<Rows>>);

#[derive(Debug, Default)]
struct Rows {
    order: Vec<NotificationId>,
    copies: HashMap<NotificationId, u32>,
    starts: u32,
    /// Of the pair, and when it was written.
    witness: Option<(WitnessRow, Duration)>,
    turns: u128,
}

impl Database {
    /// The file is opened: as a copy of it would look the same, it is another one each time.
    fn opened(&self) -> DatabaseIdentity {
        let mut rows = self.0.lock().unwrap();
        rows.starts += 1;
        DatabaseIdentity {
            id: Uuid::nil(),
            epoch: rows.starts.to_string(),
        }
    }

    /// Stored, unless it is there.
    fn store(&self, id: NotificationId) -> bool {
        let mut rows = self.0.lock().unwrap();
        if rows.copies.contains_key(&id) {
            return false;
        }
        rows.copies.insert(id, 1);
        rows.order.push(id);
        true
    }

    /// As central's row of the site answers, on central's clock.
    fn lease(&self, database: &str, ask: &LeaseAsk) -> LeaseAnswer {
        let mut rows = self.0.lock().unwrap();
        let now = turmoil::sim_elapsed().unwrap_or_default();
        let row = rows.witness.take().map(|(row, at)| WitnessRow {
            left: row.left.saturating_sub(now.saturating_sub(at)),
            ..row
        });
        rows.turns += 1;
        let (terms, new) = (Terms::of(LEASE), Uuid::from_u128(rows.turns));
        let (next, answer) = witness::answer(terms, row.as_ref(), database, ask, new);
        rows.witness = next.or(row).map(|row| (row, now));
        answer
    }

    /// A copy from before the last `n` rows is put back.
    pub fn lose_last(&self, n: usize) -> usize {
        let mut rows = self.0.lock().unwrap();
        let keep = rows.order.len().saturating_sub(n);
        let lost = rows.order.split_off(keep);
        for id in &lost {
            rows.copies.remove(id);
        }
        lost.len()
    }

    pub fn has(&self, id: NotificationId) -> bool {
        self.0.lock().unwrap().copies.contains_key(&id)
    }

    pub fn len(&self) -> usize {
        self.0.lock().unwrap().order.len()
    }
}

/// Serves until the host crashes.
pub async fn central(database: Database, trace: Trace) -> turmoil::Result {
    let identity = watch::Sender::new(database.opened());
    trace.say(format!("central starts, epoch {}", identity.borrow().epoch));
    let listener = TcpListener::bind(("0.0.0.0", PORT)).await?;
    let (wires, incoming) = mpsc::channel(16);
    tokio::spawn(async move {
        while let Ok((stream, peer)) = listener.accept().await {
            let _ = wires.send(Ok(Wire::new(stream, peer.to_string()))).await;
        }
    });
    let incoming = futures_util::stream::unfold(incoming, |mut incoming| async {
        let wire = incoming.recv().await?;
        Some((wire, incoming))
    });
    let gateway = Arc::new(Desk {
        database,
        identity,
        trace,
    });
    let name = Identity {
        node: "sim".into(),
        version: "0".into(),
    };
    serve(incoming, name, gateway, CancellationToken::new()).await?;
    Ok(())
}

#[derive(Clone)]
struct Desk {
    database: Database,
    identity: watch::Sender<DatabaseIdentity>,
    trace: Trace,
}

#[async_trait]
impl Gateway for Desk {
    async fn admit(&self, _: SiteHello, _: RemoteSite) -> Result<Arc<dyn SiteSession>, Refusal> {
        Ok(Arc::new(self.clone()))
    }

    async fn lease(&self, asked: LeaseRequest) -> Result<LeaseAnswer, Refusal> {
        let database = self.identity.borrow().epoch.clone();
        Ok(self.database.lease(&database, &asked.ask))
    }

    async fn submit_beside(&self, handed: FromStandby) -> Result<Vec<Ack>, Refusal> {
        Ok(self.store(handed.batch).await)
    }
}

impl Desk {
    /// A commit takes its time; a crash may come before or after it.
    async fn store(&self, batch: Vec<Forward>) -> Vec<Ack> {
        let n = batch.len();
        tokio::time::sleep(Duration::from_millis(5)).await;
        let mut fresh = 0;
        let acks = batch
            .into_iter()
            .map(|item| match self.database.store(item.id) {
                true => {
                    fresh += 1;
                    Ack::Accepted
                }
                false => Ack::Duplicate,
            })
            .collect();
        self.trace.say(format!("central stores {fresh} of {n}"));
        acks
    }
}

#[async_trait]
impl SiteSession for Desk {
    fn database(&self) -> watch::Receiver<DatabaseIdentity> {
        self.identity.subscribe()
    }

    async fn submit(&self, batch: Vec<Forward>) -> Vec<Ack> {
        self.store(batch).await
    }

    async fn status(&self, _: NotificationId) -> Result<Option<RemoteStatus>, String> {
        Ok(None)
    }

    async fn telemetry(&self, batch: Vec<Telemetry>) -> Vec<bool> {
        vec![true; batch.len()]
    }

    fn reported(&self, _: SiteReport) {}

    async fn left(&self, _: &str) {}
}
