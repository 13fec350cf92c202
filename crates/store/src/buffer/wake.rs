//! Tells loops that there is something to do, from inside the commit that made it so.

use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// One bell per loop. Many rings before a loop looks are one.
#[derive(Debug, Default)]
pub struct Wake {
    due: Notify,
    forward: Notify,
    rewind: AtomicBool,
    telemetry: Notify,
}

impl Wake {
    /// A call or write can be tried now.
    pub async fn due(&self) {
        self.due.notified().await;
    }

    /// A notification waits to be forwarded.
    pub async fn forward(&self) {
        self.forward.notified().await;
    }

    /// There is news for central.
    pub async fn telemetry(&self) {
        self.telemetry.notified().await;
    }

    /// Whether older notifications than those seen before may wait again. Asked once per time it happens.
    pub fn take_rewind(&self) -> bool {
        self.rewind.swap(false, Ordering::SeqCst)
    }

    pub(super) fn ring_due(&self) {
        self.due.notify_one();
    }

    pub(super) fn ring_forward(&self) {
        self.forward.notify_one();
    }

    pub(super) fn ring_rewind(&self) {
        self.rewind.store(true, Ordering::SeqCst);
        self.forward.notify_one();
    }

    pub(super) fn ring_telemetry(&self) {
        self.telemetry.notify_one();
    }
}
