//! Locks whose holder panicked. What is behind them here is changed in one step or rebuilt by whoever comes next, so a
//! panic elsewhere is no reason to stop: the value is taken as it stands.
//!
//! Not for a value that may be left half-changed: that one keeps `lock().expect(…)` with the reason.

use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn read<T: ?Sized>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

pub fn write<T: ?Sized>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_still_there_after_its_holder_panicked() {
        let (mutex, shared) = (Mutex::new(1), RwLock::new(2));
        std::thread::scope(|scope| {
            let died = scope.spawn(|| {
                let (_one, _two) = (lock(&mutex), write(&shared));
                panic!("while holding both");
            });
            assert!(died.join().is_err());
        });
        assert!(mutex.is_poisoned() && shared.is_poisoned());
        *lock(&mutex) += 10;
        *write(&shared) += 10;
        assert_eq!((*lock(&mutex), *read(&shared)), (11, 12));
    }
}
