//! Taking in: so many rows per transaction, and a group commit over one writer.

use super::{begin, on_thread, prototype, sql};
use crate::limits::{BATCH, CLIENTS, Sample, per_second};
use rusqlite::Connection;
use std::{
    path::Path,
    time::{Duration, Instant},
};
use store::{Error, Result};
use tokio::sync::{mpsc, oneshot};

/// One thread, `rows` rows in each transaction.
pub async fn one_by_one(folder: &Path, rows: u64, run_for: Duration) -> Result<f64> {
    let folder = folder.to_owned();
    on_thread(move || {
        let (conn, _) = prototype(&folder)?;
        let (sample, mut n, start) = (Sample::new(), 0, Instant::now());
        while start.elapsed() < run_for {
            let tx = begin(&conn)?;
            let mut insert = tx.prepare_cached(sql::INSERT_ONE)?;
            for _ in 0..rows {
                insert.execute((sample.key(n), Sample::payload(n)))?;
                n += 1;
            }
            drop(insert);
            tx.commit()?;
        }
        Ok(per_second(n, start.elapsed()))
    })
    .await
}

struct Item {
    key: String,
    payload: String,
    stored: oneshot::Sender<()>,
}

/// Clients that enqueue one by one and wait for their commit; one thread writes what waits together.
pub async fn group(folder: &Path, run_for: Duration) -> Result<f64> {
    let (conn, _) = prototype(folder)?;
    let (queue, waiting) = mpsc::channel::<Item>(4 * CLIENTS);
    let writer = tokio::spawn(on_thread(move || write(&conn, waiting)));
    let (sample, start) = (Sample::new(), Instant::now());
    let mut clients = vec![];
    for first in 0..CLIENTS as u64 {
        let (queue, sample) = (queue.clone(), sample.clone());
        clients.push(tokio::spawn(async move {
            let mut n = first;
            while start.elapsed() < run_for {
                let (stored, answer) = oneshot::channel();
                let (key, payload) = (sample.key(n), Sample::payload(n));
                if queue.send(Item { key, payload, stored }).await.is_err() || answer.await.is_err() {
                    break;
                }
                n += CLIENTS as u64;
            }
            (n - first) / CLIENTS as u64
        }));
    }
    drop(queue);
    let mut rows = 0;
    for client in clients {
        rows += client.await.map_err(Error::unavailable)?;
    }
    let rate = per_second(rows, start.elapsed());
    writer.await.map_err(Error::unavailable)??;
    Ok(rate)
}

fn write(conn: &Connection, mut waiting: mpsc::Receiver<Item>) -> Result<()> {
    let mut items = Vec::with_capacity(BATCH);
    while waiting.blocking_recv_many(&mut items, BATCH) > 0 {
        let tx = begin(conn)?;
        let mut insert = tx.prepare_cached(sql::INSERT_ONE)?;
        for item in &items {
            insert.execute((&item.key, &item.payload))?;
        }
        drop(insert);
        tx.commit()?;
        for item in items.drain(..) {
            let _ = item.stored.send(());
        }
    }
    Ok(())
}
