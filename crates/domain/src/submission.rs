//! What somebody asks to have delivered, checked once, at the edge.

use crate::{
    Actor, Content, ExecutionId, FieldError, NotificationId, TenantId, Timestamp, TraceContext,
    field_error::FieldChecks,
};

/// One notification as it was asked for. Written once and never changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Submission {
    pub tenant: TenantId,
    pub id: NotificationId,
    /// The key the id was made from, if it was.
    pub idempotency_key: Option<String>,
    pub content: Content,
    pub provenance: Provenance,
    pub submitted_by: Actor,
    pub site_enqueued_at: Option<Timestamp>,
    /// The notification this one repeats on request.
    pub resend_of: Option<NotificationId>,
    /// The step of a trace that handed it in; none while traces are off.
    pub trace: Option<TraceContext>,
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
    /// New content in somebody's name, from nowhere in particular.
    pub fn new(tenant: TenantId, id: NotificationId, submitted_by: Actor, content: Content) -> Self {
        Self {
            tenant,
            id,
            idempotency_key: None,
            content,
            provenance: Provenance::default(),
            submitted_by,
            site_enqueued_at: None,
            resend_of: None,
            trace: None,
        }
    }

    /// Every field that is wrong, in the API's names. Empty means it can be stored.
    pub fn problems(&self) -> Vec<FieldError> {
        let mut bad = FieldChecks::default();
        bad.text("idempotencyKey", self.idempotency_key.as_deref(), limit::KEY);
        bad.0.extend(self.content.problems());
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
        bad.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_the_content_and_what_is_wrong_around_it_is_told_together() {
        let bad = Submission {
            idempotency_key: Some("x".repeat(limit::KEY + 1)),
            provenance: Provenance {
                script: Some("nul\0".into()),
                ..Provenance::default()
            },
            ..Submission::new(
                TenantId::DEFAULT,
                NotificationId::mint(),
                Actor::system(),
                Content::default(),
            )
        };
        let fields: Vec<_> = bad.problems().into_iter().map(|p| p.field).collect();
        assert_eq!(fields, ["idempotencyKey", "listName", "sourceScript"]);
    }
}
