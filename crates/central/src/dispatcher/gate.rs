//! The places in which a lane's attempts are made. Rows may be claimed before there is a place for them; those wait here.
//!
//! Always true: no more attempts are under way than there are, or until a moment ago were, places; a row that waited
//! does not go out to a far end that failed since it was claimed, or is not to be asked for now, nor once the process is stopping.

use delivery::Stop;
use domain::lock::lock;
use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};
use tokio::sync::{Semaphore, SemaphorePermit, TryAcquireError};

#[derive(Debug)]
pub(super) struct Gate {
    places: Semaphore,
    size: AtomicUsize,
    /// Of those who were claimed since the gate was last shut.
    stop: Mutex<Stop>,
}

/// The turn of one claimed row, from the claim until its attempt is over.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    gate: Arc<Gate>,
    stop: Stop,
}

impl Gate {
    pub fn new(size: usize) -> Self {
        Self {
            places: Semaphore::new(size),
            size: AtomicUsize::new(size),
            stop: Mutex::default(),
        }
    }

    /// Places that are taken now are given up as they come free, once who waits already has had a turn.
    pub fn resize(self: &Arc<Self>, size: usize) {
        let before = self.size.swap(size, Ordering::Relaxed);
        self.places.add_permits(size.saturating_sub(before));
        let fewer = before.saturating_sub(size);
        let taken = fewer - self.places.forget_permits(fewer);
        if let Some(taken) = u32::try_from(taken).ok().filter(|taken| *taken > 0) {
            let gate = self.clone();
            tokio::spawn(async move {
                if let Ok(places) = gate.places.acquire_many(taken).await {
                    places.forget();
                }
            });
        }
    }

    /// For a row that was claimed just now: what was known of the lane then did not speak against it.
    pub fn turn(self: &Arc<Self>) -> Turn {
        Turn {
            gate: self.clone(),
            stop: lock(&self.stop).clone(),
        }
    }

    /// The far end failed, or is not to be asked for now: whoever waits goes back, and who asks for many goes no further.
    pub fn shut(&self) {
        std::mem::take(&mut *lock(&self.stop)).set();
    }

    /// For good: the process is stopping.
    pub fn close(&self) {
        self.places.close();
    }
}

impl Turn {
    /// A place, when there is one. None: the row is not to go out now.
    pub async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        match self.gate.places.try_acquire() {
            Ok(place) => Some(place),
            Err(TryAcquireError::Closed) => None,
            Err(TryAcquireError::NoPermits) => {
                let place = self.gate.places.acquire().await.ok()?;
                (!self.stop.is_set()).then_some(place)
            }
        }
    }

    /// The gate was shut since.
    pub fn is_over(&self) -> bool {
        self.stop.is_set()
    }

    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_more_are_inside_than_there_are_places_whatever_is_changed_meanwhile() {
        let gate = Arc::new(Gate::new(2));
        let turn = gate.turn();
        let (first, second) = (turn.enter().await, turn.enter().await);
        assert!(first.is_some() && second.is_some());
        gate.resize(1);
        tokio::task::yield_now().await;
        let mut third = std::pin::pin!(turn.enter());
        assert!(futures_util::poll!(&mut third).is_pending());
        drop(first);
        tokio::task::yield_now().await;
        assert!(futures_util::poll!(&mut third).is_pending(), "that place is gone");
        gate.resize(2);
        assert!(third.await.is_some());
    }

    #[tokio::test]
    async fn who_waited_goes_back_when_the_far_end_failed_and_when_the_process_stops() {
        let gate = Arc::new(Gate::new(1));
        let turn = gate.turn();
        let inside = turn.enter().await;
        let mut waits = std::pin::pin!(turn.enter());
        assert!(futures_util::poll!(&mut waits).is_pending());
        gate.shut();
        drop(inside);
        assert!(waits.await.is_none());
        let turn = gate.turn();
        let inside = turn.enter().await;
        let mut waits = std::pin::pin!(turn.enter());
        assert!(futures_util::poll!(&mut waits).is_pending());
        gate.close();
        assert!(waits.await.is_none());
        drop(inside);
        assert!(turn.enter().await.is_none());
    }

    #[tokio::test]
    async fn a_row_that_is_claimed_after_the_failure_lets_in_nobody_who_was_claimed_before() {
        let gate = Arc::new(Gate::new(1));
        let before = gate.turn();
        let inside = before.enter().await;
        let mut waits = std::pin::pin!(before.enter());
        assert!(futures_util::poll!(&mut waits).is_pending());
        gate.shut();
        let probe = gate.turn();
        let mut probes = std::pin::pin!(probe.enter());
        assert!(futures_util::poll!(&mut probes).is_pending());
        drop(inside);
        assert!(waits.await.is_none());
        assert!(probes.await.is_some());
        assert!(before.is_over() && !probe.is_over());
    }
}
