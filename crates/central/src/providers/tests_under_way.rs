//! How many tests of providers go on at once. Each has a connection of its own for up to a minute, and goes on when nobody waits
//! for its answer any more: without a bound one operator's tests could take every connection of the node.

use domain::{TenantId, lock::lock};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

/// Of one tenant.
pub const TESTS_OF_TENANT: usize = 8;
/// On one node.
pub const TESTS_ON_NODE: usize = 32;

/// The tests of this node. Clones count the same ones.
#[derive(Debug, Clone, Default)]
pub(super) struct TestsUnderWay(Arc<Mutex<HashMap<TenantId, usize>>>);

/// A test's place, as long as it is held.
#[derive(Debug)]
pub(super) struct TestPlace {
    tests: TestsUnderWay,
    tenant: TenantId,
}

impl TestsUnderWay {
    /// A place for one more; none where there are enough.
    pub fn enter(&self, tenant: TenantId) -> Option<TestPlace> {
        let mut under_way = self.lock();
        let on_node: usize = under_way.values().sum();
        let of_tenant = under_way.get(&tenant).copied().unwrap_or(0);
        if on_node >= TESTS_ON_NODE || of_tenant >= TESTS_OF_TENANT {
            return None;
        }
        under_way.insert(tenant, of_tenant + 1);
        Some(TestPlace {
            tests: self.clone(),
            tenant,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TenantId, usize>> {
        lock(&self.0)
    }
}

impl Drop for TestPlace {
    fn drop(&mut self) {
        let mut under_way = self.tests.lock();
        if let Some(n) = under_way.get_mut(&self.tenant) {
            *n = n.saturating_sub(1);
            if *n == 0 {
                under_way.remove(&self.tenant);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_and_a_node_have_so_many_tests_and_not_one_more() {
        let tests = TestsUnderWay::default();
        let enter = |tenant: usize| tests.enter(TenantId(tenant as i32));
        let mut places: Vec<_> = (0..TESTS_OF_TENANT).map(|_| enter(0).unwrap()).collect();
        assert!(enter(0).is_none());
        places.extend((TESTS_OF_TENANT..TESTS_ON_NODE).map(|n| enter(n / TESTS_OF_TENANT).unwrap()));
        assert!(enter(99).is_none());
        places.clear();
        assert!(tests.lock().is_empty(), "what has ended takes no room");
        assert!(enter(0).is_some());
    }
}
