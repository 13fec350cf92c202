//! A notification as it is handed in.
//!
//! Always true: every bad field is found before anything is refused; what passes here and in
//! `Submission::problems` can be stored.

use super::names::{Id, StatusName, Time, TypeName};
use crate::{auth::Caller, fields::Fields};
use central::ingest::Incoming;
use domain::{
    Channel, ExecutionId, FieldError, NotificationId, ProviderId, Status, Submission, Target, Timestamp,
    submission::{Extra, Provenance},
};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

/// One notification to be delivered. Either `notificationId` or `idempotencyKey` makes a resend harmless; either
/// `listName` or `to` says who gets it (neither for types whose provider knows).
#[derive(Debug, Default, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SubmitRequest {
    /// Chosen by the sender; the same id again is the same notification. Not together with `idempotencyKey`.
    #[schema(value_type = Option<Id>)]
    pub notification_id: Option<Uuid>,
    /// Any text; the same key again is the same notification. The header `Idempotency-Key` counts as this.
    #[schema(max_length = 255)]
    pub idempotency_key: Option<String>,
    /// `Email` if left out, or whatever the provider in `providerId` delivers.
    #[schema(value_type = Option<TypeName>)]
    pub r#type: Option<Channel>,
    /// Who gets it: the members of this list at the time of delivery.
    #[schema(max_length = 200)]
    pub list_name: Option<String>,
    /// Who gets it, by address.
    #[schema(max_items = 1000)]
    pub to: Option<Vec<String>>,
    pub provider_id: Option<String>,
    /// Also `title`.
    #[schema(max_length = 1000)]
    pub subject: Option<String>,
    /// Also `message`. Plain text.
    #[schema(required)]
    pub body: Option<String>,
    pub body_html: Option<String>,
    /// Also `data`. Fields that only some types know.
    pub type_data: Option<Value>,
    pub rule_name: Option<String>,
    pub rule_id: Option<String>,
    pub run_id: Option<String>,
    /// A waiting notification with the same key is discarded in favour of this one.
    pub supersedes_key: Option<String>,
    pub entity_type: Option<String>,
    pub entity_id: Option<String>,
    pub source_site_id: Option<String>,
    pub source_instance_id: Option<String>,
    pub source_script: Option<String>,
    pub origin_execution_id: Option<String>,
    pub origin_parent_execution_id: Option<String>,
    #[schema(value_type = Option<Time>)]
    pub site_enqueued_at: Option<Timestamp>,
    /// Not before.
    #[schema(value_type = Option<Time>)]
    pub send_at: Option<Timestamp>,
    /// Not after: still undelivered then, it is parked as `EXPIRED`.
    #[schema(value_type = Option<Time>)]
    pub expires_at: Option<Timestamp>,
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

/// Up to 1,000 notifications: either the array itself or this object around it.
#[derive(Debug, ToSchema)]
#[allow(dead_code, reason = "read by the derive only")]
pub struct BatchRequest {
    #[schema(min_items = 1, max_items = 1000)]
    pub notifications: Vec<SubmitRequest>,
}

impl SubmitRequest {
    pub fn read(fields: &mut Fields) -> Self {
        Self {
            notification_id: fields.uuid("notificationId"),
            idempotency_key: fields.text("idempotencyKey"),
            r#type: fields.parsed("type"),
            list_name: fields.text("listName"),
            to: fields.texts("to"),
            provider_id: fields.text("providerId"),
            subject: fields.text_or_alias("subject", "title"),
            body: fields.text_or_alias("body", "message"),
            body_html: fields.text("bodyHtml"),
            type_data: fields.any_or_alias("typeData", "data"),
            rule_name: fields.text("ruleName"),
            rule_id: fields.text("ruleId"),
            run_id: fields.text("runId"),
            supersedes_key: fields.text("supersedesKey"),
            entity_type: fields.text("entityType"),
            entity_id: fields.text("entityId"),
            source_site_id: fields.text("sourceSiteId"),
            source_instance_id: fields.text("sourceInstanceId"),
            source_script: fields.text("sourceScript"),
            origin_execution_id: fields.text("originExecutionId"),
            origin_parent_execution_id: fields.text("originParentExecutionId"),
            site_enqueued_at: fields.timestamp("siteEnqueuedAt"),
            send_at: fields.timestamp("sendAt"),
            expires_at: fields.timestamp("expiresAt"),
        }
    }

