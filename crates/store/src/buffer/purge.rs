//! Letting go of what is past its time, a chunk at a time, so that others get in between.

use super::{Buffer, sql, telemetry};
use crate::Result;
use rusqlite::params;
use std::time::Duration;

const CHUNK: u32 = 1_000;
/// How long it is known that a notification has left.
const TOMBSTONES: Duration = Duration::from_secs(7 * 24 * 3600);

/// How much went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Purged {
    pub tracking: u64,
    pub events: u64,
    pub tombstones: u64,
    pub telemetry: u64,
}

impl Buffer {
    /// Deletes tracking of what ended, events and tombstones older than this. What has not ended stays, however
    /// old it is.
    pub async fn purge(&self, retention: Duration) -> Result<Purged> {
        let before = self.now() - retention;
        let buried_before = self.now() - retention.max(TOMBSTONES);
        Ok(Purged {
            tracking: self.purge_all(sql::purge_tracking, before).await?,
            events: self.purge_all(sql::purge_events, before).await?,
            tombstones: self.purge_all(sql::purge_tombstones, buried_before).await?,
            telemetry: self.telemetry_drop_beyond(telemetry::KEPT).await?,
        })
    }

    async fn purge_all(&self, sql: &'static str, before: domain::Timestamp) -> Result<u64> {
        let mut all = 0;
        loop {
            let gone = self
                .write(CHUNK as usize, move |s, shared| {
                    // The numbers of purged rows must not be given out again.
                    let op = shared.ops.load(std::sync::atomic::Ordering::SeqCst).to_string();
                    s.conn.prepare_cached(sql::meta_set)?.execute(["op", &op])?;
                    let mut purge = s.conn.prepare_cached(sql)?;
                    Ok(purge.execute(params![before.as_millis(), CHUNK])? as u64)
                })
                .await?;
            all += gone;
            if gone < u64::from(CHUNK) {
                return Ok(all);
            }
        }
    }
}
