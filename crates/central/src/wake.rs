//! Tells the dispatcher that a lane has something to do, without waiting for its next poll.

use domain::{LaneId, lock::lock};
use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard},
};
use tokio::sync::Notify;

/// Lanes with news. Cheap to call from anywhere; many calls before the dispatcher looks are one wake-up.
#[derive(Debug, Default)]
pub struct Wake {
    news: Mutex<News>,
    notify: Notify,
}

/// What happened since the dispatcher last asked.
#[derive(Debug, Default)]
pub struct News {
    pub lanes: HashSet<LaneId>,
    /// Something happened that a list of lanes cannot say: look at all of them once.
    pub look: bool,
}

impl Wake {
    pub fn lanes(&self, lanes: impl IntoIterator<Item = LaneId>) {
        self.lock().lanes.extend(lanes);
        self.notify.notify_one();
    }

    pub fn look(&self) {
        self.lock().look = true;
        self.notify.notify_one();
    }

    pub fn take(&self) -> News {
        std::mem::take(&mut *self.lock())
    }

    pub async fn notified(&self) {
        self.notify.notified().await;
    }

    fn lock(&self) -> MutexGuard<'_, News> {
        lock(&self.news)
    }
}
