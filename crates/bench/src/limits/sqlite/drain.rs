//! Sending out over one writer: the outcomes of one batch and the claim of the next share a commit.

use super::{begin, on_thread, prototype, sql};
use crate::limits::{BATCH, Handler, IN_FLIGHT, Sample, per_second};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use rusqlite::Connection;
use std::{path::Path, time::Instant};
use store::{Error, Result};
use tokio::runtime::Handle;

/// Drains `rows` messages; without a handler nothing is done with them.
pub async fn drain(folder: &Path, rows: u64, handler: Option<Handler>) -> Result<f64> {
    let (folder, runtime) = (folder.to_owned(), Handle::current());
    on_thread(move || {
        let (conn, _) = prototype(&folder)?;
        fill(&conn, rows)?;
        let start = Instant::now();
        let (mut ended, mut completed): (Vec<i64>, u64) = (vec![], 0);
        loop {
            let (done, claimed) = round(&conn, &ended)?;
            completed += done;
            if claimed.is_empty() {
                break;
            }
            ended = claimed.iter().map(|(seq, _)| *seq).collect();
            if let Some(handler) = &handler {
                let all = stream::iter(claimed)
                    .for_each_concurrent(IN_FLIGHT, |(_, payload)| handler(Bytes::from(payload)));
                runtime.block_on(all);
            }
        }
        let rate = per_second(rows, start.elapsed());
        match completed == rows {
            true => Ok(rate),
            false => Err(Error::Refused(format!(
                "{completed} of {rows} messages were completed"
            ))),
        }
    })
    .await
}

/// One commit. How many of the last batch it completed, and the next batch.
fn round(conn: &Connection, ended: &[i64]) -> Result<(u64, Vec<(i64, String)>)> {
    let tx = begin(conn)?;
    let (mut finish, mut log) = (tx.prepare_cached(sql::FINISH)?, tx.prepare_cached(sql::LOG)?);
    let mut completed = 0;
    for seq in ended {
        completed += finish.execute([seq])? as u64;
        log.execute([seq])?;
    }
    let mut claim = tx.prepare_cached(sql::CLAIM)?;
    let claimed = claim
        .query_map([BATCH as i64], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    drop((finish, log, claim));
    tx.commit()?;
    Ok((completed, claimed))
}

fn fill(conn: &Connection, rows: u64) -> Result<()> {
    let tx = begin(conn)?;
    let sample = Sample::new();
    let mut insert = tx.prepare_cached(sql::INSERT_ONE)?;
    for n in 0..rows {
        insert.execute((sample.key(n), Sample::payload(n)))?;
    }
    drop(insert);
    Ok(tx.commit()?)
}
