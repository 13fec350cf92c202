//! Counts attempts under way: of the node, of each tenant, and of lanes that share places because their far end fails or
//! has not been heard of yet.
//!
//! Always true: every count is the sum of the lanes' own counts under that heading. A lane enters, leaves and moves in all
//! of them at once; a count that would fall below nothing is a fault here, and is said.

use super::super::tenants::Tenants;
use domain::{TenantId, window::Standing};

/// What one lane has under way, and under which headings it is counted. Only [`UnderWay`] changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LaneCount {
    tenant: TenantId,
    standing: Standing,
    n: usize,
}

impl LaneCount {
    /// A lane that nothing is known of yet counts as the first tenant's.
    pub fn new(standing: Standing) -> Self {
        Self {
            tenant: TenantId::DEFAULT,
            standing,
            n: 0,
        }
    }

    pub fn get(&self) -> usize {
        self.n
    }

    pub fn tenant(&self) -> TenantId {
        self.tenant
    }
}

#[derive(Debug)]
pub(super) struct UnderWay {
    permits: usize,
    all: usize,
    failing: usize,
    new: usize,
    tenants: Tenants,
}

impl UnderWay {
    pub fn new(permits: usize) -> Self {
        Self {
            permits,
            all: 0,
            failing: 0,
            new: 0,
            tenants: Tenants::new(permits),
        }
    }

    pub fn all(&self) -> usize {
        self.all
    }

    /// Places of the node that nobody has.
    pub fn free(&self) -> usize {
        self.tenants.places().saturating_sub(self.all)
    }

    /// What is left of the permits, which are the places of one tenant that is alone.
    pub fn permits_left(&self) -> usize {
        self.permits.saturating_sub(self.all)
    }

    /// How many more attempts the lane may begin, as far as others are concerned.
    pub fn room(&self, lane: &LaneCount) -> usize {
        let of_tenant = self.tenants.room(lane.tenant, self.all);
        let shared = match lane.standing {
            Standing::Answering => usize::MAX,
            Standing::Failing => (self.permits / 4).max(1).saturating_sub(self.failing),
            Standing::New => (self.permits / 2).max(1).saturating_sub(self.new),
        };
        of_tenant.min(shared)
    }

    pub fn enter(&mut self, lane: &mut LaneCount, n: usize) {
        lane.n += n;
        self.all += n;
        self.tenants.started(lane.tenant, n);
        if let Some(shared) = self.shared(lane.standing) {
            *shared += n;
        }
    }

    pub fn leave(&mut self, lane: &mut LaneCount, n: usize) {
        take(&mut lane.n, n);
        take(&mut self.all, n);
        self.tenants.over(lane.tenant, n);
        if let Some(shared) = self.shared(lane.standing) {
            take(shared, n);
        }
    }

    /// What the lane has under way counts under these headings from now on.
    pub fn moves(&mut self, lane: &mut LaneCount, tenant: TenantId, standing: Standing) {
        if (lane.tenant, lane.standing) == (tenant, standing) {
            return;
        }
        let n = lane.n;
        self.leave(lane, n);
        (lane.tenant, lane.standing) = (tenant, standing);
        self.enter(lane, n);
    }

    fn shared(&mut self, standing: Standing) -> Option<&mut usize> {
        match standing {
            Standing::Answering => None,
            Standing::Failing => Some(&mut self.failing),
            Standing::New => Some(&mut self.new),
        }
    }
}

/// Takes `n` from a count. Tests end where there are fewer; a node says so in its log and goes on with none.
pub(in super::super) fn take(count: &mut usize, n: usize) {
    let left = count.checked_sub(n);
    debug_assert!(left.is_some(), "{n} attempts are over of {count} under way");
    if left.is_none() {
        tracing::error!(
            over = n,
            under_way = *count,
            "the count of attempts under way has drifted"
        );
    }
    *count = left.unwrap_or(0);
}

#[cfg(test)]
impl UnderWay {
    pub fn shared_counts(&self) -> (usize, usize) {
        (self.failing, self.new)
    }

    /// Whether each count is what the lanes' own counts add up to.
    pub fn assert_adds_up<'a>(&self, lanes: impl Iterator<Item = &'a LaneCount> + Clone) {
        let sum = |of: &dyn Fn(&LaneCount) -> bool| -> usize {
            lanes.clone().filter(|lane| of(lane)).map(|lane| lane.n).sum()
        };
        assert_eq!(self.all, sum(&|_| true), "all");
        assert_eq!(self.failing, sum(&|l| l.standing == Standing::Failing), "failing");
        assert_eq!(self.new, sum(&|l| l.standing == Standing::New), "new");
        let tenants: std::collections::BTreeSet<_> = lanes.clone().map(|lane| lane.tenant).collect();
        for tenant in tenants {
            let of_tenant = sum(&|l| l.tenant == tenant);
            assert_eq!(self.tenants.under_way(tenant), of_tenant, "{tenant:?}");
        }
    }
}
