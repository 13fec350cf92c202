//! Bringing messages back from a file that was set aside: by itself at a start, and when a person says so.
//!
//! Always true: ids are kept, and what is known here by its id is left alone, so that nothing is sent twice.

use super::{
    Buffer, Shared, aside,
    damage::{self, Found},
    event::{self, About, What},
    message::{MessageId, MessageStatus},
    open,
    room::Room,
    rows,
    salvage::{Cell, Contents, Salvaged, Source},
    sql,
};
use crate::{
    Error, Result,
    sqlite::{connection, error, file_id::with_suffix, writer::WriteSession},
};
use domain::{Actor, Timestamp, site::Category};
use rusqlite::{Connection, params, params_from_iter};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::sync::mpsc;

/// Messages in one commit.
const CHUNK: usize = 500;

/// What came of reading a file that was set aside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Messages that wait, or are parked, again.
    pub taken: u64,
    /// Messages that this buffer knows already.
    pub known: u64,
    /// Messages that are there and cannot be read.
    pub lost: u64,
    /// Why not everything could be looked at, if that is so.
    pub trouble: Option<String>,
}

/// What became of one row.
pub(super) enum Took {
    New(Category, MessageStatus, i64),
    Known,
    NoMessage,
}

impl Recovered {
    pub(super) fn count(&mut self, took: &Took) {
        match took {
            Took::New(..) => self.taken += 1,
            Took::Known => self.known += 1,
            Took::NoMessage => self.lost += 1,
        }
    }

    fn words(&self) -> String {
        let trouble = self
            .trouble
            .as_ref()
            .map(|t| format!(" ({t})"))
            .unwrap_or_default();
        format!(
            "{} messages were brought back, {} were known, {} could not be read{trouble}",
            self.taken, self.known, self.lost
        )
    }
}

impl Buffer {
    /// Reads what can be read of a file that was set aside, and takes in what is not known here. The file stays as it is.
    pub async fn recover(&self, file: &Path, actor: &Actor) -> Result<Recovered> {
        let (chunks, mut read) = mpsc::channel::<Chunk>(2);
        let (from, name) = (file.to_owned(), file.display().to_string());
        let reading = tokio::task::spawn_blocking(move || {
            each_chunk(&from, |chunk| chunks.blocking_send(chunk).is_ok())
        });
        let mut recovered = Recovered::default();
        while let Some((rows, lost)) = read.recv().await {
            recovered.lost += lost;
            for took in self
                .write(rows.len(), move |s, shared| take_all(s, shared, &rows))
                .await?
            {
                recovered.count(&took);
            }
        }
        recovered.trouble = reading.await.map_err(Error::unavailable)??;
        let (actor, words) = (actor.clone(), format!("{name}: {}", recovered.words()));
        let n = recovered.taken as usize;
        self.write(1, move |s, _| {
            let about = About {
                actor: Some(actor.as_str()),
                ..About::many(n).because(&words)
            };
            event::of_file(s.conn, s.now, What::Recovered, about)
        })
        .await?;
        Ok(recovered)
    }
}

/// Rows that were read, and how many could not be.
type Chunk = (Vec<Salvaged>, u64);

/// Reads the file from one end to the other, until `take` has had enough; says what could not be looked at.
fn each_chunk(file: &Path, mut take: impl FnMut(Chunk) -> bool) -> Result<Option<String>> {
    let template = with_suffix(file, ".template");
    let made = open::migrate(&template).map(drop);
    let source = made.and_then(|()| Source::open(file, &template));
    for part in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(with_suffix(&template, part));
    }
    let source = source?;
    let Contents { places, mut trouble } = source.contents();
    for places in places.chunks(CHUNK) {
        let (mut rows, mut lost) = (vec![], 0);
        for place in places {
            match source.message(*place) {
                Ok(row) => rows.extend(row),
                Err(error) => {
                    lost += 1;
                    trouble = Some(error.to_string());
                }
            }
        }
        if !take((rows, lost)) {
            break;
        }
    }
    Ok(trouble)
}

pub(super) fn take_all(
    s: &mut WriteSession<'_>,
    shared: &Arc<Shared>,
    rows: &[Salvaged],
) -> Result<Vec<Took>> {
    let mut all = Vec::with_capacity(rows.len());
    for row in rows {
        let took = take(s.conn, s.now, &shared.node, shared.op(), row)?;
        if let Took::New(category, status, bytes) = took {
            let shared = shared.clone();
            s.after_commit(move || shared.gauge.add(category, status, 1, bytes));
        }
        all.push(took);
    }
    let shared = shared.clone();
    s.after_commit(move || {
        shared.wake.ring_rewind();
        shared.wake.ring_due();
    });
    Ok(all)
}

fn take(conn: &Connection, now: Timestamp, node: &str, op: i64, row: &Salvaged) -> Result<Took> {
    let Some((id, category, status, bytes)) = identify(row) else {
        return Ok(Took::NoMessage);
    };
    let known = conn
        .prepare_cached(sql::known_anywhere)?
        .query_row([id.to_string()], |row| row.get(0))?;
    if known {
        return Ok(Took::Known);
    }
    let ours = [Cell::Integer(now.as_millis()), Cell::Integer(op)];
    let mut insert = conn.prepare_cached(sql::recover_message)?;
    match insert.execute(params_from_iter(row.iter().chain(&ours))) {
        Ok(_) => {}
        Err(error) if error::is_refusal(&error) => return Ok(Took::NoMessage),
        Err(error) => return Err(error.into()),
    }
    conn.prepare_cached(sql::recover_tracking)?.execute(params![
        id.to_string(),
        now.as_millis(),
        node,
        category.as_str()
    ])?;
    Ok(Took::New(category, status, bytes))
}

