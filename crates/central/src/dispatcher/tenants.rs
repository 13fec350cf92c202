//! How the places of a node are divided among tenants.
//!
//! Always true: who is alone may have every permit, as if there were no tenants; the more others have under way, the
//! less one may have, so that a place is left for whoever comes next. A far end that answers just before the time limit
//! thus costs its own tenant the places, and nobody else.

use super::lanes::take;
use domain::TenantId;
use std::collections::HashMap;

#[derive(Debug)]
pub(super) struct Tenants {
    permits: usize,
    /// What each has under way. Who has nothing is not in it.
    under_way: HashMap<TenantId, usize>,
}

impl Tenants {
    pub fn new(permits: usize) -> Self {
        Self {
            permits,
            under_way: HashMap::new(),
        }
    }

    /// The places of the node: a third on top of what one tenant may have.
    pub fn places(&self) -> usize {
        self.permits.saturating_add((self.permits / 3).max(1))
    }

    /// How many more attempts the tenant may begin, with so many under way in all: of the permits the share that the
    /// others leave of the places. Two who take what they can get have 3/7 each and leave 1/7, three have 3/10 each.
    pub fn room(&self, tenant: TenantId, sending: usize) -> usize {
        let own = self.under_way(tenant);
        let places = self.places();
        let left = places.saturating_sub(sending.saturating_sub(own));
        let most = (self.permits.saturating_mul(left) / places).max(1);
        most.saturating_sub(own).min(places.saturating_sub(sending))
    }

    pub fn started(&mut self, tenant: TenantId, n: usize) {
        if n > 0 {
            *self.under_way.entry(tenant).or_default() += n;
        }
    }

    pub fn over(&mut self, tenant: TenantId, n: usize) {
        if n == 0 {
            return;
        }
        let under_way = self.under_way.entry(tenant).or_default();
        take(under_way, n);
        if *under_way == 0 {
            self.under_way.remove(&tenant);
        }
    }

    /// What the tenant has under way.
    pub fn under_way(&self, tenant: TenantId) -> usize {
        self.under_way.get(&tenant).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn greedy(tenants: &mut Tenants, sending: &mut usize, id: i32) -> usize {
        let n = tenants.room(TenantId(id), *sending);
        tenants.started(TenantId(id), n);
        *sending += n;
        n
    }

    #[test]
    fn who_is_alone_has_every_permit() {
        let (mut tenants, mut sending) = (Tenants::new(2048), 0);
        assert_eq!(greedy(&mut tenants, &mut sending, 1), 2048);
        assert_eq!(greedy(&mut tenants, &mut sending, 1), 0);
    }

    /// Some attempts of each end, and each takes what it can get again.
    fn go_on(tenants: &mut Tenants, sending: &mut usize, ids: std::ops::RangeInclusive<i32>) {
        for _ in 0..200 {
            for id in ids.clone() {
                let under_way = tenants.under_way.get(&TenantId(id)).copied().unwrap_or(0);
                let some = under_way.div_ceil(10);
                tenants.over(TenantId(id), some);
                *sending -= some;
                greedy(tenants, sending, id);
            }
        }
    }

    #[test]
    fn however_many_take_all_they_can_get_the_next_one_has_a_place() {
        let (mut tenants, mut sending) = (Tenants::new(2048), 0);
        for id in 1..=5 {
            assert!(greedy(&mut tenants, &mut sending, id) > 0, "tenant {id} at once");
        }
        for id in 6..=30 {
            go_on(&mut tenants, &mut sending, 1..=id - 1);
            assert!(greedy(&mut tenants, &mut sending, id) > 0, "tenant {id}");
        }
        assert!(sending <= tenants.places());
    }

    #[test]
    fn tenants_who_all_want_everything_come_to_have_the_same() {
        let (mut tenants, mut sending) = (Tenants::new(2100), 0);
        greedy(&mut tenants, &mut sending, 1);
        go_on(&mut tenants, &mut sending, 1..=3);
        for id in [1, 2, 3] {
            let has = tenants.under_way[&TenantId(id)];
            assert!((830..=850).contains(&has), "tenant {id} has {has} of 2800 places");
        }
        assert_eq!(tenants.under_way.len(), 3);
    }

    #[test]
    fn with_one_permit_two_tenants_take_turns_beside_each_other() {
        let (mut tenants, mut sending) = (Tenants::new(1), 0);
        assert_eq!(greedy(&mut tenants, &mut sending, 1), 1);
        assert_eq!(greedy(&mut tenants, &mut sending, 2), 1);
        assert_eq!(greedy(&mut tenants, &mut sending, 3), 0);
        tenants.over(TenantId(1), 1);
        assert_eq!(tenants.under_way.len(), 1);
    }
}
