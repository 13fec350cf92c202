//! Messages that wait at a site: a page of them, and what comes of having one tried or given up.
//!
//! Always true: a site that does not know these questions answers that it does not, and does nothing.

mod wire;

use domain::{
    Timestamp,
    site::{Category, WaitingStatus},
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How long a site may keep central waiting for the end of an attempt: less than central waits for any answer.
pub const TRY_ANSWER_WITHIN: Duration = Duration::from_secs(8);

/// Which waiting messages to show.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingPage {
    pub category: Option<Category>,
    pub limit: u32,
    /// Where the last page said to go on; the site's own text, opaque to central.
    pub after: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingAnswer {
    pub messages: Vec<WaitingMessage>,
    pub next: Option<String>,
    /// How many wait in all, of the category that was asked for.
    pub total: u64,
}

/// A message that waits at a site for its next attempt. Its payload stays there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitingMessage {
    pub id: String,
    pub category: Category,
    /// The list, system or connection.
    pub target: String,
    pub retry_count: u32,
    pub max_retries: u32,
    pub created_at: Timestamp,
    pub last_attempt_at: Option<Timestamp>,
    pub due_at: Timestamp,
    pub last_error: Option<String>,
    pub instance: Option<String>,
    pub script: Option<String>,
    /// What it is in a few words: method and path, statement.
    pub summary: Option<String>,
    /// Why it is not attempted although it may be due: the other machine of the site may make it.
    pub held: Option<String>,
}

/// What came of acting on a waiting message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum WaitingActed {
    /// How it stands now, and of an attempt that failed the error.
    Done {
        status: WaitingStatus,
        error: Option<String>,
    },
    NotFound,
    /// It is there, but cannot be tried or given up now, and why.
    WrongState(String),
}
