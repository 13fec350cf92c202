//! A notification as it is shown.

use super::{
    content::{Heading, Source, Text},
    names::{DeliveryStateName, Id, ReceiptStateName, RecipientStateName, StatusName, Time, TypeName},
    waiting::{HoldView, WaitingView},
};
use domain::{
    Actor, Channel, DeliveryState, NotificationId, ReceiptState, RecipientResult, RecipientState, Status,
    Timestamp, WaitReason, Waiting, kpi::is_stuck,
};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;

/// One notification, whole.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Notification {
    #[serde(flatten)]
    pub summary: Summary,
    #[serde(flatten)]
    pub text: Text,
    /// How each recipient fared; empty where the settings of the provider alone say where it goes.
    pub recipients: Vec<RecipientView>,
}

/// One notification without its content: a row of a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    #[schema(value_type = Id)]
    pub notification_id: NotificationId,
    pub idempotency_key: Option<String>,
    #[schema(value_type = TypeName)]
    pub r#type: Channel,
    #[schema(value_type = StatusName)]
    pub status: Status,
    /// The same in the words of other outboxes.
    #[schema(value_type = DeliveryStateName)]
    pub delivery_state: DeliveryState,
    #[serde(flatten)]
    pub heading: Heading,
    /// The provider that has it now; null when there was none to route to.
    pub provider: Option<String>,
    /// Attempts so far in this generation.
    pub retry_count: u32,
    pub last_error: Option<String>,
    pub error_code: Option<String>,
    /// The far end's own code.
    pub provider_code: Option<String>,
    /// How often an operator sent it round again.
    pub generation: i32,
    /// Waiting longer than `outbox.stuck_age_threshold`.
    pub stuck: bool,
    /// Why it waits and until when, while it does.
    pub waiting: Option<WaitingView>,
    /// Why its provider takes nothing just now, while it waits for that.
    pub held: Option<HoldView>,
    #[schema(value_type = Time)]
    pub created_at: Timestamp,
    /// When the sender handed it in: at the site if it came from one, else here.
    #[schema(value_type = Time)]
    pub enqueued_at: Timestamp,
    #[schema(value_type = Option<Time>)]
    pub site_enqueued_at: Option<Timestamp>,
    /// What "stuck" counts from: the latest of created, sendAt and requeue.
    #[schema(value_type = Time)]
    pub waiting_since: Timestamp,
    #[schema(value_type = Option<Time>)]
    pub last_attempt_at: Option<Timestamp>,
    #[schema(value_type = Option<Time>)]
    pub next_attempt_at: Option<Timestamp>,
    #[schema(value_type = Option<Time>)]
    pub delivered_at: Option<Timestamp>,
    /// When it was delivered, parked or discarded.
    #[schema(value_type = Option<Time>)]
    pub ended_at: Option<Timestamp>,
    /// Who it actually went to.
    pub resolved_targets: Vec<String>,
    pub provider_message_id: Option<String>,
    /// What the provider told later; of several recipients, what is true of all who took it.
    pub receipt: Option<String>,
    #[schema(value_type = Option<Time>)]
    pub receipt_at: Option<Timestamp>,
    #[serde(flatten)]
    pub source: Source,
    /// The notification this one repeats.
    #[schema(value_type = Option<Id>)]
    pub resend_of: Option<NotificationId>,
    #[schema(value_type = String)]
    pub submitted_by: Actor,
}

/// How far one recipient is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecipientView {
    pub address: String,
    #[schema(value_type = RecipientStateName)]
    pub state: RecipientState,
    pub generation: i32,
    pub provider_message_id: Option<String>,
    pub code: Option<String>,
    /// The far end's own code.
    pub provider_code: Option<String>,
    pub error: Option<String>,
    #[schema(value_type = Time)]
    pub at: Timestamp,
    /// What the provider told later.
    #[schema(value_type = Option<ReceiptStateName>)]
    pub receipt: Option<ReceiptState>,
    /// Who was asked.
    pub provider: Option<String>,
    /// Tries in its generation.
    pub tries: u32,
    /// While it is open: not asked for before this.
    #[schema(value_type = Option<Time>)]
    pub not_before: Option<Timestamp>,
}

/// How one notification stands, in short.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusAnswer {
    #[schema(value_type = Id)]
    pub notification_id: NotificationId,
    #[schema(value_type = StatusName)]
    pub status: Status,
    /// The same in the words of other outboxes.
    #[schema(value_type = DeliveryStateName)]
    pub delivery_state: DeliveryState,
    pub retry_count: u32,
    /// Of the last failure, like `RECIPIENT`.
    pub error_code: Option<String>,
    pub last_error: Option<String>,
    #[schema(value_type = Time)]
    pub enqueued_at: Timestamp,
    #[schema(value_type = Option<Time>)]
    pub delivered_at: Option<Timestamp>,
    pub receipt: Option<String>,
    /// Why it waits and until when, while it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting: Option<WaitingView>,
    /// Why its provider lets nothing out, while it waits for one that is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold: Option<HoldView>,
}

