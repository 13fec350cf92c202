//! Taking in: one row, its tracking and its event in one commit, or nothing.

use super::{
    Buffer, Shared,
    event::{self, What},
    forget,
    message::{Enqueued, Known, Message, MessageId, MessageStatus, NewMessage, Start, Ticket, Tombstone},
    room, rows, sql, telemetry, tracking,
};
use crate::{
    Result,
    sqlite::{bind::execute, error, rows as columns, writer::WriteSession},
};
use domain::site::{Category, OperationEvent, OperationStatus};
use rusqlite::Connection;
use std::sync::Arc;

impl Buffer {
    /// Takes a message in. When this says `New`, it survives power loss. A repeat of the same id changes nothing;
    /// a call or write is known by its id for as long as its tracking is kept.
    pub async fn enqueue(&self, message: NewMessage, start: Start) -> Result<Enqueued> {
        let message = Arc::new(message);
        let mut done = self.try_enqueue(&message, start).await;
        // What central has gives way before anything new is refused.
        while done.as_ref().is_err_and(error::is_full) && self.make_room(message.payload.len()).await {
            done = self.try_enqueue(&message, start).await;
        }
        self.shared
            .room
            .refused(&done, room::needed(message.payload.len()));
        match done {
            Err(error) if error::is_full(&error) => Ok(Enqueued::NoRoom(room::words(&error))),
            done => done,
        }
    }

    async fn try_enqueue(&self, message: &Arc<NewMessage>, start: Start) -> Result<Enqueued> {
        let message = message.clone();
        self.try_write(1, move |s, shared| enqueue(s, shared, &message, start))
            .await
    }

    /// What is known of this message by its id; nothing is taken in. Also of a standby's copy.
    pub async fn knows(&self, message: NewMessage) -> Result<Option<Known>> {
        self.read(move |conn| known(conn, &message)).await
    }

    /// A message of the buffer.
    pub async fn message(&self, id: MessageId) -> Result<Option<Message>> {
        self.read(move |conn| by_id(conn, id)).await
    }

    /// What is known of a notification that has left the buffer.
    pub async fn tombstone(&self, id: MessageId) -> Result<Option<Tombstone>> {
        self.read(move |conn| {
            let mut statement = conn.prepare_cached(sql::tombstone_by_id)?;
            let mut found = statement.query([id.to_string()])?;
            found.next()?.map(rows::tombstone).transpose()
        })
        .await
    }

    /// When the oldest message that waits was accepted.
    pub async fn oldest_waiting(&self) -> Result<Option<domain::Timestamp>> {
        self.read(|conn| {
            let oldest: Option<i64> = conn
                .prepare_cached(sql::oldest_waiting)?
                .query_row([], |row| row.get(0))?;
            Ok(oldest.map(domain::Timestamp::from_millis))
        })
        .await
    }
}