/// Which message it is, if it is one.
fn identify(row: &Salvaged) -> Option<(MessageId, Category, MessageStatus, i64)> {
    let [Cell::Text(id), Cell::Integer(category), _, payload, ..] = row.as_slice() else {
        return None;
    };
    let bytes = match payload {
        Cell::Text(payload) => payload.len() as i64,
        _ => return None,
    };
    let Cell::Integer(status) = row.get(9)? else {
        return None;
    };
    let category = Category::ALL.iter().find(|c| c.number() as i64 == *category)?;
    let statuses = [MessageStatus::Pending, MessageStatus::Parked];
    let status = statuses
        .into_iter()
        .find(|s| rows::status_number(*s) == *status)?;
    Some((
        std::str::from_utf8(id).ok()?.parse().ok()?,
        *category,
        status,
        bytes,
    ))
}

/// What taking in at a start works with.
pub(super) struct AtStart<'a> {
    pub conn: &'a Connection,
    pub path: &'a Path,
    pub node: &'a str,
    pub now: Timestamp,
    pub op: &'a mut i64,
    pub room: &'a Room,
}

/// At a start, before anybody else has the file: takes in what was set aside and not looked into yet. Where the last of
/// them is now. What there is no room for waits for the next start.
pub(super) fn take_in_pending(mut start: AtStart<'_>) -> Result<Option<PathBuf>> {
    let mut last = None;
    for (pending, damaged) in aside::pending(start.path) {
        let (recovered, all) = start.take_in(&pending);
        let file = if all { &damaged } else { &pending };
        let said = start.say(&recovered, file);
        let said = if start.room.released(&said) {
            start.say(&recovered, file)
        } else {
            said
        };
        match said {
            Ok(()) => {}
            Err(full) if error::is_no_room(&full) => {
                tracing::error!(file = %pending.display(), error = domain::chain(&full), "there is no room for a buffer that was set aside; the next start looks into it again");
                continue;
            }
            Err(error) => return Err(error),
        }
        if all {
            aside::taken_in(&pending, &damaged)?;
            last = Some(damaged.clone());
        }
        tracing::error!(
            file = %file.display(), recovered = recovered.taken, known = recovered.known, lost = recovered.lost,
            trouble = recovered.trouble,
            "messages were brought back from a buffer that was set aside"
        );
    }
    Ok(last)
}

impl AtStart<'_> {
    /// Takes in what can be read; whether there was room for all of it.
    fn take_in(&mut self, pending: &Path) -> (Recovered, bool) {
        let mut recovered = Recovered::default();
        let mut stopped = None;
        let read = each_chunk(pending, |(rows, lost)| {
            recovered.lost += lost;
            let mut took = self.take_chunk(&rows);
            if self.room.released(&took) {
                took = self.take_chunk(&rows);
            }
            match took {
                Ok(all) => all.iter().for_each(|took| recovered.count(took)),
                Err(error) => stopped = Some(error),
            }
            stopped.is_none()
        });
        let trouble = match (stopped, read) {
            (Some(error), _) | (None, Err(error)) => Err(error),
            (None, Ok(trouble)) => Ok(trouble),
        };
        let all = !trouble.as_ref().is_err_and(error::is_no_room);
        recovered.trouble = trouble.unwrap_or_else(|error| Some(domain::chain(&error)));
        if !all {
            let why = recovered.trouble.take().unwrap_or_default();
            recovered.trouble = Some(format!("the others at the next start: {why}"));
        }
        (recovered, all)
    }

    fn say(&self, recovered: &Recovered, file: &Path) -> Result<()> {
        let words = recovered.words();
        let found = Found {
            what: format!("the buffer was damaged or replaced and set aside; {words}"),
            file: Some(file.display().to_string()),
            recovered: recovered.taken,
            lost: recovered.lost,
        };
        let about = About::many(recovered.taken as usize).because(&found.what);
        in_one(self.conn, || {
            damage::insert(self.conn, self.now, &found)?;
            event::of_file(self.conn, self.now, What::Damaged, about)
        })
    }

    fn take_chunk(&mut self, rows: &[Salvaged]) -> Result<Vec<Took>> {
        in_one(self.conn, || {
            let each = rows.iter().map(|row| {
                *self.op += 1;
                take(self.conn, self.now, self.node, *self.op, row)
            });
            each.collect()
        })
    }
}

/// In one transaction, or not at all.
fn in_one<T>(conn: &Connection, work: impl FnOnce() -> Result<T>) -> Result<T> {
    connection::begin(conn)?;
    let done = work().and_then(|done| {
        connection::commit(conn)?;
        Ok(done)
    });
    if done.is_err() && !conn.is_autocommit() {
        let _ = connection::rollback(conn);
    }
    done
}
