//! What has just changed, for whoever watches live. Nobody listening costs nothing; a slow listener misses some.

use domain::{NotificationId, Status, TenantId};
use tokio::sync::broadcast;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub tenant: TenantId,
    pub id: NotificationId,
    pub status: Status,
    pub code: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Changes(broadcast::Sender<Change>);

impl Default for Changes {
    fn default() -> Self {
        Self(broadcast::channel(1024).0)
    }
}

impl Changes {
    pub fn subscribe(&self) -> broadcast::Receiver<Change> {
        self.0.subscribe()
    }

    pub fn is_watched(&self) -> bool {
        self.0.receiver_count() > 0
    }

    pub fn tell(&self, change: Change) {
        // No receiver is the normal case, not a failure.
        let _ = self.0.send(change);
    }
}
