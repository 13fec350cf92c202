//! History by the million: finished notifications as the product would have written them, in a few statements.

use super::{Commit, connect, failed, sql};
use crate::limits::Sample;
use domain::LaneId;
use store::Result;

/// Rows written by one statement.
const STEP: u64 = 100_000;

/// Adds `rows` delivered notifications of a lane of the default tenant, with outcome, attempt and statistics each,
/// spread over the past at a hundred a second. `progress` is told how many are there.
pub async fn keep(url: &str, lane: LaneId, rows: u64, progress: impl Fn(u64)) -> Result<()> {
    // Filling may be lazy: the checkpoint that follows makes it durable.
    let client = connect(url, Commit::Lazy).await?;
    let (salt, body) = (Sample::new().key(rows), Sample::body(rows));
    let mut n = 0;
    while n < rows {
        let last = (n + STEP).min(rows);
        let (from, to) = (n as i64 + 1, last as i64);
        let given: super::Params<'_> = &[&from, &to, &lane.0, &salt, &body];
        let first = client
            .query_one(sql::KEEP_NOTIFICATIONS, given)
            .await
            .map_err(failed)?;
        let (low, high): (i64, i64) = (first.get(0), first.get(1));
        client
            .execute(sql::KEEP_OUTCOMES, &[&low, &high])
            .await
            .map_err(failed)?;
        client
            .execute(sql::KEEP_STATS, &[&low, &high])
            .await
            .map_err(failed)?;
        n = last;
        progress(n);
    }
    Ok(())
}
