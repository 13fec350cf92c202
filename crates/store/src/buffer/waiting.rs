//! What a person can do with messages that wait: see them, have one tried now, give one up. And what is done for all of
//! them when the clock was set back.

use super::{
    Buffer,
    attempt::one,
    damage::NoMessages,
    enqueue::by_id,
    event::What,
    message::{Acted, Message, MessageId, MessageStatus},
    operator::{discard, tell},
    rows, sql,
};
use crate::Result;
use domain::{Actor, retry::RETRY_AFTER_CEILING, site::Category};
use rusqlite::params;

/// What came of asking for an attempt.
#[derive(Debug, Clone, PartialEq)]
pub enum Begun {
    /// It has begun; what comes of it has to be given to [`Buffer::record`].
    Attempt(Box<Message>),
    /// A notification: due now, and the forwarder knows.
    Due,
    NotFound,
    Parked,
    /// An attempt is being made as it is.
    UnderWay,
}

impl Buffer {
    /// Messages that wait behind this place, in the order of acceptance, without their payloads.
    pub async fn waiting(&self, category: Option<Category>, after: i64, limit: u32) -> Result<Vec<Message>> {
        loop {
            let (messages, no_messages) = self.look_at_waiting(category, after, limit).await?;
            // With those out of the way the page is full, if there is enough to fill it.
            if no_messages.is_empty() || !self.clear_away(no_messages).await {
                return Ok(messages);
            }
        }
    }

    /// A page of what waits, and rows of it that are no messages any more.
    async fn look_at_waiting(
        &self,
        category: Option<Category>,
        after: i64,
        limit: u32,
    ) -> Result<(Vec<Message>, NoMessages)> {
        self.read(move |conn| {
            let category = category.map(rows::category_number);
            let mut statement = conn.prepare_cached(sql::waiting_page)?;
            let mut found = statement.query(params![after, category, limit])?;
            let (mut messages, mut no_messages) = (vec![], vec![]);
            while let Some(row) = found.next()? {
                match rows::message(row) {
                    Ok(message) => messages.push(message),
                    Err(why) => no_messages.push((row.get("seq")?, why.to_string())),
                }
            }
            Ok((messages, no_messages))
        })
        .await
    }

    /// Begins an attempt on a waiting message now, whatever its due time says.
    pub async fn begin_try(&self, id: MessageId, actor: &Actor) -> Result<Begun> {
        let actor = actor.clone();
        self.write(1, move |s, shared| {
            let op = shared.op();
            let named = params![id.to_string(), s.now.as_millis(), op];
            if let Some(message) = one(s, sql::begin_try, named)? {
                tell(s, shared, &message, What::Retry, &actor, op)?;
                return Ok(Begun::Attempt(Box::new(message)));
            }
            if let Some(message) = one(s, sql::due_now, named)? {
                tell(s, shared, &message, What::Retry, &actor, op)?;
                let shared = shared.clone();
                s.after_commit(move || shared.wake.ring_rewind());
                return Ok(Begun::Due);
            }
            Ok(match by_id(s.conn, id)? {
                None => Begun::NotFound,
                Some(message) if message.status == MessageStatus::Parked => Begun::Parked,
                Some(_) => Begun::UnderWay,
            })
        })
        .await
    }

    /// Gives up a message that waits. What it was and who did it stay in tracking and in the event log. A notification
    /// that is on its way at this moment may still arrive.
    pub async fn discard_waiting(&self, id: MessageId, actor: &Actor) -> Result<Acted> {
        let actor = actor.clone();
        self.write(1, move |s, shared| {
            discard(s, shared, id, MessageStatus::Pending, &actor)
        })
        .await
    }

    /// Makes messages that are due later than their interval allows due after their interval; how many those were.
    pub async fn pull_due_in(&self) -> Result<u64> {
        self.write(1, |s, shared| {
            let asked = rows::interval_ms(RETRY_AFTER_CEILING);
            let pulled = s
                .conn
                .prepare_cached(sql::pull_due_in)?
                .execute([s.now.as_millis(), asked])?;
            let shared = shared.clone();
            s.after_commit(move || shared.wake.ring_due());
            Ok(pulled as u64)
        })
        .await
    }
}
