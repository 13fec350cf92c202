//! What travels over the link, in plain Rust. A notification's content travels whole; what central cannot read of it
//! (a type that only newer versions know) is refused by central, alone and in words.

use crate::bulk::ParkedFilter;
use crate::lease::PairReport;
use domain::{
    Content, NotificationId, Status, Timestamp, TraceContext,
    site::{Category, DatabaseIdentity},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One notification on its way to central. Central stamps the site itself, from the key the site speaks with.
#[derive(Debug, Clone, PartialEq)]
pub struct Forward {
    pub id: NotificationId,
    pub content: Content,
    pub instance: Option<String>,
    pub script: Option<String>,
    pub execution: Option<String>,
    pub parent_execution: Option<String>,
    /// When the site accepted it (the buffer row's `created_at`).
    pub site_enqueued_at: Timestamp,
    /// The step of a trace that hands it over.
    pub trace: Option<TraceContext>,
}

/// Central's answer to one forwarded notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ack {
    /// On central's disk.
    Accepted,
    /// On central's disk already, or it was once and has been purged.
    Duplicate,
    /// Central will never take it, and why, in words. Parks this item and no other.
    Refused(String),
    /// Not now: central could not store it. Try again later.
    NotNow(String),
}

/// Where a notification stands at central.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteStatus {
    pub status: Status,
    pub retry_count: u32,
    pub last_error: Option<String>,
    pub enqueued_at: Timestamp,
    pub delivered_at: Option<Timestamp>,
    pub receipt: Option<String>,
}

/// The link is not up, or broke before the answer came: nothing is known about what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("central is not reachable since {since}: {why}")]
pub struct Down {
    pub since: Timestamp,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkState {
    Up {
        since: Timestamp,
        /// The database behind the central that answers. Changes while the link stays up when it fails over.
        central: DatabaseIdentity,
        /// The address that answered.
        address: String,
    },
    Down {
        since: Timestamp,
        why: String,
    },
}

impl LinkState {
    pub fn is_up(&self) -> bool {
        matches!(self, Self::Up { .. })
    }
}

/// Which parked messages to show.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedPage {
    pub filter: ParkedFilter,
    pub limit: u32,
    /// Where the last page said to go on; the site's own text, opaque to central.
    pub after: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedAnswer {
    pub messages: Vec<ParkedMessage>,
    pub next: Option<String>,
    /// How many match in all.
    pub total: u64,
}

/// A message parked at a site. Its payload stays there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParkedMessage {
    pub id: String,
    pub category: Category,
    /// The list, system or connection.
    pub target: String,
    pub retry_count: u32,
    pub max_retries: u32,
    pub created_at: Timestamp,
    pub last_attempt_at: Option<Timestamp>,
    pub parked_at: Option<Timestamp>,
    pub last_error: Option<String>,
    pub instance: Option<String>,
    pub script: Option<String>,
    /// What it is in a few words: method and path, statement, subject.
    pub summary: Option<String>,
}

/// What came of acting on a parked message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParkedActed {
    Done,
    NotFound,
    /// It is there, but not parked (any more).
    WrongState,
}

/// How a site is doing. Central keeps the last one as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SiteReport {
    pub node: String,
    pub version: String,
    /// Waiting in the buffer, by category.
    pub backlog: BTreeMap<Category, u64>,
    pub parked: u64,
    /// When the oldest waiting message was accepted.
    pub oldest_waiting: Option<Timestamp>,
    /// Messages of a category without a handler.
    pub without_handler: u64,
    pub buffer_bytes: u64,
    /// What keeps the site from accepting messages (disk full, limit reached), in words.
    pub refusing: Option<String>,
    /// The last few entries of the site event log, newest last.
    pub events: Vec<SiteEvent>,
    /// What was found damaged at the site and nobody there has acknowledged, oldest first.
    pub damage: Vec<SiteDamage>,
    /// What central acknowledged before this moment gave way to new messages: should central's database be lost, it is
    /// not sent again.
    pub forgotten_until: Option<Timestamp>,
    /// Of a machine of a pair.
    pub pair: Option<PairReport>,
}

/// Damage at a site.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteDamage {
    pub at: Timestamp,
    /// In words.
    pub what: String,
    /// The file at the site that was set aside, if one was.
    pub file: Option<String>,
    /// Messages that were brought back.
    pub recovered: u64,
    /// Messages that could not be read.
    pub lost: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteEvent {
    pub at: Timestamp,
    /// Queued, Delivered, Retried, Parked, Retry, Discard.
    pub what: String,
    pub message: String,
    pub detail: Option<String>,
}
