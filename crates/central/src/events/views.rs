//! Schedules and communications as people see them.
//!
//! Always true: what a published schedule came to is derived from the notifications it names, each time it is asked for.

use super::EventService;
use domain::{
    NotificationId, ScheduleStatus, Status, TenantId, Timestamp,
    event::{CameTo, ScheduledMessage},
};
use store::{
    events::{Schedule, ScheduleFilter},
    query::{Cursor, Filter, Listed, Notification, Page},
};

/// A schedule and where its notifications stand.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduleView {
    pub schedule: Schedule,
    pub status: ScheduleStatus,
    /// When the last of its notifications ended, once all have.
    pub completed_at: Option<Timestamp>,
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
    /// Only with the first page.
    pub skipped: Vec<(Schedule, ScheduledMessage)>,
    pub next: Option<Cursor>,
}

/// So many schedules of an entity are looked at for what was skipped.
const SCHEDULES_LOOKED_AT: u32 = 100;

impl EventService {
    pub async fn schedule_view(&self, schedule: Schedule) -> store::Result<ScheduleView> {
        let mut messages = vec![];
        let mut ended = vec![];
        for message in &schedule.messages {
            let found = match message.notification {
                Some(id) => self.queries.get(schedule.tenant, id).await?,
                None => None,
            };
            ended.push(found.as_ref().and_then(|n| n.ended_at));
            let open = found.as_ref().filter(|n| n.status != Status::Delivered);
            messages.push(MessageView {
                message: message.clone(),
                last_error: open.and_then(|n| n.last_error.clone()),
                status: found.map(|n| n.status),
            });
        }
        let status = derived(&schedule, &messages);
        let completed_at = match status {
            ScheduleStatus::Completed => ended.into_iter().flatten().max().or(schedule.published_at),
            _ => None,
        };
        Ok(ScheduleView {
            status,
            completed_at,
            messages,
            schedule,
        })
    }

    pub async fn schedule_views(
        &self,
        tenant: Option<TenantId>,
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
        let mut views = vec![];
        for schedule in found.rows {
            let view = self.schedule_view(schedule).await?;
            if derived.is_none_or(|wanted| wanted == view.status) {
                views.push(view);
            }
        }
        Ok((views, found.next))
    }

    /// Everything sent about an entity, newest first.
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
        let first = page.after.is_none();
        let Listed { rows, next } = self.queries.list(tenant, &filter, page).await?;
        let skipped = match first {
            true => self.skipped(tenant, entity_type, entity_id).await?,
            false => vec![],
        };
        Ok(Communications {
            sent: rows,
            skipped,
            next,
        })
    }

    async fn skipped(
        &self,
        tenant: TenantId,
        entity_type: &str,
        entity_id: &str,
    ) -> store::Result<Vec<(Schedule, ScheduledMessage)>> {
        let schedules = self.schedules_of(tenant, entity_type, entity_id).await?;
        let skipped = schedules.into_iter().flat_map(|schedule| {
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
        Ok(skipped.collect())
    }

    pub(super) async fn schedules_of(
        &self,
        tenant: TenantId,
        entity_type: &str,
        entity_id: &str,
    ) -> store::Result<Vec<Schedule>> {
        let filter = ScheduleFilter {
            entity: Some((entity_type.to_owned(), entity_id.to_owned())),
            ..ScheduleFilter::default()
        };
        let page = Page {
            limit: SCHEDULES_LOOKED_AT,
            after: None,
        };
        Ok(self.store.schedules(Some(tenant), &filter, page).await?.rows)
    }

    /// The notifications a schedule names.
    pub(super) fn named(schedule: &Schedule) -> Vec<NotificationId> {
        schedule.messages.iter().filter_map(|m| m.notification).collect()
    }
}

fn derived(schedule: &Schedule, messages: &[MessageView]) -> ScheduleStatus {
    if schedule.status != ScheduleStatus::Published {
        return schedule.status;
    }
    let refused = messages.iter().any(|m| m.message.came_to == CameTo::Refused);
    let mut statuses = messages
        .iter()
        .filter(|m| m.message.notification.is_some())
        .map(|m| m.status);
    if refused || messages.iter().any(|m| m.status == Some(Status::Parked)) {
        ScheduleStatus::Failed
    } else if statuses.all(|status| status.is_none_or(Status::is_terminal)) {
        // What was purged had ended.
        ScheduleStatus::Completed
    } else {
        ScheduleStatus::Published
    }
}
