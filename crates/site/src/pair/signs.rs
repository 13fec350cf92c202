//! What this machine must know of its disk before it gives a sign of life: that it answers the other machine, asks for the lease,
//! gives one, or takes over.
//!
//! Always true: a machine whose disk hangs or has failed says so instead, and its lease runs out, so that the other takes its
//! place. Whether the disk takes anything is known from what is written anyway; where nothing is, it is tried twice a minute.
//! A disk that is full answers: what becomes of that is decided in [`super::relieving`].

use super::Pair;
use std::{sync::Arc, time::Duration};

/// How long the disk may take for what is written to it.
pub const LONGEST_WRITE: Duration = Duration::from_secs(5);
/// How long there may be nothing to write before the disk is tried.
const PROVED_EVERY: Duration = Duration::from_secs(30);

impl Pair {
    /// An error is why this machine must not look alive, in words.
    pub(super) fn disk_answers(&self) -> Result<(), String> {
        self.buffer.check().map_err(|e| domain::chain(&e))?;
        match self.buffer.writing_for() {
            Some(time) if time >= LONGEST_WRITE => Err(format!(
                "the disk of {} hangs: it has not taken what was written {} s ago",
                self.settings.name,
                time.as_secs()
            )),
            Some(_) | None => Ok(()),
        }
    }

    /// Tries the disk when nothing else has for a while. Nobody waits for it here: a disk that hangs is found by the next look.
    pub(super) fn tries_disk(self: &Arc<Self>) {
        let unproved = self.buffer.unproved_for();
        if unproved.is_none_or(|time| time < PROVED_EVERY) {
            return;
        }
        let buffer = self.buffer.clone();
        tokio::spawn(async move {
            if let Err(error) = buffer.prove().await {
                tracing::warn!(error = domain::chain(&error), "the disk cannot be written to");
            }
        });
    }
}
