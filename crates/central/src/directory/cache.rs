//! What is kept in memory, and how much of it.

use super::{LaneEntry, Route};
use domain::{Channel, LaneId, ProviderId, TenantId};
use std::{collections::HashMap, sync::Arc};
use store::directory::List;

#[derive(Debug, Default)]
pub(super) struct Cache {
    pub version: i64,
    /// Only of providers and channels that there are: what a sender makes up is asked about again each time.
    pub routes: HashMap<(TenantId, Option<ProviderId>, Option<Channel>), Route>,
    pub lanes: HashMap<LaneId, Arc<LaneEntry>>,
    /// Only lists that there are, up to [`LISTED_RECIPIENTS`].
    pub lists: HashMap<(TenantId, String), Arc<List>>,
    /// How many recipients these have.
    pub listed: usize,
}

/// The most recipients that are kept in memory; beyond it lists are read from the store again.
pub(super) const LISTED_RECIPIENTS: usize = 200_000;

impl Cache {
    pub fn keep_list(&mut self, key: (TenantId, String), list: Arc<List>) {
        // An empty list takes room, too.
        let weight = list.recipients.len() + 1;
        if self.listed + weight > LISTED_RECIPIENTS {
            self.lists.clear();
            self.listed = 0;
        }
        if weight <= LISTED_RECIPIENTS && self.lists.insert(key, list).is_none() {
            self.listed += weight;
        }
    }
}
