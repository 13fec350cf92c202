//! Tells loops that there is something to do, from inside the commit that made it so.

use domain::Timestamp;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use tokio::sync::Notify;

/// One bell per loop. Many rings before a loop looks are one.
#[derive(Debug, Default)]
pub struct Wake {
    due: Notify,
    /// What the sweep sleeps for, in milliseconds since 1970.
    aim: AtomicI64,
    forward: Notify,
    rewind: AtomicBool,
    telemetry: Notify,
    changed: Notify,
}

impl Wake {
    /// A call or write can be tried now.
    pub async fn due(&self) {
        self.due.notified().await;
    }

    /// What the one who waits for [`Wake::due`] will look at by itself; whatever is due earlier rings. None: whatever is
    /// due at all rings, for while it is being worked out.
    pub fn aim(&self, at: Option<Timestamp>) {
        let at = at.map_or(i64::MAX, Timestamp::as_millis);
        self.aim.store(at, Ordering::SeqCst);
    }

    /// Something may be due that was not when it was looked at last.
    pub fn look_again(&self) {
        self.ring_due();
    }

    /// A notification waits to be forwarded.
    pub async fn forward(&self) {
        self.forward.notified().await;
    }

    /// There is news for central.
    pub async fn telemetry(&self) {
        self.telemetry.notified().await;
    }

    /// Something was written: the other machine of the site has something to fetch.
    pub async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Whether older notifications than those seen before may wait again. Asked once per time it happens.
    pub fn take_rewind(&self) -> bool {
        self.rewind.swap(false, Ordering::SeqCst)
    }

    /// Something is due at this time.
    pub(super) fn due_at(&self, at: Timestamp) {
        if at.as_millis() < self.aim.load(Ordering::SeqCst) {
            self.ring_due();
        }
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

    pub(super) fn ring_changed(&self) {
        self.changed.notify_one();
    }

    pub(super) fn ring_telemetry(&self) {
        self.telemetry.notify_one();
    }
}
