//! What time it is at the store.

use domain::{Clock, Timestamp};
use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

/// The store's time, from this node's clock and what the store last said.
#[derive(Debug)]
pub(super) struct StoreClock {
    clock: Arc<dyn Clock>,
    ahead_ms: AtomicI64,
}

impl StoreClock {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            ahead_ms: AtomicI64::new(0),
        }
    }

    pub fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.now().as_millis() + self.ahead_ms.load(Ordering::Relaxed))
    }

    pub fn saw(&self, store: Timestamp) {
        self.ahead_ms.store(
            store.as_millis() - self.clock.now().as_millis(),
            Ordering::Relaxed,
        );
    }
}
