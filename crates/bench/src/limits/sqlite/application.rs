//! An application with its own file: a booking and its event in one transaction.

use super::{begin, on_thread, open, sql};
use crate::limits::Latencies;
use rusqlite::Connection;
use std::{
    path::Path,
    sync::mpsc,
    time::{Duration, Instant},
};
use store::{Error, Result};
use tokio::time::MissedTickBehavior;

/// Makes the application's file with its own table. The outbox is installed by whoever reads it.
pub fn make_application(path: &Path) -> Result<()> {
    Ok(open(path)?.execute_batch(sql::BOOKINGS)?)
}

/// Writes so many bookings at this pace; how long each transaction took.
pub async fn book(path: &Path, bookings: u32, every: Duration) -> Result<Latencies> {
    let path = path.to_owned();
    let (tick, ticks) = mpsc::channel();
    let writing = tokio::spawn(on_thread(move || {
        let conn = open(&path)?;
        let mut took = vec![];
        for booking in ticks {
            let began = Instant::now();
            write(&conn, booking)?;
            took.push(began.elapsed());
        }
        Ok(Latencies(took))
    }));
    let mut pace = tokio::time::interval(every);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for booking in 0..bookings {
        pace.tick().await;
        // Who writes no longer says why below.
        let _ = tick.send(booking);
    }
    drop(tick);
    writing.await.map_err(Error::unavailable)?
}

fn write(conn: &Connection, booking: u32) -> Result<()> {
    let tx = begin(conn)?;
    tx.prepare_cached(sql::BOOK)?.execute([booking])?;
    tx.prepare_cached(sql::EMIT)?.execute([booking])?;
    Ok(tx.commit()?)
}
