//! The site event log: what happened to messages here, for whoever stands at the machine.

use super::{Buffer, message::MessageId, rows, sql};
use crate::{
    Error, Result,
    sqlite::{rows as columns, writer::WriteSession},
};
use domain::{Actor, Timestamp, site::Category, submission::limit};
use rusqlite::{Connection, Params, params};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// A message waits in the buffer.
    Queued,
    Delivered,
    /// A try failed and another one follows.
    Retried,
    Parked,
    /// Somebody sent a parked message round again.
    Retry,
    /// Somebody gave a parked message up.
    Discard,
    /// The file, or a part of it, could not be read.
    Damaged,
    /// Messages were brought back from a file that had been set aside.
    Recovered,
    /// Somebody has seen what was damaged.
    Acknowledged,
    /// What central acknowledged gave way to new messages before its time.
    Forgot,
    /// This machine of a pair became the active one.
    TookOver,
}

impl What {
    const ALL: [Self; 11] = [
        Self::Queued,
        Self::Delivered,
        Self::Retried,
        Self::Parked,
        Self::Retry,
        Self::Discard,
        Self::Damaged,
        Self::Recovered,
        Self::Acknowledged,
        Self::Forgot,
        Self::TookOver,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "Queued",
            Self::Delivered => "Delivered",
            Self::Retried => "Retried",
            Self::Parked => "Parked",
            Self::Retry => "Retry",
            Self::Discard => "Discard",
            Self::Damaged => "Damaged",
            Self::Recovered => "Recovered",
            Self::Acknowledged => "Acknowledged",
            Self::Forgot => "Forgot",
            Self::TookOver => "TookOver",
        }
    }
}

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteEvent {
    pub seq: i64,
    pub at: Timestamp,
    pub what: What,
    /// None where it is about a batch.
    pub message: Option<MessageId>,
    /// None where it is about the file.
    pub category: Option<Category>,
    pub target: String,
    /// How many messages it is about.
    pub n: u64,
    /// Who did it, where it was a person.
    pub actor: Option<String>,
    pub detail: Option<String>,
}

/// A page of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventsPage {
    pub events: Vec<SiteEvent>,
    /// Before which place there may be more, whether or not the lines up to there could be read.
    pub next: Option<i64>,
}

impl Buffer {
    /// This machine became the active one: why, and who said so where somebody did.
    pub async fn took_over(&self, why: &str, actor: Option<&Actor>) -> Result<()> {
        let (why, actor) = (why.to_owned(), actor.cloned());
        self.write(1, move |s, _| {
            let about = About {
                actor: actor.as_ref().map(Actor::as_str),
                ..About::many(1).because(&why)
            };
            of_file(s.conn, s.now, What::TookOver, about)
        })
        .await
    }

    /// The log, newest first, from before this place on.
    pub async fn events(&self, before: Option<i64>, limit: u32) -> Result<Vec<SiteEvent>> {
        Ok(self.events_page(before, limit).await?.events)
    }

    /// The same, and where the next page begins.
    pub async fn events_page(&self, before: Option<i64>, limit: u32) -> Result<EventsPage> {
        self.read(move |conn| {
            let asked = params![before.unwrap_or(i64::MAX), limit];
            let (events, read) = found(conn, sql::events_page, asked)?;
            let next = read.last().filter(|_| read.len() == limit as usize).copied();
            Ok(EventsPage { events, next })
        })
        .await
    }
}

impl Buffer {
    /// What happened to one message, newest first. A notification's handing over, which the log itself tells of by the
    /// batch, is among it.
    pub async fn events_of(&self, id: MessageId, limit: u32) -> Result<Vec<SiteEvent>> {
        self.read(move |conn| {
            let (mut events, _) = found(conn, sql::events_of_message, params![id.to_string(), limit])?;
            let mut times = conn.prepare_cached(sql::notification_times)?;
            let mut rows = times.query([id.to_string()])?;
            while let Some(row) = rows.next()? {
                let accepted_at: i64 = row.get("created_at")?;
                let accepted = params![id.to_string(), accepted_at];
                events.extend(found(conn, sql::accepted_event, accepted)?.0);
                // A text that is damaged hides nothing of what happened.
                let target = rows::shown(row, "target")?.unwrap_or_default();
                for (column, what) in [("again_at", What::Queued), ("handed_at", What::Delivered)] {
                    let at = columns::optional_time(row, column)?;
                    events.extend(at.map(|at| of_notification(id, what, at, &target)));
                }
            }
            events.sort_by_key(|event| (std::cmp::Reverse(event.at), std::cmp::Reverse(event.seq)));
            events.truncate(limit as usize);
            Ok(events)
        })
        .await
    }
}

