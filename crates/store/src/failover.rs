//! Moving what waits from a provider in trouble to the next one of its channel, where a tenant has asked for that.
//!
//! Leaves to others: which provider is next, and whether it could send a message at all (`central::failover`).
//! Always true: a row moves only if nobody can have it already and nobody is sending it; it leaves each lane at most once
//! in a generation, because it carries with it which ones it has left.

use crate::Result;
use async_trait::async_trait;
use domain::{
    Actor, Channel, Content, HoldReason, LaneId, NotificationId, ProviderId, Seq, TenantId, Timestamp,
};
use std::fmt::Debug;

/// Rows of a lane that one look for movable ones steps over.
pub const EXAMINED_ROWS: u32 = 1_000;
/// Rows that are moved together: they come with their content.
pub const MOVED_ROWS: u32 = 64;

#[async_trait]
pub trait Failover: Debug + Send + Sync {
    /// The channels of a tenant whose messages go on to the next provider.
    async fn failover_channels(&self, tenant: TenantId) -> Result<Vec<Channel>>;
    /// Switches that on or off. Answers whether it was otherwise before. Audited; raises the directory version.
    async fn put_failover(&self, tenant: TenantId, channel: Channel, on: bool, actor: &Actor)
    -> Result<bool>;

    /// The lanes of such channels that are held for trouble of their own: not by an operator, not because they are switched off.
    async fn failing_lanes(&self) -> Result<Vec<FailingLane>>;
    /// The lane's next rows that may leave it, in the order in which they are due: addressed to a channel and not to a
    /// provider, due or put off by an earlier attempt (but not until certain hours), without a token or an interrupted claim,
    /// and nobody in doubt.
    async fn movable_rows(&self, lane: LaneId, after: Option<Place>) -> Result<MovableRows>;
    /// Moves rows out of a lane that is still held for trouble of its own, if they still may leave it: uncounted, due at once,
    /// with a fresh budget. Audited row by row. Answers with what was moved.
    async fn move_rows(&self, from: LaneId, moves: Vec<RowMove>) -> Result<Vec<MovedRow>>;
    /// Brings back one row that has left this lane and was tried nowhere else, for the probe of a lane that has none. Answers
    /// whether there was one.
    async fn lend_probe_row(&self, lane: LaneId) -> Result<bool>;
}

/// A lane whose rows are to go elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingLane {
    pub lane: LaneId,
    pub tenant: TenantId,
    pub channel: Channel,
    pub provider: ProviderId,
    pub reason: HoldReason,
    /// One row may be sent to see whether it is well again.
    pub probe_due: bool,
    pub has_rows: bool,
}

/// A place in a lane's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub due_at: Timestamp,
    pub seq: Seq,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct MovableRows {
    pub rows: Vec<MovableRow>,
    /// Where to go on; none at the end of what is due.
    pub next: Option<Place>,
    /// The store's clock when it looked; none where nothing waits.
    pub now: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MovableRow {
    pub place: Place,
    pub generation: i32,
    /// The lanes it has left in this generation.
    pub left: Vec<LaneId>,
    /// What an attempt goes by.
    pub content: Content,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowMove {
    pub seq: Seq,
    pub generation: i32,
    pub to: LaneId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedRow {
    pub tenant: TenantId,
    pub id: NotificationId,
    pub to: LaneId,
}

/// What a look at [`EXAMINED_ROWS`] rows found besides the rows themselves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Examined {
    pub rows: i64,
    pub last: Place,
    pub now: Timestamp,
}

impl MovableRows {
    /// Goes on after the last row that was taken along, or after all that were looked at. Of what is due later, one look at
    /// the nearest is enough: the rest is moved when it is due.
    pub(crate) fn of(rows: Vec<MovableRow>, examined: Option<Examined>) -> Self {
        let full = rows.len() >= MOVED_ROWS as usize;
        let next = match (rows.last(), examined) {
            (Some(last), _) if full => Some(last.place),
            (_, Some(seen)) if seen.rows >= i64::from(EXAMINED_ROWS) && seen.last.due_at <= seen.now => {
                Some(seen.last)
            }
            _ => None,
        };
        let now = examined.map(|seen| seen.now);
        Self { rows, next, now }
    }
}

/// What the log says about a row that was moved.
pub(crate) fn moved_in_words(from: &str, reason: HoldReason) -> String {
    format!("moved on from {from}, which is held ({reason})")
}

/// What the log says about a channel.
pub(crate) fn switched_in_words(on: bool) -> &'static str {
    match on {
        true => "goes on to the next provider when one is held",
        false => "stays with its provider",
    }
}