/// Why a notification is given up.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct ReasonRequest {
    /// Kept in the audit log. `outbox.discard_needs_reason` makes it required.
    #[schema(max_length = 500)]
    pub reason: Option<String>,
}

/// What is different about a repeat.
#[derive(Debug, ToSchema)]
#[schema(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct ResendRequest {
    /// Not after; in the future. The end of the one that is repeated does not count any more.
    pub expires_at: Option<Time>,
}

/// What an action left behind.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActedAnswer {
    #[schema(value_type = Id)]
    pub notification_id: NotificationId,
    #[schema(value_type = StatusName)]
    pub status: Status,
}

/// What "stuck" is measured with.
#[derive(Debug, Clone, Copy)]
pub struct Measure {
    pub now: Timestamp,
    pub stuck_after: Duration,
}

/// What is due in a lane that lets nothing out is tried when that ends.
pub fn next_attempt_at(row: &store::query::Notification, waiting: Option<&Waiting>) -> Option<Timestamp> {
    match waiting {
        Some(waiting) if waiting.reason != WaitReason::Queued => waiting.until,
        _ => row.next_attempt_at,
    }
}

impl Summary {
    fn new(row: &mut store::query::Notification, waiting: Option<Waiting>, measure: Measure) -> Self {
        let next_attempt_at = next_attempt_at(row, waiting.as_ref());
        let s = &mut row.submission;
        Self {
            notification_id: s.id,
            idempotency_key: s.idempotency_key.take(),
            r#type: s.content.channel(),
            status: row.status,
            delivery_state: state(row.status, waiting.as_ref()),
            heading: Heading::take(&mut s.content),
            provider: row.provider.take(),
            retry_count: row.retry_count,
            last_error: row.last_error.take(),
            error_code: row.last_code.take(),
            provider_code: row.last_provider_code.take(),
            generation: row.generation,
            stuck: waiting.is_some() && is_stuck(row.waiting_since, measure.now, measure.stuck_after),
            waiting: waiting.map(WaitingView::from),
            held: row
                .held
                .take()
                .map(|hold| HoldView::of_message(hold, row.created_at)),
            created_at: row.created_at,
            enqueued_at: s.site_enqueued_at.unwrap_or(row.created_at),
            site_enqueued_at: s.site_enqueued_at,
            waiting_since: row.waiting_since,
            last_attempt_at: row.last_attempt_at,
            next_attempt_at,
            delivered_at: row.delivered_at,
            ended_at: row.ended_at,
            resolved_targets: std::mem::take(&mut row.resolved_targets),
            provider_message_id: row.provider_message_id.take(),
            receipt: row.receipt.take(),
            receipt_at: row.receipt_at,
            source: std::mem::take(&mut s.provenance).into(),
            resend_of: s.resend_of,
            submitted_by: s.submitted_by.clone(),
        }
    }

    pub fn of(mut row: store::query::Notification, waiting: Option<Waiting>, measure: Measure) -> Self {
        Self::new(&mut row, waiting, measure)
    }
}

impl Notification {
    pub fn of(mut row: store::query::Notification, waiting: Option<Waiting>, measure: Measure) -> Self {
        let only = row.only_recipient();
        let summary = Summary::new(&mut row, waiting, measure);
        Self {
            summary,
            text: row.submission.content.into(),
            recipients: row
                .recipients
                .into_iter()
                .chain(only)
                .map(RecipientView::from)
                .collect(),
        }
    }
}

impl StatusAnswer {
    pub fn of(row: store::query::Notification, waiting: Option<Waiting>) -> Self {
        Self {
            notification_id: row.submission.id,
            error_code: row.last_code,
            hold: row.held.map(|hold| HoldView::of_message(hold, row.created_at)),
            status: row.status,
            delivery_state: state(row.status, waiting.as_ref()),
            retry_count: row.retry_count,
            last_error: row.last_error,
            enqueued_at: row.submission.site_enqueued_at.unwrap_or(row.created_at),
            delivered_at: row.delivered_at,
            receipt: row.receipt,
            waiting: waiting.map(WaitingView::from),
        }
    }
}

fn state(status: Status, waiting: Option<&Waiting>) -> DeliveryState {
    DeliveryState::of(status, waiting.map(|waiting| waiting.reason))
}

impl From<RecipientResult> for RecipientView {
    fn from(result: RecipientResult) -> Self {
        let RecipientResult {
            address,
            state,
            generation,
            provider_message_id,
            code,
            provider_code,
            error,
            at,
            receipt,
            provider,
            tries,
            not_before,
        } = result;
        Self {
            address,
            state,
            generation,
            provider_message_id,
            code,
            provider_code,
            error,
            at,
            receipt,
            provider,
            tries,
            not_before,
        }
    }
}
