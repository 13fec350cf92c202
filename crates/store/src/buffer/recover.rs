//! Bringing messages back from a file that was set aside: by itself at a start, and when a person says so.
//!
//! Always true: ids are kept, and what is known here by its id is left alone, so that nothing is sent twice.

use super::{
    Buffer, Shared, aside,
    damage::{self, Found},
    event::{self, About, What},
    message::{MessageId, MessageStatus},
    open, rows,
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

/// At a start, before anybody else has the file: takes in what was set aside and not looked into yet. Where the last of
/// them is now.
pub(super) fn take_in_pending(
    conn: &Connection,
    path: &Path,
    node: &str,
    now: Timestamp,
    op: &mut i64,
) -> Result<Option<PathBuf>> {
    let mut last = None;
    for (pending, damaged) in aside::pending(path) {
        let mut recovered = Recovered::default();
        let mut full = None;
        let read = each_chunk(&pending, |(rows, lost)| {
            recovered.lost += lost;
            match take_chunk(conn, now, node, op, &rows) {
                Ok(all) => all.iter().for_each(|took| recovered.count(took)),
                Err(error) => full = Some(domain::chain(&error)),
            }
            full.is_none()
        });
        recovered.trouble = full.or_else(|| read.unwrap_or_else(|e| Some(domain::chain(&e))));
        let words = recovered.words();
        let found = Found {
            what: format!("the buffer was damaged or replaced and set aside; {words}"),
            file: Some(damaged.display().to_string()),
            recovered: recovered.taken,
            lost: recovered.lost,
        };
        connection::begin(conn)?;
        damage::insert(conn, now, &found)?;
        let about = About::many(recovered.taken as usize).because(&found.what);
        event::of_file(conn, now, What::Damaged, about)?;
        connection::commit(conn)?;
        aside::taken_in(&pending, &damaged)?;
        tracing::error!(
            file = %damaged.display(), recovered = recovered.taken, known = recovered.known, lost = recovered.lost,
            trouble = recovered.trouble,
            "messages were brought back from a buffer that was set aside"
        );
        last = Some(damaged);
    }
    Ok(last)
}

fn take_chunk(
    conn: &Connection,
    now: Timestamp,
    node: &str,
    op: &mut i64,
    rows: &[Salvaged],
) -> Result<Vec<Took>> {
    connection::begin(conn)?;
    let all = rows
        .iter()
        .map(|row| {
            *op += 1;
            take(conn, now, node, *op, row)
        })
        .collect::<Result<Vec<_>>>()
        .and_then(|all| {
            connection::commit(conn)?;
            Ok(all)
        });
    if all.is_err() && !conn.is_autocommit() {
        let _ = connection::rollback(conn);
    }
    all
}
