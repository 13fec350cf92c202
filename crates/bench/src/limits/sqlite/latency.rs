//! From the call that enqueues to the start of the handler: an insert that is on disk, a wake-up, a claim.

use super::{begin, on_thread, open, prototype, sql};
use crate::limits::{Latencies, Sample, pace::Pace};
use rusqlite::Connection;
use std::{path::Path, time::Instant};
use store::{Error, Result};
use tokio::sync::{mpsc, oneshot};

/// Twenty messages a second, so many of them.
pub async fn latency(folder: &Path, messages: u64) -> Result<Latencies> {
    let (writer, path) = prototype(folder)?;
    let worker = open(&path)?;
    let (wake, woken) = mpsc::channel(16);
    let (insert, inserts) = mpsc::channel::<(u64, oneshot::Sender<()>)>(1);
    let inserting = tokio::spawn(on_thread(move || enqueue(&writer, inserts)));
    let claiming = tokio::spawn(on_thread(move || claim(&worker, woken)));
    let mut pace = Pace::new();
    for n in 0..messages {
        let at = pace.next().await;
        let (stored, answer) = oneshot::channel();
        if insert.send((n, stored)).await.is_err() || answer.await.is_err() {
            break;
        }
        let _ = wake.send(at).await;
    }
    drop((insert, wake));
    inserting.await.map_err(Error::unavailable)??;
    claiming.await.map_err(Error::unavailable)?
}

fn enqueue(conn: &Connection, mut inserts: mpsc::Receiver<(u64, oneshot::Sender<()>)>) -> Result<()> {
    let sample = Sample::new();
    let mut insert = conn.prepare(sql::INSERT_ONE)?;
    while let Some((n, stored)) = inserts.blocking_recv() {
        insert.execute((sample.key(n), Sample::payload(n)))?;
        let _ = stored.send(());
    }
    Ok(())
}

fn claim(conn: &Connection, mut woken: mpsc::Receiver<Instant>) -> Result<Latencies> {
    let mut took = Latencies::default();
    while let Some(at) = woken.blocking_recv() {
        let tx = begin(conn)?;
        let seqs: Vec<i64> = tx
            .prepare_cached(sql::CLAIM)?
            .query_map([100], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        tx.commit()?;
        took.0.push(at.elapsed());
        let tx = begin(conn)?;
        for seq in seqs {
            tx.prepare_cached(sql::FINISH)?.execute([seq])?;
            tx.prepare_cached(sql::LOG)?.execute([seq])?;
        }
        tx.commit()?;
    }
    Ok(took)
}
