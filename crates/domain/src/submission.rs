//! What somebody asks to have delivered, checked once, at the edge.

use crate::{
    Actor, Channel, ExecutionId, NotificationId, ProviderId, TenantId, Timestamp, TraceContext, trace,
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// One notification as it was asked for. Content is written once and never changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    pub tenant: TenantId,
    pub id: NotificationId,
    /// The key the id was made from, if it was.
    pub idempotency_key: Option<String>,
    pub channel: Channel,
    /// Whom the sender asked for by name; otherwise the tenant's first provider of the channel takes it.
    pub provider: Option<ProviderId>,
    pub target: Target,
    pub subject: String,
    pub body: String,
    /// Fields that only some channels know, as JSON text.
    pub type_data: Option<String>,
    pub provenance: Provenance,
    pub entity_type: Option<String>,
    pub entity_id: Option<String>,
    pub submitted_by: Actor,
    pub site_enqueued_at: Option<Timestamp>,
    /// Not before.
    pub send_at: Option<Timestamp>,
    /// Not after: still undelivered then, it is parked as `EXPIRED`.
    pub expires_at: Option<Timestamp>,
    /// A waiting notification of the same tenant with this supersede key is replaced by this one.
    pub supersedes_key: Option<String>,
    /// Seldom-used fields that are only shown again: rule, run, template, HTML body.
    pub extra: Extra,
}

/// Where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The list's members at the time of delivery.
    List(String),
    Recipients(Vec<String>),
    /// The provider's settings say where.
    Provider,
}

/// Where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provenance {
    pub site: Option<String>,
    pub instance: Option<String>,
    pub script: Option<String>,
    pub execution: Option<ExecutionId>,
    pub parent_execution: Option<ExecutionId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Extra {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body_html: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The notification this one repeats on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resend_of: Option<NotificationId>,
    /// The step of a trace that handed it in; none while traces are off.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "trace::readable")]
    pub trace: Option<TraceContext>,
}

impl Extra {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One field that was refused, in the words of the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    pub field: String,
    pub problem: String,
}

impl FieldError {
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            problem: problem.into(),
        }
    }
}

/// The longest values accepted, in characters; the columns are as wide.
pub mod limit {
    pub const KEY: usize = 255;
    pub const LIST_NAME: usize = 200;
    pub const SUBJECT: usize = 1_000;
    /// In bytes, like the whole request.
    pub const BODY: usize = 1 << 20;
    pub const TYPE_DATA: usize = 256 << 10;
    pub const ADDRESS: usize = 512;
    pub const RECIPIENTS: usize = 1_000;
    pub const NAME: usize = 255;
    pub const ERROR: usize = 4_000;
}

impl Submission {
    /// Every field that is wrong, in the API's names. Empty means it can be stored.
    pub fn problems(&self) -> Vec<FieldError> {
        let mut bad = Problems::default();
        bad.text("idempotencyKey", self.idempotency_key.as_deref(), limit::KEY);
        bad.text("subject", Some(&self.subject), limit::SUBJECT);
        bad.bytes("body", Some(&self.body), limit::BODY);
        bad.bytes("bodyHtml", self.extra.body_html.as_deref(), limit::BODY);
        bad.bytes("typeData", self.type_data.as_deref(), limit::TYPE_DATA);
        bad.text("entityType", self.entity_type.as_deref(), limit::NAME);
        bad.text("entityId", self.entity_id.as_deref(), limit::NAME);
        bad.text("supersedesKey", self.supersedes_key.as_deref(), limit::KEY);
        bad.text("ruleName", self.extra.rule_name.as_deref(), limit::NAME);
        bad.text("ruleId", self.extra.rule_id.as_deref(), limit::NAME);
        bad.text("runId", self.extra.run_id.as_deref(), limit::NAME);
        bad.0.extend(self.provider_problem());
        let from = &self.provenance;
        bad.text("sourceSiteId", from.site.as_deref(), limit::NAME);
        bad.text("sourceInstanceId", from.instance.as_deref(), limit::NAME);
        bad.text("sourceScript", from.script.as_deref(), limit::NAME);
        bad.text(
            "originExecutionId",
            from.execution.as_ref().map(ExecutionId::as_str),
            limit::NAME,
        );
        bad.text(
            "originParentExecutionId",
            from.parent_execution.as_ref().map(ExecutionId::as_str),
            limit::NAME,
        );
        match &self.target {
            Target::List(name) => {
                bad.text("listName", Some(name), limit::LIST_NAME);
                if name.trim().is_empty() {
                    bad.push("listName", "must not be blank");
                }
            }
            Target::Recipients(to) => bad.recipients(to),
            Target::Provider if self.channel.needs_recipients() => {
                bad.push(
                    "listName",
                    "a list name or recipients in `to` are needed for this type",
                );
            }
            Target::Provider => {}
        }
        if let (Some(send), Some(expire)) = (self.send_at, self.expires_at)
            && expire <= send
        {
            bad.push("expiresAt", "must be after sendAt");
        }
        bad.0
    }

