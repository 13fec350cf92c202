//! The columns of `notifications`, written and read: what a sender said, and who said it.

use super::{bind::execute, rows, writer::WriteSession};
use crate::{Result, extra::Extra};
use domain::{Actor, Content, ExecutionId, ProviderId, Submission, Target, TenantId, submission::Provenance};
use rusqlite::{CachedStatement, Row};

/// Columns that have to be worked out; before the writer's turn, since everybody waits for that.
pub(super) struct Made {
    pub hash: i64,
    recipients: Option<String>,
    extra: Option<String>,
}

impl Made {
    pub fn of(submission: &Submission) -> Self {
        Self {
            hash: submission.content.content_hash(),
            recipients: match &submission.content.target {
                Target::Recipients(to) => Some(rows::json(to)),
                Target::List(_) | Target::Provider => None,
            },
            extra: Extra::text_of(submission),
        }
    }
}

/// In the order of `ingest_notification.sql`.
pub(super) fn insert(
    s: &WriteSession<'_>,
    insert: &mut CachedStatement<'_>,
    submission: &Submission,
    made: &Made,
) -> rusqlite::Result<usize> {
    let content = &submission.content;
    let list = match &content.target {
        Target::List(name) => Some(name.as_str()),
        Target::Recipients(_) | Target::Provider => None,
    };
    let from = &submission.provenance;
    execute!(insert;
        submission.tenant.0,
        submission.id.0.as_bytes(),
        &submission.idempotency_key,
        made.hash,
        content.channel().as_str(),
        content.provider.as_ref().map(|p| p.as_str()),
        list,
        &made.recipients,
        &content.subject,
        &content.body,
        &content.type_data,
        &from.site,
        &from.instance,
        &from.script,
        from.execution.as_ref().map(|e| e.as_str()),
        from.parent_execution.as_ref().map(|e| e.as_str()),
        &content.entity_type,
        &content.entity_id,
        submission.submitted_by.as_str(),
        &made.extra,
        submission.site_enqueued_at.map(|t| t.as_millis()),
        s.now.as_millis(),
        content.send_at.map(|t| t.as_millis()),
        content.expires_at.map(|t| t.as_millis()),
        &content.supersedes_key,
    )
}

pub(super) fn read(row: &Row<'_>) -> Result<Submission> {
    let text =
        |column: &str| -> rusqlite::Result<Option<&str>> { Ok(row.get_ref(column)?.as_str_or_null()?) };
    let execution = |column: &str| -> Result<Option<ExecutionId>> {
        Ok(row.get::<_, Option<String>>(column)?.map(ExecutionId::new))
    };
    let mut extra = rows::extra(text("extra")?)?;
    let mut content = Content {
        channel: Some(rows::parse("notifications", &row.get::<_, String>("channel")?)?),
        provider: row.get::<_, Option<String>>("provider")?.map(ProviderId::new),
        target: rows::target(text("list_name")?, text("recipients")?)?,
        subject: row.get("subject")?,
        body: row.get("body")?,
        type_data: row.get("type_data")?,
        entity_type: row.get("entity_type")?,
        entity_id: row.get("entity_id")?,
        supersedes_key: row.get("supersede_key")?,
        send_at: rows::optional_time(row, "send_at")?,
        expires_at: rows::optional_time(row, "expires_at")?,
        ..Content::default()
    };
    extra.fill(&mut content);
    Ok(Submission {
        tenant: TenantId(row.get("tenant")?),
        id: rows::id(row, "id")?,
        idempotency_key: row.get("idempotency_key")?,
        content,
        provenance: Provenance {
            site: row.get("site")?,
            instance: row.get("instance")?,
            script: row.get("script")?,
            execution: execution("execution")?,
            parent_execution: execution("parent_execution")?,
        },
        submitted_by: Actor::new(row.get::<_, String>("submitted_by")?),
        site_enqueued_at: rows::optional_time(row, "site_enqueued_at")?,
        resend_of: extra.resend_of,
        trace: extra.trace,
    })
}
