//! What was captured: the last messages in full, and how many there were.

use crate::adapter::Message;
use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;

/// A handle on what capture providers were given. Clones share it.
#[derive(Clone)]
pub struct Captured(Arc<Inner>);

struct Inner {
    keep: usize,
    messages: Mutex<VecDeque<Message>>,
    total: watch::Sender<u64>,
}

impl Captured {
    /// Keeps the last `keep` messages; the count goes on beyond that.
    pub fn keeping(keep: usize) -> Self {
        Self(Arc::new(Inner {
            keep,
            messages: Mutex::default(),
            total: watch::Sender::new(0),
        }))
    }

    pub(super) fn keep(&self, message: Message) {
        if self.0.keep > 0 {
            let mut messages = self.lock();
            if messages.len() >= self.0.keep {
                messages.pop_front();
            }
            messages.push_back(message);
        }
        self.0.total.send_modify(|n| *n += 1);
    }

    /// The messages kept, oldest first.
    pub fn messages(&self) -> Vec<Message> {
        self.lock().iter().cloned().collect()
    }

    /// How many messages there were in all.
    pub fn total(&self) -> u64 {
        *self.0.total.borrow()
    }

    /// Waits until there were this many messages in all.
    pub async fn wait_for(&self, total: u64) {
        // The sender lives in `self`, so the channel cannot close under us.
        let _ = self.0.total.subscribe().wait_for(|n| *n >= total).await;
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Message>> {
        self.0.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Captured {
    fn default() -> Self {
        Self::keeping(1_000)
    }
}

impl fmt::Debug for Captured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Captured")
            .field("total", &self.total())
            .finish_non_exhaustive()
    }
}
