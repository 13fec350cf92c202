//! The columns of `notifications`, written and read. Items are turned on their side: `unnest` takes one array per column.

use super::sql;
use crate::{
    Result,
    extra::Extra,
    outbox::{NewNotification, nul_in_json},
    postgres::{rows, types::At},
};
use domain::{
    Actor, Content, ExecutionId, NotificationId, ProviderId, Submission, Target, TenantId,
    submission::Provenance,
};
use tokio_postgres::{Row, types::ToSql};
use uuid::Uuid;

/// An item with what can be worked out before it queues, on its caller's time.
pub(in crate::postgres) struct Item {
    new: NewNotification,
    pub content_hash: i64,
    recipients: Option<String>,
    extra: Option<String>,
}

impl Item {
    pub fn new(new: NewNotification) -> Item {
        let submission = &new.submission;
        // Text fields only: always representable as JSON.
        let recipients = match &submission.content.target {
            Target::Recipients(to) => Some(serde_json::to_string(to).unwrap_or_default()),
            Target::List(_) | Target::Provider => None,
        };
        // JSON hides a NUL; shown, it is refused as it is in every other text.
        let recipients = match nul_in_json(submission) {
            Some(_) => Some("\0".to_owned()),
            None => recipients,
        };
        Item {
            content_hash: submission.content.content_hash(),
            recipients,
            extra: Extra::text_of(submission),
            new,
        }
    }

    pub fn key(&self) -> (i32, Uuid) {
        (self.new.submission.tenant.0, self.new.submission.id.0)
    }

    pub fn lane(&self) -> i64 {
        self.new.lane.0
    }

    pub fn supersede_key(&self) -> &str {
        self.new
            .submission
            .content
            .supersedes_key
            .as_deref()
            .unwrap_or_default()
    }

    /// About what it weighs on the wire.
    pub fn bytes(&self) -> usize {
        let s = &self.new.submission.content;
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        500 + s.subject.len()
            + s.body.len()
            + optional(&s.type_data)
            + optional(&self.recipients)
            + optional(&self.extra)
    }
}

type Text<'a> = Option<&'a str>;
type Params<'p> = Vec<&'p (dyn ToSql + Sync)>;

fn column<'a, T>(items: &[&'a Item], value: impl Fn(&'a Item) -> T) -> Vec<T> {
    items.iter().map(|item| value(item)).collect()
}

/// The columns that every item has.
struct Common<'a> {
    tenant: Vec<i32>,
    id: Vec<Uuid>,
    idempotency_key: Vec<Text<'a>>,
    content_hash: Vec<i64>,
    channel: Vec<&'static str>,
    lane: Vec<i64>,
    provider: Vec<Text<'a>>,
    list_name: Vec<Text<'a>>,
    recipients: Vec<Text<'a>>,
    subject: Vec<&'a str>,
    body: Vec<&'a str>,
    submitted_by: Vec<&'a str>,
}

impl<'a> Common<'a> {
    fn of(items: &[&'a Item]) -> Self {
        fn list(item: &Item) -> Text<'_> {
            match &item.new.submission.content.target {
                Target::List(name) => Some(name),
                Target::Recipients(_) | Target::Provider => None,
            }
        }
        Self {
            tenant: column(items, |i| i.new.submission.tenant.0),
            id: column(items, |i| i.new.submission.id.0),
            idempotency_key: column(items, |i| i.new.submission.idempotency_key.as_deref()),
            content_hash: column(items, |i| i.content_hash),
            channel: column(items, |i| i.new.submission.content.channel().as_str()),
            lane: column(items, |i| i.new.lane.0),
            provider: column(items, |i| {
                i.new.submission.content.provider.as_ref().map(ProviderId::as_str)
            }),
            list_name: column(items, list),
            recipients: column(items, |i| i.recipients.as_deref()),
            subject: column(items, |i| i.new.submission.content.subject.as_str()),
            body: column(items, |i| i.new.submission.content.body.as_str()),
            submitted_by: column(items, |i| i.new.submission.submitted_by.as_str()),
        }
    }

    /// In the order of the files' `$3…`.
    fn params(&self) -> [&(dyn ToSql + Sync); 12] {
        [
            &self.tenant,
            &self.id,
            &self.idempotency_key,
            &self.content_hash,
            &self.channel,
            &self.lane,
            &self.provider,
            &self.list_name,
            &self.recipients,
            &self.subject,
            &self.body,
            &self.submitted_by,
        ]
    }
}

/// The columns that most items leave empty. They cost as much as the others, so a batch without any goes without them.
struct Rare<'a> {
    type_data: Vec<Text<'a>>,
    site: Vec<Text<'a>>,
    instance: Vec<Text<'a>>,
    script: Vec<Text<'a>>,
    execution: Vec<Text<'a>>,
    parent_execution: Vec<Text<'a>>,
    entity_type: Vec<Text<'a>>,
    entity_id: Vec<Text<'a>>,
    extra: Vec<Text<'a>>,
    supersede_key: Vec<Text<'a>>,
    site_enqueued_at: Vec<Option<At>>,
    send_at: Vec<Option<At>>,
    expires_at: Vec<Option<At>>,
}

