//! What a person can do with parked messages. Each statement names the state it expects; what it did not find, it
//! lost.

use super::{
    Buffer, Shared,
    attempt::{leaves, one},
    enqueue::by_id,
    event::{self, About, What},
    message::{Acted, Message, MessageId, MessageStatus},
    rows, sql,
    telemetry::{self, News},
    tracking::{self, Change},
};
use crate::{Result, sqlite::writer::WriteSession};
use domain::{
    Actor,
    site::{Category, OperationEvent, OperationStatus},
};
use rusqlite::params;
use std::sync::Arc;

impl Buffer {
    /// Sends a parked message round again: due at once, with a whole budget.
    pub async fn requeue(&self, id: MessageId, actor: &Actor) -> Result<Acted> {
        let actor = actor.clone();
        self.write(1, move |s, shared| requeue(s, shared, id, &actor))
            .await
    }

    /// Gives a parked message up. What it was and who did it stay in tracking and in the event log.
    pub async fn discard(&self, id: MessageId, actor: &Actor) -> Result<Acted> {
        let actor = actor.clone();
        self.write(1, move |s, shared| {
            discard(s, shared, id, MessageStatus::Parked, &actor)
        })
        .await
    }
}

pub(super) fn requeue(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    id: MessageId,
    actor: &Actor,
) -> Result<Acted> {
    let op = shared.op();
    let params = params![id.to_string(), s.now.as_millis(), op];
    let Some(message) = one(s, sql::requeue, params)? else {
        return lost(s, id, MessageStatus::Parked);
    };
    tell(s, shared, &message, What::Retry, actor, op)?;
    let (shared, category) = (shared.clone(), message.category);
    s.after_commit(move || {
        shared
            .gauge
            .moved(category, MessageStatus::Parked, MessageStatus::Pending);
        match category {
            Category::Notification => shared.wake.ring_rewind(),
            _ => shared.wake.ring_due(),
        }
    });
    Ok(Acted::Done)
}

/// `from`: where the message is expected to be.
pub(super) fn discard(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    id: MessageId,
    from: MessageStatus,
    actor: &Actor,
) -> Result<Acted> {
    let op = shared.op();
    let status = rows::status_number(from);
    let summary = by_id(s.conn, id)?.and_then(|message| message.described());
    let buried = params![
        id.to_string(),
        s.now.as_millis(),
        actor.as_str(),
        op,
        status,
        summary
    ];
    s.conn.prepare_cached(sql::bury_discarded)?.execute(buried)?;
    let Some(message) = one(s, sql::discard, params![id.to_string(), status])? else {
        return lost(s, id, from);
    };
    tell(s, shared, &message, What::Discard, actor, op)?;
    leaves(s, shared, &message, from);
    Ok(Acted::Done)
}

pub(super) fn tell(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    message: &Message,
    what: What,
    actor: &Actor,
    op: i64,
) -> Result<()> {
    let about = About {
        actor: Some(actor.as_str()),
        detail: message.last_error.as_deref(),
        ..About::one(message.id)
    };
    event::write(s, what, message.category, &message.target, about)?;
    let (event, status) = match what {
        What::Discard => (OperationEvent::Discard, OperationStatus::Discarded),
        _ => (OperationEvent::Retry, OperationStatus::Retrying),
    };
    if !message.category.is_forwarded() {
        let change = Change {
            status,
            error: message.last_error.as_deref(),
            http_status: None,
            actor: Some(actor.as_str()),
        };
        tracking::update(s, message, change, op)?;
    }
    let news = News {
        actor: Some(actor.as_str()),
        error: message.last_error.as_deref(),
        ..News::of(message, event, status)
    };
    telemetry::write(s, shared, op, news)?;
    Ok(())
}

/// What the message is instead.
fn lost(s: &WriteSession<'_>, id: MessageId, expected: MessageStatus) -> Result<Acted> {
    Ok(match by_id(s.conn, id)? {
        Some(message) if message.status == expected => Acted::UnderWay,
        Some(message) => Acted::WrongState(message.status),
        None => Acted::NotFound,
    })
}
