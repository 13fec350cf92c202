//! The seam between the dispatcher and a far end.

use async_trait::async_trait;
use domain::{Content, NotificationId, Outcome, Timestamp, TraceContext};
use tokio::time::Instant;

/// One way out. Built from a provider's settings, shared by all attempts of its lane, and kept as long as the
/// settings stay the same, so that connections are reused.
#[async_trait]
pub trait Adapter: std::fmt::Debug + Send + Sync {
    /// Makes one attempt. Always answers before the deadline; dropping the future abandons the attempt and is
    /// not an outcome.
    async fn deliver(&self, message: &Message, deadline: Deadline) -> Outcome;
}

/// What is to be delivered, and to whom. Targets are the recipients who are still open; channels that address
/// their far end by settings alone have none.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Stays the same over retries: becomes the Message-ID or the idempotency header.
    pub id: NotificationId,
    /// Whom it names has become `targets`.
    pub content: Content,
    pub targets: Vec<String>,
    /// Where it came from; shown to receivers that want to know.
    pub site: Option<String>,
    pub created_at: Timestamp,
    /// This attempt's step of a trace; for far ends that go on with it.
    pub trace: Option<TraceContext>,
}

impl Message {
    /// Fields only some channels know. They were checked to be JSON where they came in.
    pub fn type_data(&self) -> Option<serde_json::Value> {
        let text = self.content.type_data.as_deref()?;
        serde_json::from_str(text).ok()
    }
}

/// When an attempt must be over.
#[derive(Debug, Clone, Copy)]
pub struct Deadline(pub Instant);

impl Deadline {
    pub fn after(wait: std::time::Duration) -> Self {
        Self(from_now(wait))
    }

    pub fn left(self) -> std::time::Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// A little earlier, so that an outcome still gets out before whoever set the deadline gives up.
    pub fn with_margin(self) -> Self {
        let margin = (self.left() / 10).min(std::time::Duration::from_millis(100));
        Self(self.0.checked_sub(margin).unwrap_or(self.0))
    }

    /// The earlier of this deadline and `wait` from now.
    pub fn within(self, wait: std::time::Duration) -> Self {
        Self(self.0.min(from_now(wait)))
    }
}

/// No deadline is further away: an attempt that takes longer is no attempt.
const FURTHEST: std::time::Duration = std::time::Duration::from_secs(86_400);

fn from_now(wait: std::time::Duration) -> Instant {
    Instant::now() + wait.min(FURTHEST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test]
    async fn a_wait_beyond_all_measure_is_still_a_deadline() {
        assert!(Deadline::after(Duration::MAX).left() <= FURTHEST);
        let soon = Deadline::after(Duration::from_secs(5));
        assert!(soon.within(Duration::MAX).left() <= Duration::from_secs(5));
    }
}
