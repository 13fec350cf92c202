//! Events, schedules and communications as files.

use crate::{
    csv::Line,
    csv_stream::{self, CsvPages, ROWS_PER_READ},
    dto::communication::{CommunicationLog, logs},
    problem::Result,
    state::Shared,
};
use axum::response::Response;
use central::events::views::ScheduleView;
use domain::TenantId;
use store::{
    events::{Event, EventFilter, ScheduleFilter},
    query::{Cursor, Page},
};

/// Of an event nothing that it said: payloads hold people's data, and its own page shows one.
const EVENT_COLUMNS: &str = "eventId,tenant,eventType,entityType,entityId,status,attempts,lastError,source,correlationId,\
                             topic,createdAt,publishedAt";
const SCHEDULE_COLUMNS: &str = "eventId,eventType,entityType,entityId,status,dueAt,attempts,lastError,messages,notSent,createdAt,publishedAt,completedAt";
const COMMUNICATION_COLUMNS: &str = "createdAt,status,type,eventType,templateName,templateVersion,toAddress,sentAt,attempts,\
                                     lastError,receipt,provider,providerMessageId,correlationId,idempotencyKey,requestedBy,\
                                     notificationId,eventId";

struct Events {
    state: Shared,
    tenant: Option<TenantId>,
    filter: EventFilter,
    after: Option<Cursor>,
}

pub async fn events(state: Shared, tenant: Option<TenantId>, filter: EventFilter) -> Result<Response> {
    let pages = Events {
        state,
        tenant,
        filter,
        after: None,
    };
    csv_stream::answer("events.csv", EVENT_COLUMNS, pages).await
}

impl CsvPages for Events {
    async fn page(&mut self, out: &mut String) -> store::Result<bool> {
        let store = &self.state.central.store;
        let page = page_after(self.after);
        let found = store.events(self.tenant, &self.filter, page).await?;
        found.rows.iter().for_each(|row| event_line(row).end(out));
        self.after = found.next;
        Ok(found.next.is_some())
    }
}

struct Schedules {
    state: Shared,
    tenant: TenantId,
    filter: ScheduleFilter,
    after: Option<Cursor>,
}

pub async fn schedules(state: Shared, tenant: TenantId, filter: ScheduleFilter) -> Result<Response> {
    let pages = Schedules {
        state,
        tenant,
        filter,
        after: None,
    };
    csv_stream::answer("schedules.csv", SCHEDULE_COLUMNS, pages).await
}

impl CsvPages for Schedules {
    async fn page(&mut self, out: &mut String) -> store::Result<bool> {
        let events = &self.state.central.events;
        let page = page_after(self.after);
        let (rows, next) = events.schedule_views(self.tenant, &self.filter, page).await?;
        rows.iter().for_each(|row| schedule_line(row).end(out));
        self.after = next;
        Ok(next.is_some())
    }
}

struct CommunicationPages {
    state: Shared,
    tenant: TenantId,
    /// Type and id.
    entity: (String, String),
    after: Option<Cursor>,
}

pub async fn communications(state: Shared, tenant: TenantId, entity: (String, String)) -> Result<Response> {
    let pages = CommunicationPages {
        state,
        tenant,
        entity,
        after: None,
    };
    csv_stream::answer("communications.csv", COMMUNICATION_COLUMNS, pages).await
}

impl CsvPages for CommunicationPages {
    async fn page(&mut self, out: &mut String) -> store::Result<bool> {
        let events = &self.state.central.events;
        let (kind, id) = &self.entity;
        let page = page_after(self.after);
        let found = events.communications(self.tenant, kind, id, page).await?;
        self.after = found.next;
        logs(found)
            .iter()
            .for_each(|row| communication_line(row).end(out));
        Ok(self.after.is_some())
    }
}

fn page_after(after: Option<Cursor>) -> Page {
    Page {
        limit: ROWS_PER_READ,
        after,
    }
}

fn event_line(row: &Event) -> Line {
    let mut line = Line::default();
    line.plain(row.id)
        .text(&row.tenant_name)
        .text(&row.event_type)
        .text(super::entity_type(row))
        .text(&row.entity_id)
        .plain(row.status)
        .plain(row.attempts)
        .text_or_empty(row.last_error.as_deref())
        .text(&row.source)
        .text_or_empty(row.correlation_id.as_deref())
        .text_or_empty(row.topic.as_deref())
        .plain(row.created_at)
        .plain_or_empty(row.published_at);
    line
}

fn schedule_line(row: &ScheduleView) -> Line {
    let mut line = Line::default();
    let schedule = &row.schedule;
    line.plain(schedule.event)
        .text(&schedule.event_type)
        .text(&schedule.entity_type)
        .text(&schedule.entity_id)
        .plain(row.status)
        .plain(schedule.due_at)
        .plain(schedule.attempts)
        .text_or_empty(schedule.last_error.as_deref())
        .plain(row.messages.len())
        .text(&not_sent(row))
        .plain(schedule.created_at)
        .plain_or_empty(schedule.published_at)
        .plain_or_empty(row.completed_at);
    line
}

/// What there is no message of, and why.
fn not_sent(row: &ScheduleView) -> String {
    let missing = row
        .messages
        .iter()
        .map(|view| &view.message)
        .filter(|m| m.is_missing());
    let each = missing.map(|m| {
        let why = m.reason.as_deref().unwrap_or_default();
        format!("{} {}: {why}", m.channel, m.template_name)
    });
    each.collect::<Vec<_>>().join("; ")
}

fn communication_line(row: &CommunicationLog) -> Line {
    let mut line = Line::default();
    line.plain(row.created_at)
        .plain(&row.status)
        .plain(row.channel)
        .text_or_empty(row.event_type.as_deref())
        .text_or_empty(row.template_name.as_deref())
        .plain_or_empty(row.template_version)
        .text_or_empty(row.to_address.as_deref())
        .plain_or_empty(row.sent_at)
        .plain(row.attempts)
        .text_or_empty(row.last_error.as_deref())
        .text_or_empty(row.receipt.as_deref())
        .text_or_empty(row.provider.as_deref())
        .text_or_empty(row.provider_message_id.as_deref())
        .text_or_empty(row.correlation_id.as_deref())
        .text_or_empty(row.idempotency_key.as_deref())
        .text(&row.requested_by)
        .plain_or_empty(row.notification_id)
        .plain_or_empty(row.event_id);
    line
}
