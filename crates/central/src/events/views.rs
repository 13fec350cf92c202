//! Schedules and communications as people see them.
//!
//! Always true: what a published schedule came to is derived from the notifications it names, each time it is asked for.

use super::EventService;
use domain::{
    NotificationId, ScheduleStatus, Status, TenantId, Timestamp,
    event::{CameTo, ScheduledMessage},
};
use std::collections::{BTreeMap, HashMap};
use store::{
    events::{Schedule, ScheduleFilter},
    query::{Cursor, Filter, Listed, Notification, Page, Standing},
};

/// A schedule and where its notifications stand.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleView {
    pub schedule: Schedule,
    pub status: ScheduleStatus,
    /// When the last of its notifications ended, once all have.
    pub completed_at: Option<Timestamp>,
    /// Since when it stands like this; none while it waits.
    pub since: Option<Timestamp>,
    pub messages: Vec<MessageView>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct MessageView {
    pub message: ScheduledMessage,
    /// None where there is no notification, or it was purged.
    pub status: Option<Status>,
    /// What keeps the notification, or parked it; none once it is delivered.
    pub last_error: Option<String>,
}

/// What was sent about one entity, and what was not and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Communications {
    pub sent: Vec<Notification>,
    /// With the first page, and with those behind what was sent.
    pub skipped: Vec<(Schedule, ScheduledMessage)>,
    pub next: Option<Cursor>,
}

/// So many schedules of an entity are looked at for what one page skipped.
const SCHEDULES_LOOKED_AT: u32 = 100;

impl EventService {
    pub async fn schedule_view(&self, schedule: Schedule) -> store::Result<ScheduleView> {
        let standings = self.standings(std::slice::from_ref(&schedule)).await?;
        Ok(view(schedule, &standings))
    }

    /// The same for many, in their order.
    pub(super) async fn views_of(&self, schedules: Vec<Schedule>) -> store::Result<Vec<ScheduleView>> {
        let standings = self.standings(&schedules).await?;
        let views = schedules.into_iter().map(|schedule| view(schedule, &standings));
        Ok(views.collect())
    }

    async fn standings(&self, schedules: &[Schedule]) -> store::Result<Standings> {
        let mut named: BTreeMap<TenantId, Vec<NotificationId>> = BTreeMap::new();
        for schedule in schedules {
            named
                .entry(schedule.tenant)
                .or_default()
                .extend(Self::named(schedule));
        }
        let mut standings = Standings::new();
        for (tenant, ids) in named.into_iter().filter(|(_, ids)| !ids.is_empty()) {
            let found = self.queries.standings(tenant, &ids).await?;
            standings.extend(found.into_iter().map(|one| ((tenant, one.id), one)));
        }
        Ok(standings)
    }

    pub async fn schedule_views(
        &self,
        tenant: TenantId,
        filter: &ScheduleFilter,
        page: Page,
    ) -> store::Result<(Vec<ScheduleView>, Option<Cursor>)> {
        let derived = filter.status;
        let stored = ScheduleFilter {
            // Two of them stand as Published in the store.
            status: derived.filter(|s| {
                !matches!(
                    s,
                    ScheduleStatus::Published | ScheduleStatus::Completed | ScheduleStatus::Failed
                )
            }),
            ..filter.clone()
        };
        let found = self.store.schedules(tenant, &stored, page).await?;
        let mut views = self.views_of(found.rows).await?;
        views.retain(|view| derived.is_none_or(|wanted| wanted == view.status));
        Ok((views, found.next))
    }

    /// Everything sent about an entity, newest first. What its newest events did not send comes with the first page; what
    /// older ones did not, on pages of its own behind the last of what was sent.
    pub async fn communications(
        &self,
        tenant: TenantId,
        entity_type: &str,
        entity_id: &str,
        page: Page,
    ) -> store::Result<Communications> {
        let mut filter = Filter::default();
        filter.by.entity_type = Some(entity_type.to_owned());
        filter.by.entity_id = Some(entity_id.to_owned());
        let entity = (entity_type.to_owned(), entity_id.to_owned());
        if let Some(place) = page.after.filter(|place| place.at == BEHIND_SENT) {
            let (skipped, next) = self.skipped(tenant, entity, Some(place)).await?;
            return Ok(Communications {
                sent: vec![],
                skipped,
                next,
            });
        }
        let first = page.after.is_none();
        let Listed { rows, next } = self.queries.list(tenant, &filter, page).await?;
        let (mut skipped, mut older) = (vec![], None);
        if first || next.is_none() {
            (skipped, older) = self.skipped(tenant, entity, None).await?;
        }
        if !first {
            skipped.clear();
        }
        Ok(Communications {
            sent: rows,
            skipped,
            next: next.or(older),
        })
    }

