//! What was read from the store and may be believed as long as the directory has not changed.
//!
//! Always true: what is kept was read at the version it is kept for, or later; there is never more of it than fits.

use domain::lock;
use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, RwLock},
};

/// How much room something takes, in a unit of its own kind.
pub trait Weigh {
    fn weight(&self) -> usize;
}

/// Things by key, read at one version of the directory. Only what there is: what somebody makes up is asked about again
/// each time, so that it cannot fill the room.
#[derive(Debug)]
pub struct Versioned<K, V> {
    kept: RwLock<Kept<K, V>>,
    room: usize,
}

#[derive(Debug)]
struct Kept<K, V> {
    version: i64,
    found: HashMap<K, Arc<V>>,
    used: usize,
}

impl<K: Eq + Hash, V: Weigh> Versioned<K, V> {
    pub fn with_room(room: usize) -> Self {
        let kept = Kept {
            version: 0,
            found: HashMap::new(),
            used: 0,
        };
        Self {
            kept: RwLock::new(kept),
            room,
        }
    }

    pub fn get(&self, version: i64, key: &K) -> Option<Arc<V>> {
        let kept = lock::read(&self.kept);
        kept.found.get(key).filter(|_| kept.version == version).cloned()
    }

    /// What is kept, or else what `read` finds, which is kept from then on. `version`: the directory's before the reading.
    pub async fn get_or_read(
        &self,
        version: i64,
        key: K,
        read: impl Future<Output = store::Result<Option<V>>>,
    ) -> store::Result<Option<Arc<V>>> {
        if let Some(kept) = self.get(version, &key) {
            return Ok(Some(kept));
        }
        let Some(found) = read.await?.map(Arc::new) else {
            return Ok(None);
        };
        self.put(version, key, found.clone());
        Ok(Some(found))
    }

    pub fn put(&self, version: i64, key: K, value: Arc<V>) {
        // Something empty takes room, too.
        let weight = value.weight() + 1;
        let mut kept = lock::write(&self.kept);
        if kept.version != version || kept.used + weight > self.room {
            kept.found.clear();
            kept.used = 0;
            kept.version = version;
        }
        if weight > self.room {
            return;
        }
        kept.used += weight;
        if let Some(before) = kept.found.insert(key, value) {
            kept.used = kept.used.saturating_sub(before.weight() + 1);
        }
    }

    /// How many there are, and how much room they take.
    #[cfg(test)]
    pub fn size(&self) -> (usize, usize) {
        let kept = lock::read(&self.kept);
        (kept.found.len(), kept.used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weigh for usize {
        fn weight(&self) -> usize {
            *self
        }
    }

    #[test]
    fn what_was_read_at_another_version_is_not_believed() {
        let kept = Versioned::with_room(100);
        kept.put(7, "a", Arc::new(1));
        assert_eq!(kept.get(7, &"a").as_deref(), Some(&1));
        assert_eq!(kept.get(8, &"a"), None);
        kept.put(8, "b", Arc::new(2));
        assert_eq!((kept.get(8, &"a"), kept.size()), (None, (1, 3)));
    }

    #[test]
    fn nothing_takes_more_room_than_there_is() {
        let kept = Versioned::with_room(1_000);
        for n in 0..500 {
            kept.put(1, n, Arc::new(99));
            kept.put(1, 0, Arc::new(n));
            let (count, used) = kept.size();
            assert!(used <= 1_000 && count > 0, "{count} {used}");
        }
        kept.put(1, 7, Arc::new(5_000));
        assert!(kept.size().1 <= 1_000);
    }

    #[tokio::test]
    async fn what_there_is_is_read_once_and_what_there_is_not_each_time() {
        let kept = Versioned::with_room(100);
        for _ in 0..2 {
            let found = kept.get_or_read(1, "a", async { Ok(Some(5)) }).await.unwrap();
            assert_eq!(found.as_deref(), Some(&5));
            assert_eq!(kept.get_or_read(1, "b", async { Ok(None) }).await.unwrap(), None);
        }
        let found = kept.get_or_read(1, "a", async { Ok(Some(6)) }).await.unwrap();
        assert_eq!(found.as_deref(), Some(&5));
        assert_eq!(kept.size().0, 1);
    }
}