    /// The submission this asks for, or every field that is wrong. `header_key` is the `Idempotency-Key` header.
    pub fn check(
        mut fields: Fields,
        header_key: Option<String>,
        caller: &Caller,
    ) -> Result<Incoming, Vec<FieldError>> {
        let mut asked = Self::read(&mut fields);
        let body = asked.body.take();
        let body = fields.require("body", body);
        let key = match (asked.idempotency_key.take(), header_key) {
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
        if asked.notification_id.is_some() && key.is_some() {
            fields.problem(
                "notificationId",
                "give either notificationId or idempotencyKey, not both",
            );
        }
        if asked.list_name.is_some() && asked.to.is_some() {
            fields.problem("listName", "give either listName or to, not both");
        }
        let incoming = asked.into_incoming(key, body.unwrap_or_default(), caller);
        let mut all = fields.finish();
        let target_open =
            incoming.submission.target == Target::Provider && Self::target_is_open(&incoming, &all);
        for found in incoming.submission.problems() {
            let told = all.iter().any(|p| p.field == found.field);
            let guess = target_open && found.field == "listName";
            if !told && !guess {
                all.push(found);
            }
        }
        if all.is_empty() { Ok(incoming) } else { Err(all) }
    }

    /// Whether it cannot be said yet that somebody to go to is missing: without a type, the provider that is named
    /// decides (ingest asks it); and a target or type that was given badly is told as that.
    fn target_is_open(incoming: &Incoming, problems: &[FieldError]) -> bool {
        let decided_later = !incoming.channel_given && incoming.submission.provider.is_some();
        decided_later
            || problems
                .iter()
                .any(|p| matches!(p.field.as_str(), "type" | "to" | "listName"))
    }

    fn into_incoming(self, key: Option<String>, body: String, caller: &Caller) -> Incoming {
        let id = match (self.notification_id, &key) {
            (Some(id), _) => NotificationId(id),
            (None, Some(key)) => NotificationId::from_key(caller.tenant, key),
            (None, None) => NotificationId::mint(),
        };
        let target = match (self.list_name, self.to) {
            (Some(name), _) => Target::List(name),
            (None, Some(to)) => Target::Recipients(to),
            (None, None) => Target::Provider,
        };
        let submission = Submission {
            tenant: caller.tenant,
            id,
            idempotency_key: key,
            channel: self.r#type.unwrap_or(Channel::Email),
            provider: self.provider_id.map(ProviderId::new),
            target,
            subject: self.subject.unwrap_or_default(),
            body,
            type_data: self.type_data.map(|value| value.to_string()),
            provenance: Provenance {
                site: self.source_site_id,
                instance: self.source_instance_id,
                script: self.source_script,
                execution: self.origin_execution_id.map(ExecutionId::new),
                parent_execution: self.origin_parent_execution_id.map(ExecutionId::new),
            },
            entity_type: self.entity_type,
            entity_id: self.entity_id,
            submitted_by: caller.actor.clone(),
            site_enqueued_at: self.site_enqueued_at,
            send_at: self.send_at,
            expires_at: self.expires_at,
            supersedes_key: self.supersedes_key,
            extra: Extra {
                body_html: self.body_html,
                rule_name: self.rule_name,
                rule_id: self.rule_id,
                run_id: self.run_id,
                resend_of: None,
                trace: None,
            },
        };
        Incoming {
            submission,
            channel_given: self.r#type.is_some(),
        }
    }
}
