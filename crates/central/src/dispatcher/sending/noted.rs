//! Keeping what is known about recipients while their row is being sent.

use crate::{
    directory::LaneEntry,
    dispatcher::attempt::{AttemptContext, Row},
};
use domain::settle::RecipientUpdate;

/// Whether something is on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noted {
    Kept,
    /// The row is somebody else's by now.
    NotOurs,
    /// The store failed, perhaps after it had written.
    Unknown,
}

impl AttemptContext {
    pub(super) async fn note(&self, row: &Row, entry: &LaneEntry, updates: Vec<RecipientUpdate>) -> Noted {
        let provider = entry
            .provider
            .as_ref()
            .map_or_else(String::new, ToString::to_string);
        match self.store.note_recipients(row.lease, &provider, updates).await {
            Ok(true) => Noted::Kept,
            Ok(false) => Noted::NotOurs,
            Err(error) => {
                tracing::warn!(
                    notification.id = %row.id,
                    error = &error as &dyn std::error::Error,
                    "what became of some recipients could not be kept; the others wait"
                );
                Noted::Unknown
            }
        }
    }
}
