//! What a link that stays down costs notifications that may not wait for ever.

use super::Forwarder;
use crate::engine;
use domain::{Failure, Scope, Timestamp, site::Category};
use link::LinkState;
use std::time::Duration;
use store::{
    Result,
    buffer::{Attempted, Count},
};

/// Notifications with a limit for which a try is counted in one commit.
const TRIES_PER_SWEEP: u32 = 1_000;

impl Forwarder {
    /// While the link is down, notifications with a limit use up their tries like any other message; those without
    /// (the default) just wait. Called by every sweep.
    pub async fn count_tries(&self) -> Result<()> {
        let LinkState::Down { since, why } = self.uplink.state().borrow().clone() else {
            return Ok(());
        };
        let failure = Failure::transient(
            Scope::Lane,
            "LINK_DOWN",
            format!("central is not reachable since {since}: {why}"),
        );
        let now = self.clock.now();
        for due in self.buffer.targets_due().await? {
            if !due.category.is_forwarded() || due.due_at > now {
                continue;
            }
            while self.count_a_try(&due.target, &failure).await? == TRIES_PER_SWEEP as usize {}
        }
        Ok(())
    }

    /// When the next try is counted after a sweep at this time, while the link is down.
    pub async fn next_try(&self, swept_at: Timestamp) -> Result<Option<Timestamp>> {
        if self.uplink.state().borrow().is_up() {
            return Ok(None);
        }
        let targets = self.buffer.targets_due().await?;
        let due = targets.into_iter().filter(|due| due.category.is_forwarded());
        Ok(due.map(|due| due.due_at).filter(|at| *at > swept_at).min())
    }

    /// Counts a try for some of those that are due; for how many.
    async fn count_a_try(&self, target: &str, failure: &Failure) -> Result<usize> {
        let claimed = self
            .buffer
            .claim_due(Category::Notification, target, TRIES_PER_SWEEP)
            .await?;
        let now = self.clock.now();
        let attempted = claimed.iter().map(|message| Attempted {
            ticket: message.ticket(),
            step: engine::step(message, failure, Count::Try, now.since(message.created_at)),
            started_at: now,
            took: Duration::ZERO,
            http_status: None,
        });
        self.buffer.record(attempted.collect()).await?;
        Ok(claimed.len())
    }
}
