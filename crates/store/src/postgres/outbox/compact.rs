//! Keeps the queue small while somebody's open transaction keeps a vacuum from it.
//!
//! Always true: nothing that waits is lost or changed, leases included; nobody is kept waiting longer than a lock may be
//! waited for and a hundred thousand rows be copied; when the lock cannot be had (a dump has read the queue), the queue
//! grows until it can.

use super::sql;
use crate::postgres::{
    failed::Failed,
    session::{Db, Session},
};

/// What the statement itself checks once nobody else is there.
const LARGE: i64 = 128 << 20;
/// With as many bytes for each row that waits, most of it is rows that are gone.
const MOSTLY_GONE: i64 = 1_024;

/// Whether a queue of so many bytes, with so many rows that wait, is to be compacted.
pub(super) fn worth_it(size: i64, left: i64) -> bool {
    size > LARGE && left.saturating_mul(MOSTLY_GONE) < size
}

pub(in crate::postgres) async fn compact(db: &Db) -> Result<(), Failed> {
    let session = db.general().await?;
    session.exec(sql::compact_due, &[]).await.map(drop)
}
