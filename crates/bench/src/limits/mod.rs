//! What the machine can do at most: the smallest outboxes that keep the promises, written straight onto each
//! database, so that `waypost bench` can show every figure of the product beside its limit.
//!
//! Leaves to others: the product's own store ([`store::Outbox`]), HTTP (a handler is passed in), tables of results.
//! Always true: a prototype acknowledges only what would survive power loss (claims excepted), keeps its
//! idempotency keys unique and writes an audit row per attempt; nothing the product runs calls anything in here.

pub mod disk;
mod pace;
pub mod postgres;
mod sample;
pub mod sqlite;

pub use pace::{Latencies, percentile};
pub use sample::Sample;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// What is done with each message of a drain. Must not fail: a limit is measured where everything works.
pub type Handler = Arc<dyn Fn(Bytes) -> BoxFuture<'static, ()> + Send + Sync>;

/// Rows per second.
pub fn per_second(rows: u64, took: std::time::Duration) -> f64 {
    rows as f64 / took.as_secs_f64()
}

/// Clients that enqueue one by one, over a group commit.
pub const CLIENTS: usize = 32;

/// Rows one claim or one completion takes, at most.
const BATCH: usize = 500;

/// Messages that a drain has under way at once, where handling them takes time.
const IN_FLIGHT: usize = 64;
