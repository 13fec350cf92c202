//! A notification as it is handed in.
//!
//! Leaves to others: what is wrong with what was read (`central::ingest`), which tells all of it at once.

use super::{
    content::{Heading, Source, Text},
    names::{Id, StatusName, Time, TypeName},
};
use crate::{auth::Caller, fields::Fields};
use central::ingest::ReadSubmission;
use domain::{Channel, Content, FieldError, NotificationId, Status, Submission, Target, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// One notification to be delivered. Either `notificationId` or `idempotencyKey` makes a resend harmless; either
/// `listName` or `to` says who gets it (neither for types whose provider knows). The whole request has at most 4 MiB.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "read by the derive only")]
pub struct SubmitRequest {
    /// Chosen by the sender; the same id again is the same notification. Not together with `idempotencyKey`.
    #[schema(value_type = Option<Id>)]
    notification_id: Option<Uuid>,
    /// Any text; the same key again is the same notification. The header `Idempotency-Key` counts as this. Without id and
    /// key, a `runId` makes one, `auto:v1:…`, of itself and of `ruleId` (else `ruleName`), `providerId`, `type`, `listName` or
    /// `to`, `subject`, `body`, `bodyHtml` and `typeData`, and of nothing else: two requests of a run that differ only in
    /// `entityId`, `sendAt` or another field are the same notification, and the second is not delivered.
    #[schema(max_length = 255)]
    idempotency_key: Option<String>,
    /// `Email` if left out, or whatever the provider in `providerId` delivers.
    #[schema(value_type = Option<TypeName>)]
    r#type: Option<Channel>,
    #[serde(flatten)]
    heading: Heading,
    #[serde(flatten)]
    text: Text,
    #[serde(flatten)]
    source: Source,
    #[schema(value_type = Option<Time>)]
    site_enqueued_at: Option<Timestamp>,
}

/// The notification is on disk; it survives a crash from here on.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubmitAnswer {
    #[schema(value_type = Id)]
    pub notification_id: NotificationId,
    /// Null only for a duplicate whose row was purged.
    #[schema(value_type = Option<StatusName>)]
    pub status: Option<Status>,
    /// It was known already; nothing was stored a second time.
    pub duplicate: bool,
}

/// The answer to a request for a repeat.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResendAnswer {
    #[serde(flatten)]
    pub submitted: SubmitAnswer,
    #[schema(value_type = Id)]
    pub resend_of: NotificationId,
}

/// The answers to a batch, in the order of its items.
#[derive(Debug, Serialize, ToSchema)]
pub struct BatchAnswer {
    pub results: Vec<BatchResult>,
}

/// The answer to one item of a batch.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BatchResult {
    /// Stored, now or earlier. If not, `errors` says why.
    pub accepted: bool,
    #[schema(value_type = Option<Id>)]
    pub notification_id: Option<NotificationId>,
    #[schema(value_type = Option<StatusName>)]
    pub status: Option<Status>,
    pub duplicate: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<super::problem::BadField>)]
    pub errors: Vec<FieldError>,
}

/// Up to 1,000 notifications: either the array itself or this object around it. The whole request has at most 16 MiB.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct BatchRequest {
    #[schema(min_items = 1, max_items = 1000)]
    pub notifications: Vec<SubmitRequest>,
}

impl SubmitRequest {
    /// The submission this asks for, and every field that cannot be read. `header_key` is the `Idempotency-Key` header.
    pub fn read(mut fields: Fields, header_key: Option<String>, caller: &Caller) -> ReadSubmission {
        let id = fields.uuid("notificationId").map(NotificationId);
        let key = Self::key(&mut fields, header_key);
        if id.is_some() && key.is_some() {
            fields.problem(
                "notificationId",
                "give either notificationId or idempotencyKey, not both",
            );
        }
        let channel = fields.parsed("type");
        let (list, to) = (fields.text("listName"), fields.texts("to"));
        if list.is_some() && to.is_some() {
            fields.problem("listName", "give either listName or to, not both");
        }
        let site_enqueued_at = fields.timestamp("siteEnqueuedAt");
        let content = Content::read(&mut fields, channel, Target::of(list, to));
        let key = match id {
            None => key.or_else(|| central::auto_key(&content)),
            Some(_) => key,
        };
        let id = id
            .or_else(|| Some(NotificationId::from_key(caller.tenant, key.as_ref()?)))
            .unwrap_or_else(NotificationId::mint);
        let submission = Submission {
            idempotency_key: key,
            provenance: Source::read(&mut fields),
            site_enqueued_at,
            ..Submission::new(caller.tenant, id, caller.actor.clone(), content)
        };
        ReadSubmission {
            submission,
            problems: fields.finish(),
        }
    }

    /// The one key that was given.
    fn key(fields: &mut Fields, header: Option<String>) -> Option<String> {
        let key = match (fields.text("idempotencyKey"), header) {
            (Some(_), Some(_)) => {
                fields.problem(
                    "idempotencyKey",
                    "is also given by the header Idempotency-Key; give one of them",
                );
                None
            }
            (field, header) => field.or(header),
        };
        if key.as_ref().is_some_and(|key| key.trim().is_empty()) {
            fields.problem("idempotencyKey", "must not be blank");
        }
        key
    }
}