/// The lines that can be read, and the places of all.
fn found(conn: &Connection, sql: &str, params: impl Params) -> Result<(Vec<SiteEvent>, Vec<i64>)> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let (mut events, mut places) = (vec![], vec![]);
    while let Some(row) = rows.next()? {
        places.push(row.get("seq")?);
        // A line that cannot be read hides no other.
        events.extend(from_row(row).ok());
    }
    Ok((events, places))
}

/// What the log tells of by the batch, for one of it.
fn of_notification(id: MessageId, what: What, at: Timestamp, target: &str) -> SiteEvent {
    let detail = match what {
        What::Delivered => "central has it",
        _ => "sent again: central may have lost it",
    };
    SiteEvent {
        // Behind whatever else happened at that time.
        seq: i64::MAX,
        at,
        what,
        message: Some(id),
        category: Some(Category::Notification),
        target: target.to_owned(),
        n: 1,
        actor: None,
        detail: Some(detail.to_owned()),
    }
}

fn from_row(row: &rusqlite::Row<'_>) -> Result<SiteEvent> {
    let what: String = row.get("what")?;
    let message: Option<String> = row.get("message_id")?;
    Ok(SiteEvent {
        seq: row.get("seq")?,
        at: columns::time(row, "at")?,
        what: What::ALL
            .into_iter()
            .find(|w| w.as_str() == what)
            .ok_or_else(|| Error::corrupt("site_events", format!("unknown event {what:?}")))?,
        message: message.map(|id| columns::parse("site_events", &id)).transpose()?,
        category: rows::optional_category(row)?,
        target: row.get("target")?,
        n: columns::count(row, "n")?,
        actor: row.get("actor")?,
        detail: row.get("detail")?,
    })
}

/// Which messages an event is about, and what else is to be said.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct About<'a> {
    pub message: Option<MessageId>,
    pub n: usize,
    pub actor: Option<&'a str>,
    pub detail: Option<&'a str>,
}

impl<'a> About<'a> {
    pub(super) fn one(message: MessageId) -> Self {
        Self {
            message: Some(message),
            n: 1,
            ..Self::default()
        }
    }

    pub(super) fn many(n: usize) -> Self {
        Self { n, ..Self::default() }
    }

    pub(super) fn because(self, detail: &'a str) -> Self {
        Self {
            detail: Some(detail),
            ..self
        }
    }
}

pub(super) fn write(
    s: &WriteSession<'_>,
    what: What,
    category: Category,
    target: &str,
    about: About<'_>,
) -> Result<()> {
    insert(s.conn, s.now, what, Some(category), target, about)
}

/// Of the file itself.
pub(super) fn of_file(conn: &Connection, now: Timestamp, what: What, about: About<'_>) -> Result<()> {
    insert(conn, now, what, None, "buffer", about)
}

fn insert(
    conn: &Connection,
    now: Timestamp,
    what: What,
    category: Option<Category>,
    target: &str,
    about: About<'_>,
) -> Result<()> {
    conn.prepare_cached(sql::event_insert)?.execute(params![
        now.as_millis(),
        what.as_str(),
        about.message.map(|id| id.to_string()),
        category.map(rows::category_number),
        target,
        about.n as i64,
        about.actor,
        about.detail.map(|d| cut(d, limit::ERROR)),
    ])?;
    Ok(())
}

/// The start of a text that fits, cut between characters.
pub(super) fn cut(text: &str, longest: usize) -> &str {
    let mut end = text.len().min(longest);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
