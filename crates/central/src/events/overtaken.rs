//! Order within an entity: what a later event calls off stays called off, also where the earlier one is worked on after it.
//!
//! An earlier event comes late when it waits for a retry or a source, when somebody replays it, or when its
//! transaction stayed open. Earlier and later is the order of arrival in the outbox.

use super::{EventService, plan::Plan};
use crate::directory::versioned::Weigh;
use domain::{ScheduleStatus, TenantId};
use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};
use store::events::{Event, MayBeOvertaken};

/// Which types of events call off which, for one tenant.
#[derive(Debug, Default)]
pub(super) struct Cancellers(HashMap<String, Vec<String>>);

impl Weigh for Cancellers {
    fn weight(&self) -> usize {
        1 + self.0.values().map(Vec::len).sum::<usize>()
    }
}

impl EventService {
    /// Plans of events that a later one of their entity has called off become schedules that are Cancelled.
    pub(super) async fn call_off_overtaken(&self, plans: &mut [(Event, Plan)]) -> store::Result<()> {
        let candidates = self.may_be_overtaken(plans).await?;
        if candidates.is_empty() {
            return Ok(());
        }
        let mut reasons = within(plans, &candidates);
        for found in self.store.overtaken(candidates).await? {
            reasons.insert(
                found.seq,
                format!("called off by {} ({})", found.by_type, found.by),
            );
        }
        for (event, plan) in plans {
            if let Plan::Schedule(planned) = plan
                && let Some(reason) = reasons.remove(&event.seq)
            {
                planned.status = ScheduleStatus::Cancelled;
                planned.error = Some(reason);
                planned.next_look_at = None;
                planned.messages.clear();
                planned.notifications.clear();
            }
        }
        Ok(())
    }

    async fn may_be_overtaken(&self, plans: &[(Event, Plan)]) -> store::Result<Vec<MayBeOvertaken>> {
        let mut candidates = vec![];
        for (event, plan) in plans {
            let Plan::Schedule(planned) = plan else { continue };
            let cancellers = self.cancellers(planned.tenant).await?;
            let Some(cancelled_by) = cancellers.0.get(&event.event_type) else {
                continue;
            };
            candidates.push(MayBeOvertaken {
                seq: event.seq,
                tenant: planned.tenant,
                entity_type: planned.entity_type.clone(),
                entity_id: event.entity_id.clone(),
                cancelled_by: cancelled_by.clone(),
            });
        }
        Ok(candidates)
    }

    /// Read once for each version of the directory.
    async fn cancellers(&self, tenant: TenantId) -> store::Result<Arc<Cancellers>> {
        let read = async {
            let mut by_type: HashMap<String, Vec<String>> = HashMap::new();
            for row in self.store.event_types(tenant).await? {
                for cancelled in row.definition.cancels {
                    by_type.entry(cancelled).or_default().push(row.name.clone());
                }
            }
            Ok(Some(Cancellers(by_type)))
        };
        let version = self.directory.version();
        let found = self.cancellers.get_or_read(version, tenant, read).await?;
        Ok(found.unwrap_or_default())
    }
}

/// Those that a later event of the same batch calls off.
fn within(plans: &[(Event, Plan)], candidates: &[MayBeOvertaken]) -> BTreeMap<i64, String> {
    let calling_off: Vec<_> = plans
        .iter()
        .filter_map(|(event, plan)| match plan {
            Plan::Schedule(planned) if !planned.cancels.is_empty() => Some((event, planned)),
            _ => None,
        })
        .collect();
    let mut reasons = BTreeMap::new();
    for one in candidates {
        let later = calling_off.iter().find(|(event, planned)| {
            event.seq > one.seq
                && planned.tenant == one.tenant
                && planned.entity_type == one.entity_type
                && event.entity_id == one.entity_id
                && one.cancelled_by.contains(&event.event_type)
        });
        if let Some((event, _)) = later {
            let reason = format!("called off by {} ({})", event.event_type, event.id);
            reasons.insert(one.seq, reason);
        }
    }
    reasons
}