    /// What some of an entity's events did not send, and where older ones begin.
    async fn skipped(
        &self,
        tenant: TenantId,
        entity: (String, String),
        after: Option<Cursor>,
    ) -> store::Result<(Vec<(Schedule, ScheduledMessage)>, Option<Cursor>)> {
        let filter = ScheduleFilter {
            entity: Some(entity),
            ..ScheduleFilter::default()
        };
        let page = Page {
            limit: SCHEDULES_LOOKED_AT,
            after,
        };
        let found = self.store.schedules(tenant, &filter, page).await?;
        let skipped = found.rows.into_iter().flat_map(|schedule| {
            let missing: Vec<_> = schedule
                .messages
                .iter()
                .filter(|m| m.is_missing())
                .cloned()
                .collect();
            missing
                .into_iter()
                .map(move |message| (schedule.clone(), message))
        });
        let next = found.next.map(|place| Cursor {
            at: BEHIND_SENT,
            ..place
        });
        Ok((skipped.collect(), next))
    }

    /// The notifications a schedule names.
    pub(super) fn named(schedule: &Schedule) -> Vec<NotificationId> {
        schedule.messages.iter().filter_map(|m| m.notification).collect()
    }
}

/// The time of a place behind what was sent, which no place among notifications has.
const BEHIND_SENT: Timestamp = Timestamp::from_millis(1);

type Standings = HashMap<(TenantId, NotificationId), Standing>;

fn view(schedule: Schedule, standings: &Standings) -> ScheduleView {
    let mut messages = vec![];
    let (mut ended, mut parked) = (vec![], vec![]);
    for message in &schedule.messages {
        let id = message.notification.map(|id| (schedule.tenant, id));
        let found = id.and_then(|key| standings.get(&key));
        let at = found.and_then(|one| one.ended_at);
        ended.extend(at);
        parked.extend(at.filter(|_| found.is_some_and(|one| one.status == Status::Parked)));
        let open = found.filter(|one| one.status != Status::Delivered);
        messages.push(MessageView {
            message: message.clone(),
            last_error: open.and_then(|one| one.last_error.clone()),
            status: found.map(|one| one.status),
        });
    }
    let status = derived(&schedule, &messages);
    let published = schedule.published_at;
    let completed_at = match status {
        ScheduleStatus::Completed => ended.into_iter().max().or(published),
        _ => None,
    };
    let since = match (schedule.status, status) {
        (ScheduleStatus::Published, ScheduleStatus::Failed) if !is_refused(&messages) => {
            parked.into_iter().min().or(published)
        }
        (ScheduleStatus::Published, ScheduleStatus::Completed) => completed_at,
        (ScheduleStatus::Pending, _) => None,
        _ => schedule.settled_at.or(published).or(Some(schedule.created_at)),
    };
    ScheduleView {
        status,
        completed_at,
        since,
        messages,
        schedule,
    }
}

fn is_refused(messages: &[MessageView]) -> bool {
    messages.iter().any(|m| m.message.came_to == CameTo::Refused)
}

fn derived(schedule: &Schedule, messages: &[MessageView]) -> ScheduleStatus {
    if schedule.status != ScheduleStatus::Published {
        return schedule.status;
    }
    let mut statuses = messages
        .iter()
        .filter(|m| m.message.notification.is_some())
        .map(|m| m.status);
    if is_refused(messages) || messages.iter().any(|m| m.status == Some(Status::Parked)) {
        ScheduleStatus::Failed
    } else if statuses.all(|status| status.is_none_or(Status::is_terminal)) {
        // What was purged had ended.
        ScheduleStatus::Completed
    } else {
        ScheduleStatus::Published
    }
}
