//! From the call that enqueues to the start of the handler: a durable insert, a wake-up in the process, a claim.

use super::{Commit, connect, failed, prototype, sql};
use crate::limits::{Latencies, Sample, pace::Pace};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};
use store::{Error, Result};
use tokio::sync::mpsc;

/// Twenty messages a second, so many of them.
pub async fn latency(url: &str, messages: u64) -> Result<Latencies> {
    let writer = prototype(url).await?;
    let fill = writer.prepare(sql::FILL).await.map_err(failed)?;
    let started: Arc<Mutex<HashMap<String, Instant>>> = Arc::default();
    let (wake, mut woken) = mpsc::channel::<()>(1);
    let claimer = connect(url, Commit::Lazy).await?;
    let finisher = connect(url, Commit::Durable).await?;
    let seen = started.clone();
    let worker = tokio::spawn(async move {
        let claim = claimer.prepare(sql::CLAIM).await.map_err(failed)?;
        let finish = finisher.prepare(sql::FINISH).await.map_err(failed)?;
        let mut took = Latencies::default();
        while woken.recv().await.is_some() {
            let rows = claimer.query(&claim, &[&100_i64]).await.map_err(failed)?;
            let now = Instant::now();
            let mut seqs: Vec<i64> = vec![];
            for row in &rows {
                let mut started = seen.lock().unwrap_or_else(PoisonError::into_inner);
                took.0
                    .extend(started.remove(row.get::<_, &str>(2)).map(|at| now - at));
                seqs.push(row.get(0));
            }
            finisher.execute(&finish, &[&seqs]).await.map_err(failed)?;
        }
        Ok::<_, Error>(took)
    });
    let (sample, mut pace) = (Sample::new(), Pace::new());
    for n in 0..messages {
        let key = sample.key(n);
        let at = pace.next().await;
        started
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key.clone(), at);
        let rows = (vec![key], vec![Sample::payload(n)]);
        writer.execute(&fill, &[&rows.0, &rows.1]).await.map_err(failed)?;
        // A wake-up that is on its way already will see this row too.
        let _ = wake.try_send(());
    }
    // One more look for what came while the last one was under way.
    let _ = wake.send(()).await;
    drop(wake);
    worker.await.map_err(Error::unavailable)?
}
