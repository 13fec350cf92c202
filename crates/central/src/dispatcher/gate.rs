//! The places in which a lane's attempts are made. Rows may be claimed before there is a place for them; those wait here.
//!
//! Always true: no more attempts are under way than there are, or until a moment ago were, places; a row that waited
//! does not go out to a far end that failed meanwhile, nor once the process is stopping.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};
use tokio::sync::{Semaphore, SemaphorePermit, TryAcquireError};

#[derive(Debug)]
pub(super) struct Gate {
    places: Semaphore,
    size: AtomicUsize,
    shut: AtomicBool,
}

impl Gate {
    pub fn new(size: usize) -> Self {
        Self {
            places: Semaphore::new(size),
            size: AtomicUsize::new(size),
            shut: AtomicBool::new(false),
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

    /// A place, when there is one. None: the row is not to go out now.
    pub async fn enter(&self) -> Option<SemaphorePermit<'_>> {
        match self.places.try_acquire() {
            Ok(place) => Some(place),
            Err(TryAcquireError::Closed) => None,
            Err(TryAcquireError::NoPermits) => {
                let place = self.places.acquire().await.ok()?;
                (!self.shut.load(Ordering::Acquire)).then_some(place)
            }
        }
    }

    /// The far end failed: whoever waits goes back.
    pub fn shut(&self) {
        self.shut.store(true, Ordering::Release);
    }

    /// The lane is claimed from again.
    pub fn open(&self) {
        self.shut.store(false, Ordering::Release);
    }

    /// For good: the process is stopping.
    pub fn close(&self) {
        self.places.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_more_are_inside_than_there_are_places_whatever_is_changed_meanwhile() {
        let gate = Arc::new(Gate::new(2));
        let (first, second) = (gate.enter().await, gate.enter().await);
        assert!(first.is_some() && second.is_some());
        gate.resize(1);
        tokio::task::yield_now().await;
        let mut third = std::pin::pin!(gate.enter());
        assert!(futures_util::poll!(&mut third).is_pending());
        drop(first);
        tokio::task::yield_now().await;
        assert!(futures_util::poll!(&mut third).is_pending(), "that place is gone");
        gate.resize(2);
        assert!(third.await.is_some());
    }

    #[tokio::test]
    async fn who_waited_goes_back_when_the_far_end_failed_and_when_the_process_stops() {
        let gate = Gate::new(1);
        let inside = gate.enter().await;
        let mut waits = std::pin::pin!(gate.enter());
        assert!(futures_util::poll!(&mut waits).is_pending());
        gate.shut();
        drop(inside);
        assert!(waits.await.is_none());
        gate.open();
        let inside = gate.enter().await;
        let mut waits = std::pin::pin!(gate.enter());
        assert!(futures_util::poll!(&mut waits).is_pending());
        gate.close();
        assert!(waits.await.is_none());
        drop(inside);
        assert!(gate.enter().await.is_none());
    }
}
