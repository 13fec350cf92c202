//! Items turned on their side: `unnest` takes one array per column.

use super::sql;
use crate::{
    extra::Extra,
    outbox::{NewNotification, nul_in_json},
    postgres::types::At,
};
use domain::{ExecutionId, ProviderId, Target, Timestamp};
use tokio_postgres::types::ToSql;
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

pub(in crate::postgres) struct Columns<'a> {
    items: &'a [&'a Item],
    tenant: Vec<i32>,
    id: Vec<Uuid>,
    content_hash: Vec<i64>,
    lane: Vec<i64>,
    text: Vec<Vec<Option<&'a str>>>,
    time: Vec<Vec<Option<At>>>,
}

/// The text columns, in the order in which [`Columns::params`] names them.
fn texts(item: &Item) -> [Option<&str>; 18] {
    let s = &item.new.submission;
    let (content, from) = (&s.content, &s.provenance);
    let list = match &content.target {
        Target::List(name) => Some(name.as_str()),
        Target::Recipients(_) | Target::Provider => None,
    };
    [
        s.idempotency_key.as_deref(),
        Some(content.channel().as_str()),
        content.provider.as_ref().map(ProviderId::as_str),
        list,
        item.recipients.as_deref(),
        Some(&content.subject),
        Some(&content.body),
        content.type_data.as_deref(),
        from.site.as_deref(),
        from.instance.as_deref(),
        from.script.as_deref(),
        from.execution.as_ref().map(ExecutionId::as_str),
        from.parent_execution.as_ref().map(ExecutionId::as_str),
        content.entity_type.as_deref(),
        content.entity_id.as_deref(),
        Some(s.submitted_by.as_str()),
        item.extra.as_deref(),
        content.supersedes_key.as_deref(),
    ]
}

/// Those of [`texts`] that most items leave empty.
const RARE: [usize; 10] = [7, 8, 9, 10, 11, 12, 13, 14, 16, 17];

fn times(item: &Item) -> [Option<Timestamp>; 3] {
    let s = &item.new.submission;
    [s.site_enqueued_at, s.content.send_at, s.content.expires_at]
}

impl<'a> Columns<'a> {
    pub fn of(items: &'a [&'a Item]) -> Columns<'a> {
        let mut text: Vec<Vec<_>> = (0..18).map(|_| Vec::with_capacity(items.len())).collect();
        let mut time: Vec<Vec<_>> = (0..3).map(|_| Vec::with_capacity(items.len())).collect();
        for item in items {
            for (column, value) in text.iter_mut().zip(texts(item)) {
                column.push(value);
            }
            for (column, value) in time.iter_mut().zip(times(item)) {
                column.push(value.map(At));
            }
        }
        Columns {
            items,
            tenant: items.iter().map(|i| i.new.submission.tenant.0).collect(),
            id: items.iter().map(|i| i.new.submission.id.0).collect(),
            content_hash: items.iter().map(|i| i.content_hash).collect(),
            lane: items.iter().map(|i| i.new.lane.0).collect(),
            text,
            time,
        }
    }

    /// The statement for these items, and its parameters.
    pub fn statement<'p>(
        &'p self,
        now: &'p Option<At>,
        node: &'p String,
    ) -> (&'static str, Vec<&'p (dyn ToSql + Sync)>) {
        match self.is_plain() {
            true => (sql::ingest_plain, self.plain_params(now, node)),
            false => (sql::ingest, self.params(now, node)),
        }
    }

    /// Whether the columns that most items leave empty are empty in all of them.
    fn is_plain(&self) -> bool {
        let empty = |column: &usize| self.text[*column].iter().all(Option::is_none);
        RARE.iter().all(empty) && self.time.iter().flatten().all(Option::is_none)
    }

    fn plain_params<'p>(&'p self, now: &'p Option<At>, node: &'p String) -> Vec<&'p (dyn ToSql + Sync)> {
        let t = &self.text;
        vec![
            now,
            node,
            &self.tenant,
            &self.id,
            &t[0],
            &self.content_hash,
            &t[1],
            &self.lane,
            &t[2],
            &t[3],
            &t[4],
            &t[5],
            &t[6],
            &t[15],
        ]
    }

    /// In the order of the file's `$1…`.
    fn params<'p>(&'p self, now: &'p Option<At>, node: &'p String) -> Vec<&'p (dyn ToSql + Sync)> {
        let t = &self.text;
        vec![
            now,
            node,
            &self.tenant,
            &self.id,
            &t[0],
            &self.content_hash,
            &t[1],
            &self.lane,
            &t[2],
            &t[3],
            &t[4],
            &t[5],
            &t[6],
            &t[7],
            &t[8],
            &t[9],
            &t[10],
            &t[11],
            &t[12],
            &t[13],
            &t[14],
            &t[15],
            &t[16],
            &self.time[0],
            &self.time[1],
            &self.time[2],
            &t[17],
        ]
    }

    pub fn superseding(&self) -> Vec<&'a Item> {
        let replaces = |i: &&&Item| i.new.submission.content.supersedes_key.is_some();
        self.items.iter().filter(replaces).copied().collect()
    }
}
