//! History by the million: finished notifications as the product would have written them, in a few statements.

use super::{begin, on_thread, open, sql};
use crate::limits::Sample;
use domain::{LaneId, Timestamp};
use std::path::Path;
use store::Result;

/// Rows written by one transaction.
const STEP: u64 = 100_000;

/// Adds `rows` delivered notifications of a lane of the default tenant, with outcome, audit row and statistics each,
/// spread over the past at a hundred a second. `progress` is told how many are there. No process may have the file
/// open as its store.
pub async fn keep(
    path: &Path,
    lane: LaneId,
    rows: u64,
    now: Timestamp,
    progress: impl Fn(u64) + Send + 'static,
) -> Result<()> {
    let path = path.to_owned();
    on_thread(move || {
        let conn = open(&path)?;
        // Filling need not be durable until it is over, and ids are in random order: keep their index in memory.
        conn.pragma_update(None, "synchronous", "off")?;
        conn.pragma_update(None, "cache_size", -1_000_000)?;
        let (salt, body) = (Sample::new().key(rows), Sample::body(rows));
        let mut n = 0;
        while n < rows {
            let last = (n + STEP).min(rows);
            let tx = begin(&conn)?;
            let given = (n as i64 + 1, last as i64, &salt, &body, now.as_millis());
            tx.execute(sql::KEEP_NOTIFICATIONS, given)?;
            let high = tx.last_insert_rowid();
            let low = high - (last - n) as i64 + 1;
            tx.execute(sql::KEEP_OUTCOMES, (low, high, lane.0))?;
            tx.execute(sql::KEEP_STATS, (low, high))?;
            tx.commit()?;
            n = last;
            progress(n);
        }
        conn.query_row("pragma wal_checkpoint(truncate)", [], |_| Ok(()))?;
        conn.pragma_update(None, "synchronous", "full")?;
        Ok(())
    })
    .await
}
