//! What the figures on the overview mean.

use crate::Timestamp;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The state of an outbox at one moment, for all sites or for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Kpis {
    /// Pending and Retrying.
    pub queue_depth: u64,
    /// Waiting for longer than the threshold; for show only.
    pub stuck_count: u64,
    pub parked_count: u64,
    /// Delivered within the trailing window, to the resolution of [`BUCKET`].
    pub delivered_last_interval: u64,
    pub oldest_pending_age_seconds: Option<u64>,
}

/// Counts over time are kept in buckets of this length.
pub const BUCKET: Duration = Duration::from_secs(10);

/// Counts over time are kept this long.
pub const STATS_KEPT: Duration = Duration::from_secs(31 * 24 * 3600);

/// Older than the threshold and not yet at its end. `waiting_since` is the latest of created, `sendAt` and requeue.
pub fn is_stuck(waiting_since: Timestamp, now: Timestamp, threshold: Duration) -> bool {
    now.since(waiting_since) > threshold
}
