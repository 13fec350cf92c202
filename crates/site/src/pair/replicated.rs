//! Waiting with a send until the standby has it as well, where that is asked for. It is not waited for long: a standby that does
//! not follow makes the active go on alone.

use super::Pair;
use domain::pair::Role;
use link::peer::FOLLOWED_WITHIN;
use std::{sync::atomic::Ordering, time::Duration};
use tokio::time::timeout;

/// How long a send waits. After one has waited in vain none does until the standby follows again.
const STANDBY_TIMEOUT: Duration = Duration::from_secs(2);

impl Pair {
    /// Whether everything that has been taken in so far is on the standby's disk; waits for that. None where it is not asked
    /// for.
    pub(crate) async fn replicated(&self) -> Option<bool> {
        if !self.settings.wait_for_standby || self.role() != Role::Active {
            return None;
        }
        let Ok(head) = self.buffer.head().await else {
            return Some(false);
        };
        let mut has = self.standby_has.subscribe();
        let there = match self.alone.load(Ordering::SeqCst) {
            true => *has.borrow() >= head,
            false => {
                let waited = timeout(STANDBY_TIMEOUT, has.wait_for(|has| *has >= head)).await;
                waited.is_ok_and(|there| there.is_ok())
            }
        };
        if !there {
            metrics::counter!("waypost_site_unreplicated_total").increment(1);
            if !self.alone.swap(true, Ordering::SeqCst) {
                tracing::warn!("the standby does not follow: messages are taken in without waiting for it");
            }
        }
        Some(there)
    }

    /// The standby has everything up to here on its disk, and the active is at `head`.
    pub(super) fn standby_follows(&self, position: i64, head: i64) {
        self.standby_has.send_replace(position);
        if position >= head && self.alone.swap(false, Ordering::SeqCst) {
            tracing::info!("the standby follows again");
        }
    }

    /// Of an active machine that has come to rest: waits until its standby, if one follows, has everything. Not for long.
    pub(crate) async fn lets_standby_catch_up(&self) {
        if self.role() != Role::Active || !self.is_fetched_from(FOLLOWED_WITHIN) {
            return;
        }
        if !self.standby_gets_all(STANDBY_TIMEOUT).await {
            tracing::warn!("this machine stops before its standby has everything");
        }
    }

    /// Whether the standby has everything up to the last change, or gets it within this time. Nothing is written meanwhile.
    pub(super) async fn standby_gets_all(&self, within: Duration) -> bool {
        let Ok(head) = self.buffer.head().await else {
            return false;
        };
        let mut has = self.standby_has.subscribe();
        let waited = timeout(within, has.wait_for(|has| *has >= head)).await;
        waited.is_ok_and(|there| there.is_ok())
    }

    /// Sends do not wait for the standby although they should.
    pub(super) fn is_alone(&self) -> bool {
        self.alone.load(Ordering::SeqCst)
    }
}
