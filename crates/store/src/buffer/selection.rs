//! Many messages at once: which ones a person means, how many they are, and acting on some of them in one commit.
//!
//! Always true: what changed after the count is left alone where the filter names it, whatever the clocks say.

use super::{
    Buffer,
    damage::{self, NoMessages},
    enqueue::by_id,
    message::{
        Acted, Message, MessageId,
        MessageStatus::{Parked, Pending},
    },
    operator::{discard, requeue},
    rows, sql,
};
use crate::{Error, Result, sqlite::rows as columns};
use domain::{
    Actor, Timestamp,
    site::{ParkedAction, ParkedFilter},
};
use rusqlite::{Connection, params};
use std::sync::atomic::Ordering;

/// Messages behind a place that match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    pub filter: ParkedFilter,
    pub after: i64,
    pub limit: u32,
}

impl Selection {
    /// Everything that matches, as it is now.
    pub fn of(filter: ParkedFilter) -> Self {
        Self {
            filter,
            after: 0,
            limit: u32::MAX,
        }
    }
}

/// What came of acting on a selection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ActedOnMany {
    pub done: u64,
    /// Behind which place there is more; none: that was all.
    pub next: Option<i64>,
}

impl Buffer {
    /// A page of what matches, oldest first.
    pub async fn selected(&self, selection: Selection) -> Result<Vec<Message>> {
        let (messages, no_messages) = self
            .read(move |conn| {
                let mut messages = vec![];
                let (found, mut no_messages) = select(conn, &selection)?;
                for (seq, id) in found {
                    match by_id(conn, id) {
                        Ok(message) => messages.extend(message),
                        Err(why) => no_messages.push((seq, why.to_string())),
                    }
                }
                Ok((messages, no_messages))
            })
            .await?;
        if !no_messages.is_empty() {
            self.clear_away(no_messages).await;
        }
        Ok(messages)
    }

    /// How many match, and the last change up to which that is so.
    pub async fn count_selected(&self, filter: ParkedFilter) -> Result<(u64, i64)> {
        let until = match filter.until {
            Some(until) => until,
            // Asked of the writer, so that every change up to this number is committed before the rows are counted.
            None => {
                self.write(1, |_, shared| Ok(shared.ops.load(Ordering::SeqCst)))
                    .await?
            }
        };
        self.read(move |conn| {
            let f = &filter;
            let mut count = conn.prepare_cached(sql::selected_count)?;
            let params = params![
                status(f),
                0,
                until,
                f.category.map(rows::category_number),
                f.target,
                f.error_code,
                f.instance,
                f.from.map(Timestamp::as_millis),
                f.to.map(Timestamp::as_millis),
            ];
            Ok((count.query_row(params, |row| columns::count(row, 0))?, until))
        })
        .await
    }

    /// Sends the next few that match round again, or gives them up, in one commit. What waits for a target that is
    /// gone can only be given up.
    pub async fn act_on_selected(
        &self,
        selection: Selection,
        action: ParkedAction,
        actor: &Actor,
    ) -> Result<ActedOnMany> {
        let actor = actor.clone();
        self.write(selection.limit as usize, move |s, shared| {
            let limit = selection.limit.max(1) as usize;
            let one_more = Selection {
                limit: selection.limit.max(1).saturating_add(1),
                ..selection.clone()
            };
            let (found, mut no_messages) = select(s.conn, &one_more)?;
            let more = found.len() + no_messages.len() > limit;
            let last = match found.is_empty() {
                true => no_messages.iter().map(|(seq, _)| *seq).max(),
                false => found.iter().take(limit).map(|(seq, _)| *seq).max(),
            };
            let mut acted = ActedOnMany::default();
            for (seq, id) in found.iter().take(limit) {
                if let Err(why) = by_id(s.conn, *id) {
                    no_messages.push((*seq, why.to_string()));
                    continue;
                }
                let one = match (action, selection.filter.removed) {
                    (ParkedAction::Retry, _) => requeue(s, shared, *id, &actor)?,
                    (ParkedAction::Discard, false) => discard(s, shared, *id, Parked, &actor)?,
                    (ParkedAction::Discard, true) => discard(s, shared, *id, Pending, &actor)?,
                };
                acted.done += u64::from(one == Acted::Done);
            }
            acted.next = last.filter(|_| more);
            damage::set_rows_aside(s, shared, &no_messages)?;
            Ok(acted)
        })
        .await
    }
}

fn status(filter: &ParkedFilter) -> i64 {
    rows::status_number(if filter.removed { Pending } else { Parked })
}

type Places = Vec<(i64, MessageId)>;

/// What matches, and rows that are no messages any more.
fn select(conn: &Connection, selection: &Selection) -> Result<(Places, NoMessages)> {
    let f = &selection.filter;
    let mut statement = conn.prepare_cached(sql::selected)?;
    let mut found = statement.query(params![
        status(f),
        selection.after,
        f.until.unwrap_or(i64::MAX),
        f.category.map(rows::category_number),
        f.target,
        f.error_code,
        f.instance,
        f.from.map(Timestamp::as_millis),
        f.to.map(Timestamp::as_millis),
        selection.limit,
    ])?;
    let (mut selected, mut no_messages) = (vec![], vec![]);
    while let Some(row) = found.next()? {
        let seq = row.get(0)?;
        let id = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from);
        match id
            .map_err(Into::into)
            .and_then(|id| columns::parse("sf_messages", id))
        {
            Ok(id) => selected.push((seq, id)),
            Err(why) => no_messages.push((seq, Error::to_string(&why))),
        }
    }
    Ok((selected, no_messages))
}
