//! Taking in: one row per commit, group commit, one connection with many rows a statement.

use super::{Commit, connect, failed, prototype, sql};
use crate::limits::{BATCH, CLIENTS, Sample, per_second};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use store::{Error, Result};
use tokio::sync::{Mutex, mpsc, oneshot};

/// Connections that a group commit writes over; four and eight were slower.
const WRITERS: usize = 2;

/// One client, one connection, one row per transaction. On a thread of its own with its own scheduler, so that no
/// thread is woken for a row: as close to the server as a client gets.
pub async fn one_by_one(url: &str, run_for: Duration) -> Result<f64> {
    prototype(url).await?;
    let url = url.to_owned();
    let alone = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(Error::unavailable)?.block_on(async {
            let client = connect(&url, Commit::Durable).await?;
            let insert = client.prepare(sql::INSERT_ONE).await.map_err(failed)?;
            let (sample, mut n, start) = (Sample::new(), 0, Instant::now());
            while start.elapsed() < run_for {
                let (key, payload) = (sample.key(n), Sample::payload(n));
                client.execute(&insert, &[&key, &payload]).await.map_err(failed)?;
                n += 1;
            }
            Ok(per_second(n, start.elapsed()))
        })
    };
    tokio::task::spawn_blocking(alone)
        .await
        .map_err(Error::unavailable)?
}

struct Item {
    key: String,
    payload: String,
    stored: oneshot::Sender<()>,
}

/// Clients that enqueue one by one and wait for their commit; what waits is written together.
pub async fn group(url: &str, run_for: Duration) -> Result<f64> {
    prototype(url).await?;
    let (queue, waiting) = mpsc::channel::<Item>(4 * CLIENTS);
    let waiting = Arc::new(Mutex::new(waiting));
    let mut writers = vec![];
    for _ in 0..WRITERS {
        let client = connect(url, Commit::Durable).await?;
        writers.push(tokio::spawn(write(client, waiting.clone())));
    }
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
    for writer in writers {
        writer.await.map_err(Error::unavailable)??;
    }
    Ok(rate)
}

async fn write(client: tokio_postgres::Client, waiting: Arc<Mutex<mpsc::Receiver<Item>>>) -> Result<()> {
    let insert = client.prepare(sql::INSERT_MANY).await.map_err(failed)?;
    let mut items = Vec::with_capacity(BATCH);
    while waiting.lock().await.recv_many(&mut items, BATCH).await > 0 {
        let (mut keys, mut payloads, mut stored) = (vec![], vec![], vec![]);
        for item in items.drain(..) {
            keys.push(item.key);
            payloads.push(item.payload);
            stored.push(item.stored);
        }
        client
            .execute(&insert, &[&keys, &payloads])
            .await
            .map_err(failed)?;
        for one in stored {
            let _ = one.send(());
        }
    }
    Ok(())
}

/// One connection, many rows a statement.
pub async fn bulk(url: &str, rows: u64) -> Result<f64> {
    let client = prototype(url).await?;
    let insert = client.prepare(sql::INSERT_MANY).await.map_err(failed)?;
    let (sample, mut n, start) = (Sample::new(), 0, Instant::now());
    while n < rows {
        let these = n..n + BATCH as u64;
        let keys: Vec<String> = these.clone().map(|n| sample.key(n)).collect();
        let payloads: Vec<String> = these.map(Sample::payload).collect();
        client
            .execute(&insert, &[&keys, &payloads])
            .await
            .map_err(failed)?;
        n += BATCH as u64;
    }
    Ok(per_second(n, start.elapsed()))
}