fn enqueue(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    new: &NewMessage,
    start: Start,
) -> Result<Enqueued> {
    if let Some(known) = known(s.conn, new)? {
        return Ok(Enqueued::Known(known));
    }
    // The gauge moves after the commit; what this transaction has taken in before counts as well.
    let used = shared.gauge.messages() + s.room.taken;
    let needed = room::needed(new.payload.len());
    if let Some(why) = shared.room.refuses(used, needed) {
        return Ok(Enqueued::NoRoom(why));
    }
    let all = (shared.gauge.all() + s.room.taken + needed).saturating_sub(s.room.freed);
    let over = shared.room.over(all);
    if over > 0 {
        s.room.freed += forget::give_way(s, shared, over)?;
    }
    s.room.taken += needed;
    let now = s.now.as_millis();
    let (attempting, queued, attempt) = match start {
        Start::Queued => (None, Some(now), 0),
        Start::Attempted => (Some(now), None, 1),
    };
    let op = shared.op();
    execute!(&mut s.conn.prepare_cached(sql::enqueue)?;
        new.id.to_string(),
        rows::category_number(new.category),
        &new.target,
        &new.payload,
        new.max_retries,
        rows::interval_ms(new.retry_interval),
        now,
        attempting,
        &new.origin.instance,
        &new.origin.execution,
        &new.origin.script,
        &new.origin.parent_execution,
        &new.summary,
        new.content_hash,
        queued,
        attempt,
        op,
    )?;
    let seq = s.conn.last_insert_rowid();
    let tracked = !new.category.is_forwarded();
    if tracked {
        tracking::insert(s, shared, new, op)?;
    }
    if start == Start::Queued {
        event::write(
            s,
            What::Queued,
            new.category,
            &new.target,
            event::About::one(new.id),
        )?;
    }
    if tracked && start == Start::Queued {
        let message =
            by_id(s.conn, new.id)?.ok_or_else(|| crate::Error::corrupt("sf_messages", "a row vanished"))?;
        let news = telemetry::News::of(&message, OperationEvent::Queued, OperationStatus::Submitted);
        telemetry::write(s, shared, op, news)?;
    }
    let (shared, category, bytes) = (shared.clone(), new.category, new.payload.len() as i64);
    s.after_commit(move || {
        shared.gauge.add(category, MessageStatus::Pending, 1, bytes);
        match (start, category) {
            (Start::Attempted, _) => {}
            (Start::Queued, Category::Notification) => shared.wake.ring_forward(),
            (Start::Queued, _) => shared.wake.ring_due(),
        }
    });
    Ok(Enqueued::New(Ticket { seq, attempt }))
}

/// What is known of this id already, whatever it was used for.
fn known(conn: &Connection, new: &NewMessage) -> Result<Option<Known>> {
    let found = of_id(conn, new.id)?;
    let is_notification = new.category == Category::Notification;
    let same = |hash: i64| hash == new.content_hash;
    Ok(match found {
        OfId {
            buffered: Some((hash, parked)),
            tracked,
            ..
        } => Some(Known {
            same_content: same(hash),
            status: match is_notification {
                true => parked,
                false => tracked.map(|(_, status)| status),
            },
            buffered: true,
        }),
        OfId {
            tracked: Some((hash, status)),
            ..
        } => Some(Known {
            same_content: same(hash) && !is_notification,
            status: Some(status),
            buffered: false,
        }),
        OfId {
            left: Some((hash, status, kept)),
            ..
        } => {
            let same_content = same(hash) && is_notification;
            // One whose content is no longer kept is taken in again, because nobody else could send it again should
            // central have lost it; central recognises it if not.
            let again = same_content && status == OperationStatus::Delivered && !kept;
            (!again).then_some(Known {
                same_content,
                status: Some(status),
                buffered: false,
            })
        }
        OfId { .. } => None,
    })
}

/// The content of what has an id, and where that stands.
#[derive(Default)]
struct OfId {
    /// In the buffer; where it stands, if it is parked.
    buffered: Option<(i64, Option<OperationStatus>)>,
    /// A call or a write that is tracked.
    tracked: Option<(i64, OperationStatus)>,
    /// A notification that has left; whether its content is still there.
    left: Option<(i64, OperationStatus, bool)>,
}

fn of_id(conn: &Connection, id: MessageId) -> Result<OfId> {
    let mut statement = conn.prepare_cached(sql::known_by_id)?;
    let mut rows = statement.query([id.to_string()])?;
    let mut found = OfId::default();
    while let Some(row) = rows.next()? {
        let hash = row.get(1)?;
        let status = |table| columns::parse(table, row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?);
        match row.get::<_, i64>(0)? {
            0 => {
                let is_parked = row.get_ref(2)?.as_str_or_null().is_ok_and(|text| text.is_some());
                found.buffered = Some((hash, is_parked.then_some(OperationStatus::Parked)));
            }
            1 => found.tracked = Some((hash, status("operation_tracking")?)),
            _ => found.left = Some((hash, status("tombstones")?, row.get(3)?)),
        }
    }
    Ok(found)
}

pub(super) fn by_id(conn: &Connection, id: MessageId) -> Result<Option<Message>> {
    let mut statement = conn.prepare_cached(sql::message_by_id)?;
    let mut found = statement.query([id.to_string()])?;
    found.next()?.map(rows::message).transpose()
}
