//! Keeps the queue small while somebody's open transaction keeps a vacuum from it.
//!
//! Always true: nothing that waits is lost or changed, leases included; nobody is kept waiting longer than a lock may be
//! waited for and a hundred thousand rows be copied; when the lock cannot be had (a dump has read the queue), the queue
//! grows until it can.

use super::sql;
use crate::{
    Error,
    postgres::session::{Db, Session},
};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// What the statement itself checks once nobody else is there.
const LARGE: i64 = 128 << 20;
/// With as many bytes for each row that waits, most of it is rows that are gone.
const MOSTLY_GONE: i64 = 1_024;
/// A try that fails has kept everybody waiting a tenth of a second.
const BETWEEN: Duration = Duration::from_secs(10);

/// When it was tried last.
#[derive(Debug, Default)]
pub(in crate::postgres) struct Compacting(Mutex<Option<Instant>>);

impl Compacting {
    fn turn(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let turn = last.is_none_or(|last| now.duration_since(last) >= BETWEEN);
        if turn {
            *last = Some(now);
        }
        turn
    }
}

/// In the background: nobody waits for it.
pub(in crate::postgres) fn if_worth_it(db: &Db, size: i64, left: i64) {
    if size > LARGE && left.saturating_mul(MOSTLY_GONE) < size && db.compacting.turn() {
        tokio::spawn(compact(db.clone(), size));
    }
}

async fn compact(db: Db, size: i64) {
    let done = match db.general().await {
        Ok(session) => session.exec(sql::compact_due, &[]).await.map(drop),
        Err(failed) => Err(failed),
    };
    match done {
        Ok(()) => tracing::debug!(bytes = size, "the queue was compacted"),
        Err(failed) => tracing::info!(
            bytes = size,
            error = &Error::from(failed) as &dyn std::error::Error,
            "the queue holds many rows that are gone and could not be compacted now; it will be tried again"
        ),
    }
}