    /// What is wrong with the id of the provider, which is looked up before the rest can be judged.
    pub fn provider_problem(&self) -> Option<FieldError> {
        let mut bad = Problems::default();
        bad.text(
            "providerId",
            self.provider.as_ref().map(ProviderId::as_str),
            limit::NAME,
        );
        bad.0.pop()
    }

    /// Same content, same hash: tells a harmless resend from an id used twice for different things.
    pub fn content_hash(&self) -> i64 {
        let mut hash = Sha256::new();
        let mut part = |text: &str| {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
        };
        part(self.channel.as_str());
        part(self.provider.as_ref().map_or("", |p| p.as_str()));
        match &self.target {
            Target::List(name) => part(name),
            Target::Recipients(to) => to.iter().for_each(|address| part(address)),
            Target::Provider => part(""),
        }
        part(&self.subject);
        part(&self.body);
        part(self.type_data.as_deref().unwrap_or(""));
        let mut first = [0u8; 8];
        first.copy_from_slice(&hash.finalize()[..8]);
        i64::from_be_bytes(first)
    }
}

#[derive(Default)]
struct Problems(Vec<FieldError>);

impl Problems {
    fn push(&mut self, field: &str, problem: &str) {
        self.0.push(FieldError::new(field, problem));
    }

    fn text(&mut self, field: &str, value: Option<&str>, longest: usize) {
        let Some(value) = value else { return };
        // Bytes first: counting characters of a megabyte to refuse it would be work for nothing.
        if value.len() > longest && value.chars().count() > longest {
            self.0.push(FieldError::new(
                field,
                format!("must be at most {longest} characters"),
            ));
        }
        self.no_nul(field, value);
    }

    fn bytes(&mut self, field: &str, value: Option<&str>, longest: usize) {
        let Some(value) = value else { return };
        if value.len() > longest {
            self.0
                .push(FieldError::new(field, format!("must be at most {longest} bytes")));
        }
        self.no_nul(field, value);
    }

    fn no_nul(&mut self, field: &str, value: &str) {
        if value.as_bytes().contains(&0) {
            self.push(field, "must not contain a NUL character");
        }
    }

    fn recipients(&mut self, to: &[String]) {
        if to.is_empty() {
            self.push("to", "must name at least one recipient");
        }
        if to.len() > limit::RECIPIENTS {
            self.0.push(FieldError::new(
                "to",
                format!("must name at most {} recipients", limit::RECIPIENTS),
            ));
        }
        for (i, address) in to.iter().enumerate().take(limit::RECIPIENTS) {
            let field = format!("to[{i}]");
            if address.trim().is_empty() {
                self.push(&field, "must not be blank");
            }
            self.text(&field, Some(address), limit::ADDRESS);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submission() -> Submission {
        Submission {
            tenant: TenantId::DEFAULT,
            id: NotificationId::mint(),
            idempotency_key: None,
            channel: Channel::Email,
            provider: None,
            target: Target::List("ops".into()),
            subject: "s".into(),
            body: "b".into(),
            type_data: None,
            provenance: Provenance::default(),
            entity_type: None,
            entity_id: None,
            submitted_by: Actor::system(),
            site_enqueued_at: None,
            send_at: None,
            expires_at: None,
            supersedes_key: None,
            extra: Extra::default(),
        }
    }

    #[test]
    fn every_bad_field_is_named_at_once() {
        let bad = Submission {
            subject: "x".repeat(limit::SUBJECT + 1),
            body: "nul\0".into(),
            target: Target::Recipients(vec!["ok@example.com".into(), " ".into()]),
            ..submission()
        };
        let fields: Vec<_> = bad.problems().into_iter().map(|p| p.field).collect();
        assert_eq!(fields, ["subject", "body", "to[1]"]);
        assert!(submission().problems().is_empty());
    }

    #[test]
    fn email_without_anybody_to_go_to_is_refused() {
        let bad = Submission {
            target: Target::Provider,
            ..submission()
        };
        assert_eq!(bad.problems()[0].field, "listName");
        let fine = Submission {
            target: Target::Provider,
            channel: Channel::Webhook,
            ..submission()
        };
        assert!(fine.problems().is_empty());
    }

    #[test]
    fn the_content_hash_tells_content_apart_and_ignores_the_id() {
        let one = submission();
        let again = Submission {
            id: NotificationId::mint(),
            ..submission()
        };
        let other = Submission {
            body: "c".into(),
            ..submission()
        };
        assert_eq!(one.content_hash(), again.content_hash());
        assert_ne!(one.content_hash(), other.content_hash());
    }
}
