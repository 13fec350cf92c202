//! What became of each cached call and write: one row per operation, answered here whether or not central is there.

use super::{
    Buffer, Shared,
    event::cut,
    message::{Message, NewMessage},
    sql,
};
use crate::{
    Result,
    sqlite::{rows as columns, writer::WriteSession},
};
use domain::{
    Timestamp, TrackedOperationId,
    site::{Category, OperationStatus},
    submission::limit,
};
use rusqlite::params;

/// Where an operation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracking {
    pub id: TrackedOperationId,
    /// `ExternalSystem` or `CachedDbWrite`.
    pub kind: Category,
    /// The system or connection.
    pub target: String,
    /// What was asked of it in a few words, without secrets.
    pub summary: Option<String>,
    pub status: OperationStatus,
    pub retry_count: u32,
    /// Attempts begun in all, the immediate one and those that were cut short among them.
    pub attempts: u64,
    pub last_error: Option<String>,
    pub http_status: Option<u16>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// None while somebody may still act on it.
    pub terminal_at: Option<Timestamp>,
    pub instance: Option<String>,
    pub script: Option<String>,
    pub node: Option<String>,
    /// The person who acted on it last, if anybody did.
    pub actor: Option<String>,
}

impl Buffer {
    /// Where the operation stands; `None` when it was never tracked here, or is past its retention.
    pub async fn tracking(&self, id: TrackedOperationId) -> Result<Option<Tracking>> {
        self.read(move |conn| {
            let mut statement = conn.prepare_cached(sql::tracking_by_id)?;
            let mut found = statement.query([id.to_string()])?;
            found.next()?.map(|row| from_row(id, row)).transpose()
        })
        .await
    }
}

fn from_row(id: TrackedOperationId, row: &rusqlite::Row<'_>) -> Result<Tracking> {
    const TABLE: &str = "operation_tracking";
    Ok(Tracking {
        id,
        kind: columns::parse(TABLE, &row.get::<_, String>("kind")?)?,
        target: row.get("target")?,
        summary: row.get("target_summary")?,
        status: columns::parse(TABLE, &row.get::<_, String>("status")?)?,
        retry_count: row.get("retry_count")?,
        attempts: columns::count(row, "attempts")?,
        last_error: row.get("last_error")?,
        http_status: row.get("http_status")?,
        created_at: columns::time(row, "created_at")?,
        updated_at: columns::time(row, "updated_at")?,
        terminal_at: columns::optional_time(row, "terminal_at")?,
        instance: row.get("source_instance_id")?,
        script: row.get("source_script")?,
        node: row.get("source_node")?,
        actor: row.get("actor")?,
    })
}

pub(super) fn insert(s: &WriteSession<'_>, shared: &Shared, new: &NewMessage, op: i64) -> Result<()> {
    s.conn.prepare_cached(sql::tracking_insert)?.execute(params![
        new.id.to_string(),
        new.category.as_str(),
        new.summary,
        s.now.as_millis(),
        new.origin.instance,
        new.origin.script,
        shared.node,
        new.target,
        new.content_hash,
        op,
    ])?;
    Ok(())
}

/// What changes in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change<'a> {
    pub status: OperationStatus,
    pub error: Option<&'a str>,
    pub http_status: Option<u16>,
    pub actor: Option<&'a str>,
}

pub(super) fn update(s: &WriteSession<'_>, message: &Message, change: Change<'_>, op: i64) -> Result<()> {
    let ended = matches!(
        change.status,
        OperationStatus::Delivered | OperationStatus::Failed | OperationStatus::Discarded
    );
    s.conn.prepare_cached(sql::tracking_update)?.execute(params![
        message.id.to_string(),
        change.status.as_str(),
        message.retry_count,
        change.error.map(|e| cut(e, limit::ERROR)),
        change.http_status,
        s.now.as_millis(),
        ended.then(|| s.now.as_millis()),
        op,
        message.attempt,
        change.actor,
    ])?;
    Ok(())
}
