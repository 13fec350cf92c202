//! In a SQLite file, with rusqlite.

use crate::{Change, payload};
use anyhow::{Context, ensure};
use rusqlite::{Connection, TransactionBehavior};
use std::time::Duration;

/// Waypost marks what it has taken in the same file, now and then: whoever comes second waits.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct Bookings {
    file: Connection,
}

impl Bookings {
    pub fn open(path: &str) -> anyhow::Result<Self> {
        let file = Connection::open(path).with_context(|| format!("cannot open {path}"))?;
        file.busy_timeout(BUSY_TIMEOUT)?;
        Ok(Self { file })
    }

    pub fn setup(&self) -> anyhow::Result<()> {
        self.file.execute_batch("pragma journal_mode = wal")?;
        Ok(self.file.execute_batch(include_str!("sql/setup_sqlite.sql"))?)
    }

    /// The booking's new status and its events, in one transaction.
    pub fn change(&mut self, booking: i64, change: Change) -> anyhow::Result<()> {
        let tx = self
            .file
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let update = "update bookings set status = ?1 where id = ?2";
        let changed = tx.execute(update, (change.status(), booking))?;
        ensure!(changed == 1, "there is no booking {booking}");
        for event in change.events(&booking.to_string(), &payload(booking)) {
            event.emit_in(&tx)?;
        }
        Ok(tx.commit()?)
    }

    pub fn show(&self, booking: i64) -> anyhow::Result<String> {
        let query = "select status || ', check-in ' || checkin from bookings where id = ?1";
        let found = self.file.query_row(query, [booking], |row| row.get(0));
        found.with_context(|| format!("there is no booking {booking}"))
    }
}
