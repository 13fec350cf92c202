//! What was sent about one entity, and what was not.

use super::{
    names::{Id, Time, TypeName},
    submit::SubmitAnswer,
};
use central::events::views::Communications;
use domain::{
    Channel, NotificationId, Target, Timestamp,
    event::{CameTo, ScheduledMessage},
};
use serde::Serialize;
use store::{events::Schedule, query::Notification};
use utoipa::ToSchema;

/// One message about an entity, or one that there was not.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommunicationLog {
    /// Null for one that was skipped or refused.
    #[schema(value_type = Option<Id>)]
    pub notification_id: Option<NotificationId>,
    #[schema(value_type = TypeName)]
    pub channel: Channel,
    pub event_type: Option<String>,
    /// The event that caused it.
    #[schema(value_type = Option<Id>)]
    pub event_id: Option<domain::EventId>,
    pub template_id: Option<String>,
    pub template_name: Option<String>,
    pub template_version: Option<i64>,
    /// Masked.
    pub to_address: Option<String>,
    /// The notification's status, or Skipped or Refused.
    pub status: String,
    #[schema(value_type = Option<Time>)]
    pub sent_at: Option<Timestamp>,
    pub attempts: u32,
    /// What went wrong last, or why there is no message.
    pub last_error: Option<String>,
    pub receipt: Option<String>,
    pub provider: Option<String>,
    pub provider_message_id: Option<String>,
    pub correlation_id: Option<String>,
    pub idempotency_key: Option<String>,
    /// Who asked for it: `system` for an event, a key or a user for a resend.
    pub requested_by: String,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
}

impl From<Notification> for CommunicationLog {
    fn from(row: Notification) -> Self {
        let submission = row.submission;
        let content = submission.content;
        let to = match &content.target {
            Target::Recipients(to) => to.first().map(|address| masked(address)),
            Target::List(name) => Some(name.clone()),
            Target::Provider => None,
        };
        let channel = content.channel();
        let event = content.event;
        Self {
            notification_id: Some(submission.id),
            channel,
            event_type: event.as_ref().map(|e| e.event_type.clone()),
            event_id: event.as_ref().map(|e| e.event_id),
            template_id: event.as_ref().map(|e| e.template.clone()),
            template_name: event.as_ref().and_then(|e| e.template_name.clone()),
            template_version: event.as_ref().map(|e| e.template_version),
            to_address: to,
            status: row.status.to_string(),
            sent_at: row.delivered_at,
            attempts: row.retry_count,
            last_error: row.last_error,
            receipt: row.receipt,
            provider: row.provider,
            provider_message_id: row.provider_message_id,
            correlation_id: event.and_then(|e| e.correlation_id),
            idempotency_key: submission.idempotency_key,
            requested_by: submission.submitted_by.to_string(),
            created_at: row.created_at,
        }
    }
}

impl From<(Schedule, ScheduledMessage)> for CommunicationLog {
    fn from((schedule, message): (Schedule, ScheduledMessage)) -> Self {
        let status = match message.came_to {
            CameTo::Refused => "Refused",
            _ => "Skipped",
        };
        Self {
            notification_id: None,
            channel: message.channel,
            event_type: Some(schedule.event_type),
            event_id: Some(schedule.event),
            template_id: Some(message.template),
            template_name: Some(message.template_name),
            template_version: Some(message.template_version),
            to_address: None,
            status: status.into(),
            sent_at: None,
            attempts: 0,
            last_error: message.reason,
            receipt: None,
            provider: None,
            provider_message_id: None,
            correlation_id: None,
            idempotency_key: None,
            requested_by: domain::Actor::SYSTEM.into(),
            created_at: schedule.published_at.unwrap_or(schedule.created_at),
        }
    }
}

/// What was sent and what was not, newest first.
pub fn logs(found: Communications) -> Vec<CommunicationLog> {
    let sent = found.sent.into_iter().map(CommunicationLog::from);
    let skipped = found.skipped.into_iter().map(CommunicationLog::from);
    let mut logs: Vec<_> = sent.chain(skipped).collect();
    logs.sort_by_key(|log| std::cmp::Reverse(log.created_at));
    logs
}

/// Enough of an address to know it again: `g•••@example.com`, `+91•••210`.
pub fn masked(address: &str) -> String {
    match address.split_once('@') {
        Some((local, domain)) => {
            let first: String = local.chars().take(1).collect();
            format!("{first}•••@{domain}")
        }
        None => {
            let chars: Vec<char> = address.chars().collect();
            let (head, tail) = (chars.len().min(3), chars.len().saturating_sub(3).max(3));
            let part = |range: &[char]| range.iter().collect::<String>();
            format!(
                "{}•••{}",
                part(&chars[..head]),
                part(chars.get(tail..).unwrap_or_default())
            )
        }
    }
}

/// What to send once more.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct EntityResendRequest {
    #[schema(value_type = TypeName)]
    pub channel: Channel,
    /// Otherwise the channel's templates of the entity's latest event.
    pub template_id: Option<String>,
}

/// What was sent once more. What was sent before stays as it is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResendEntityAnswer {
    /// The `Idempotency-Key`, or the one made for this request.
    pub request_id: String,
    #[schema(value_type = Id)]
    pub event_id: domain::EventId,
    pub notifications: Vec<SubmitAnswer>,
    /// What was not sent, and why.
    pub skipped: Vec<ResendSkipped>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResendSkipped {
    pub template_id: String,
    pub template_name: String,
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn an_address_is_known_again_and_not_told() {
        assert_eq!(masked("guest@example.com"), "g•••@example.com");
        assert_eq!(masked("+919876543210"), "+91•••210");
        assert_eq!(masked("ab"), "ab•••");
        assert_eq!(masked(""), "•••");
    }
}
