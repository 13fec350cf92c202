//! Sending out: the queue apart from what is kept, claims that do not wait for the disk, completions that do.

use super::{Commit, connect, failed, prototype, settle, sql};
use crate::limits::{BATCH, Handler, IN_FLIGHT, Sample, per_second};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use std::{sync::Arc, time::Instant};
use store::{Error, Result};
use tokio::sync::{Mutex, mpsc};
use tokio_postgres::{Client, Row, Statement};

/// Connections that claim, and that complete: the two overlap.
const CLAIMERS: usize = 2;
const FINISHERS: usize = 2;

/// The most rows one completion takes.
const FINISH: usize = 2_000;

/// Drains `rows` messages; without a handler nothing is done with them.
pub async fn drain(url: &str, rows: u64, handler: Option<Handler>) -> Result<f64> {
    fill(&prototype(url).await?, rows).await?;
    settle(url).await?;
    let (done, finished) = mpsc::channel::<i64>(4 * BATCH);
    let finished = Arc::new(Mutex::new(finished));
    let (mut claimers, mut finishers) = (vec![], vec![]);
    for _ in 0..FINISHERS {
        let client = connect(url, Commit::Durable).await?;
        let finish = client.prepare(sql::FINISH).await.map_err(failed)?;
        finishers.push((client, finish));
    }
    for _ in 0..CLAIMERS {
        let client = connect(url, Commit::Lazy).await?;
        let claim = client.prepare(sql::CLAIM).await.map_err(failed)?;
        claimers.push((client, claim));
    }
    let start = Instant::now();
    let mut claiming = vec![];
    for (client, claim) in claimers {
        claiming.push(tokio::spawn(send(client, claim, handler.clone(), done.clone())));
    }
    drop(done);
    let mut finishing = vec![];
    for (client, finish) in finishers {
        finishing.push(tokio::spawn(complete(client, finish, finished.clone())));
    }
    for task in claiming {
        task.await.map_err(Error::unavailable)??;
    }
    let mut completed = 0;
    for task in finishing {
        completed += task.await.map_err(Error::unavailable)??;
    }
    let rate = per_second(rows, start.elapsed());
    match completed == rows {
        true => Ok(rate),
        false => Err(Error::Refused(format!(
            "{completed} of {rows} messages were completed"
        ))),
    }
}

/// Claims the next batch while the last one is handled.
async fn send(
    client: Client,
    claim: Statement,
    handler: Option<Handler>,
    done: mpsc::Sender<i64>,
) -> Result<()> {
    let batch = BATCH as i64;
    let mut rows = client.query(&claim, &[&batch]).await.map_err(failed)?;
    while !rows.is_empty() {
        let params: super::Params<'_> = &[&batch];
        let (next, ()) = tokio::join!(
            client.query(&claim, params),
            handle(&rows, handler.as_ref(), &done)
        );
        rows = next.map_err(failed)?;
    }
    Ok(())
}

async fn handle(rows: &[Row], handler: Option<&Handler>, done: &mpsc::Sender<i64>) {
    let Some(handler) = handler else {
        for row in rows {
            // The receivers go only when every claimer has.
            let _ = done.send(row.get(0)).await;
        }
        return;
    };
    let messages = rows
        .iter()
        .map(|row| (row.get::<_, i64>(0), row.get::<_, &str>(1)));
    stream::iter(messages)
        .for_each_concurrent(IN_FLIGHT, |(seq, payload)| async move {
            handler(Bytes::copy_from_slice(payload.as_bytes())).await;
            let _ = done.send(seq).await;
        })
        .await;
}

async fn complete(
    client: Client,
    finish: Statement,
    finished: Arc<Mutex<mpsc::Receiver<i64>>>,
) -> Result<u64> {
    let (mut seqs, mut completed) = (vec![], 0);
    while finished.lock().await.recv_many(&mut seqs, FINISH).await > 0 {
        completed += client.execute(&finish, &[&seqs]).await.map_err(failed)?;
        seqs.clear();
    }
    Ok(completed)
}

async fn fill(client: &Client, rows: u64) -> Result<()> {
    let fill = client.prepare(sql::FILL).await.map_err(failed)?;
    let sample = Sample::new();
    let mut n = 0;
    while n < rows {
        let these = n..(n + 1_000).min(rows);
        n = these.end;
        let keys: Vec<String> = these.clone().map(|n| sample.key(n)).collect();
        let payloads: Vec<String> = these.map(Sample::payload).collect();
        client.execute(&fill, &[&keys, &payloads]).await.map_err(failed)?;
    }
    Ok(())
}