impl<'a> Rare<'a> {
    fn of(items: &[&'a Item]) -> Self {
        let from = |i: &'a Item| &i.new.submission.provenance;
        Self {
            type_data: column(items, |i| i.new.submission.content.type_data.as_deref()),
            site: column(items, |i| from(i).site.as_deref()),
            instance: column(items, |i| from(i).instance.as_deref()),
            script: column(items, |i| from(i).script.as_deref()),
            execution: column(items, |i| from(i).execution.as_ref().map(ExecutionId::as_str)),
            parent_execution: column(items, |i| {
                from(i).parent_execution.as_ref().map(ExecutionId::as_str)
            }),
            entity_type: column(items, |i| i.new.submission.content.entity_type.as_deref()),
            entity_id: column(items, |i| i.new.submission.content.entity_id.as_deref()),
            extra: column(items, |i| i.extra.as_deref()),
            supersede_key: column(items, |i| i.new.submission.content.supersedes_key.as_deref()),
            site_enqueued_at: column(items, |i| i.new.submission.site_enqueued_at.map(At)),
            send_at: column(items, |i| i.new.submission.content.send_at.map(At)),
            expires_at: column(items, |i| i.new.submission.content.expires_at.map(At)),
        }
    }

    fn texts(&self) -> [&Vec<Text<'a>>; 10] {
        [
            &self.type_data,
            &self.site,
            &self.instance,
            &self.script,
            &self.execution,
            &self.parent_execution,
            &self.entity_type,
            &self.entity_id,
            &self.extra,
            &self.supersede_key,
        ]
    }

    fn times(&self) -> [&Vec<Option<At>>; 3] {
        [&self.site_enqueued_at, &self.send_at, &self.expires_at]
    }

    fn is_empty(&self) -> bool {
        let no_texts = self.texts().into_iter().flatten().all(Option::is_none);
        no_texts && self.times().into_iter().flatten().all(Option::is_none)
    }

    /// In the order of the file's `$15…`.
    fn params(&self) -> impl Iterator<Item = &(dyn ToSql + Sync)> {
        let texts = self.texts().into_iter().map(|column| column as _);
        texts.chain(self.times().into_iter().map(|column| column as _))
    }
}

pub(in crate::postgres) struct Columns<'a> {
    items: &'a [&'a Item],
    common: Common<'a>,
    /// None where all of them are empty.
    rare: Option<Rare<'a>>,
}

impl<'a> Columns<'a> {
    pub fn of(items: &'a [&'a Item]) -> Columns<'a> {
        Columns {
            items,
            common: Common::of(items),
            rare: Some(Rare::of(items)).filter(|rare| !rare.is_empty()),
        }
    }

    /// The statement for these items, and its parameters.
    pub fn statement<'p>(&'p self, now: &'p Option<At>, node: &'p String) -> (&'static str, Params<'p>) {
        let mut params: Params<'p> = vec![now, node];
        params.extend(self.common.params());
        match &self.rare {
            None => (sql::ingest_plain, params),
            Some(rare) => {
                params.extend(rare.params());
                (sql::ingest, params)
            }
        }
    }

    pub fn superseding(&self) -> Vec<&'a Item> {
        let replaces = |i: &&&Item| i.new.submission.content.supersedes_key.is_some();
        self.items.iter().filter(replaces).copied().collect()
    }
}

/// The same columns, read.
pub(in crate::postgres) fn read(row: &Row) -> Result<Submission> {
    let execution = |column: &str| row.get::<_, Option<&str>>(column).map(ExecutionId::new);
    let mut extra = rows::extra(row)?;
    let mut content = Content {
        channel: Some(rows::channel(row)?),
        provider: row.get::<_, Option<&str>>("provider").map(ProviderId::new),
        target: rows::target(row)?,
        subject: row.get("subject"),
        body: row.get("body"),
        type_data: row.get("type_data"),
        entity_type: row.get("entity_type"),
        entity_id: row.get("entity_id"),
        supersedes_key: row.get("supersede_key"),
        send_at: rows::time_opt(row, "send_at"),
        expires_at: rows::time_opt(row, "expires_at"),
        ..Content::default()
    };
    extra.fill(&mut content);
    Ok(Submission {
        tenant: TenantId(row.get("tenant")),
        id: NotificationId(row.get("id")),
        idempotency_key: row.get("idempotency_key"),
        content,
        provenance: Provenance {
            site: row.get("site"),
            instance: row.get("instance"),
            script: row.get("script"),
            execution: execution("execution"),
            parent_execution: execution("parent_execution"),
        },
        submitted_by: Actor::new(row.get::<_, &str>("submitted_by")),
        site_enqueued_at: rows::time_opt(row, "site_enqueued_at"),
        resend_of: extra.resend_of,
        trace: extra.trace,
    })
}
