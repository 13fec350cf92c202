//! Schedules as they are shown.

use super::names::{CameToName, Id, ScheduleStatusName, StatusName, Time, TypeName};
use central::events::{
    Replayed,
    views::{MessageView, ScheduleView},
};
use domain::{Channel, EventId, NotificationId, ScheduleStatus, Status, Timestamp, event::CameTo};
use serde::Serialize;
use utoipa::ToSchema;

/// What an event became: what it sent, or when it will.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AutomationSchedule {
    /// The event's id: an event has one schedule.
    #[schema(value_type = Id)]
    pub id: EventId,
    pub event_type: String,
    pub entity_type: String,
    pub entity_id: String,
    #[schema(value_type = ScheduleStatusName)]
    pub status: ScheduleStatus,
    #[schema(value_type = Time)]
    pub due_at: Timestamp,
    pub attempts: u32,
    pub last_error: Option<String>,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
    #[schema(value_type = Option<Time>)]
    pub published_at: Option<Timestamp>,
    #[schema(value_type = Option<Time>)]
    pub completed_at: Option<Timestamp>,
    /// What each template came to.
    pub messages: Vec<ScheduleMessage>,
}

/// One template's part.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleMessage {
    pub template_id: String,
    pub template_name: String,
    pub template_version: i64,
    #[schema(value_type = TypeName)]
    pub channel: Channel,
    /// `created`, `found` (an earlier event had caused it), `skipped` or `refused`.
    #[schema(value_type = CameToName)]
    pub came_to: CameTo,
    #[schema(value_type = Option<Id>)]
    pub notification_id: Option<NotificationId>,
    /// Null where there is none, or it was purged.
    #[schema(value_type = Option<StatusName>)]
    pub status: Option<Status>,
    /// Why it was skipped or refused, as what it was sent before, or which values it lacked.
    pub reason: Option<String>,
    /// What keeps the notification, or parked it; null once it is delivered.
    pub last_error: Option<String>,
}

impl From<MessageView> for ScheduleMessage {
    fn from(view: MessageView) -> Self {
        let message = view.message;
        Self {
            template_id: message.template,
            template_name: message.template_name,
            template_version: message.template_version,
            channel: message.channel,
            came_to: message.came_to,
            notification_id: message.notification,
            status: view.status,
            reason: message.reason,
            last_error: view.last_error,
        }
    }
}

impl From<ScheduleView> for AutomationSchedule {
    fn from(view: ScheduleView) -> Self {
        let schedule = view.schedule;
        Self {
            id: schedule.event,
            event_type: schedule.event_type,
            entity_type: schedule.entity_type,
            entity_id: schedule.entity_id,
            status: view.status,
            due_at: schedule.due_at,
            attempts: schedule.attempts,
            last_error: schedule.last_error,
            created_at: schedule.created_at,
            published_at: schedule.published_at,
            completed_at: view.completed_at,
            messages: view.messages.into_iter().map(ScheduleMessage::from).collect(),
        }
    }
}

/// What a replay did.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReplayAnswer {
    /// It was made due again as a whole.
    pub due_again: bool,
    /// Parked notifications that go round again.
    pub requeued: usize,
    /// Notifications that had been skipped or refused and are there now.
    pub created: usize,
    /// Why nothing was created, where something goes round again and more is missing.
    pub reason: Option<String>,
}

impl From<Replayed> for ReplayAnswer {
    fn from(replayed: Replayed) -> Self {
        Self {
            due_again: replayed.due_again,
            requeued: replayed.requeued,
            created: replayed.created,
            reason: replayed.reason,
        }
    }
}

/// How a schedule is replayed.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct ReplayBody {
    /// Also templates that were made after the event.
    pub new_templates: Option<bool>,
}
