//! Opening the file: the lock, what was set aside, the schema, the first count.
//!
//! Always true: a damaged file is put aside under another name and never deleted; the site goes on with a fresh one, and
//! with what could be read of the other.

use super::{
    Buffer, Options, Shared, Wake, damage, forget, gauge::Gauge, identity, mend, recover,
    replication::Replication, reserve::Reserve, room::Room, rows, sql,
};
use crate::{
    Error, Result, private, schema,
    sqlite::{
        connection::{self, Caches},
        file_id::FileId,
        open::{lock, schema_version},
        readers::Readers,
        writer::{Guarded, Writer},
    },
};
use domain::Clock;
use rusqlite::Connection;
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64},
    },
};
use uuid::Uuid;

/// Queries that may run at once.
const READERS: u32 = 2;
/// A start is not to take longer than a few seconds for writing a file anew.
const LARGEST_REWRITTEN: u64 = 256 << 20;

impl Buffer {
    /// Opens or creates the file. `Locked` while another process has it; `NewerSchema` when a newer program wrote it.
    /// A file that is damaged is set aside (see [`Buffer::set_aside`]) and a fresh one is made.
    pub fn open(options: &Options, clock: Arc<dyn Clock>) -> Result<Self> {
        let path = &options.path;
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            private::create_folder(folder)
                .map_err(|e| Error::unavailable(format!("{}: {e}", folder.display())))?;
        }
        let lock = lock(path)?;
        let room = Room::new(
            options.max_bytes,
            Reserve::beside(path, options.reserve_bytes / 2),
        );
        room.make_room_for_start();
        let conn = mend::ready(path, clock.as_ref())?;
        make_shrinkable(path, &conn);
        let mut op = conn.query_row(sql::highest_op, [], |row| row.get(0))?;
        let set_aside = recover::take_in_pending(recover::AtStart {
            conn: &conn,
            path,
            node: &options.node,
            now: clock.now(),
            op: &mut op,
            room: &room,
        })?;
        room.begin();
        let guarded = Guarded {
            // Of what was kept, half is for the log where that has to be made anew, and half for the file.
            log_floor: match room.has_disk() {
                true => options.reserve_bytes / 2,
                false => options.reserve_bytes / 4,
            },
        };
        let shared = Arc::new(Shared {
            id: identity::of_file(&conn)?,
            gauge: count(&conn)?,
            room,
            wake: Wake::default(),
            node: options.node.clone(),
            ops: AtomicI64::new(op),
            damaged: AtomicU64::new(damage::count(&conn)?),
            forgotten: forget::Forgotten::read(&conn)?,
            replication: Replication::read(&conn)?,
        });
        if !options.inline {
            mark(&conn);
        }
        drop(conn);
        let (writer, readers) = if options.inline {
            (
                Writer::inline(path, clock.clone(), Some(lock))?,
                Readers::open(path, READERS, Caches::SITE)?.inline(),
            )
        } else {
            (
                Writer::start(path, clock.clone(), Some(lock), Caches::SITE, Some(guarded))?,
                Readers::open(path, READERS, Caches::SITE)?,
            )
        };
        Ok(Self {
            clock,
            writer,
            readers,
            shared,
            set_aside,
            file: FileId::at(path).map_err(|e| Error::unavailable(format!("{}: {e}", path.display())))?,
            path: path.clone(),
            inline: options.inline,
        })
    }
}

/// A file of an earlier version is written anew once, so that it can give pages back. Where that cannot be done now it
/// is tried again at the next start: the file can be used as it is.
fn make_shrinkable(path: &Path, conn: &Connection) {
    let size = std::fs::metadata(path).map_or(u64::MAX, |found| found.len());
    let done = connection::is_shrinkable(conn).and_then(|can| match can {
        true => Ok(()),
        false if size > LARGEST_REWRITTEN => {
            tracing::warn!(
                file = %path.display(), size,
                "the buffer cannot give room back to the disk, and is too large to be written anew at a start; \
                 docs/sites.md says how to do that (\"No room\")"
            );
            Ok(())
        }
        false => connection::make_shrinkable(conn),
    });
    if let Err(error) = done {
        tracing::warn!(%error, "the buffer cannot be written anew; it keeps its size until that is possible");
    }
}

/// Gives the file a number that no copy of earlier has. It is moved into the file when this connection is closed, before
/// the writer notes it.
fn mark(conn: &Connection) {
    let number = (Uuid::new_v4().as_u128() as u32 >> 1).max(1);
    if let Err(error) = connection::set_generation(conn, number) {
        tracing::warn!(%error, "the buffer cannot be marked; a copy of earlier in its place would not be told from it");
    }
}

/// Brings the schema to this program's version.
pub(super) fn migrate(path: &Path) -> Result<Connection> {
    let mut conn = connection::read_write_shrinkable(path)?;
    let (found, known) = (schema_version(&conn)?, schema::BUFFER.version());
    if found > known {
        return Err(Error::NewerSchema { found, known });
    }
    let runner = schema::BUFFER.runner().map_err(Error::unavailable)?;
    runner.run(&mut conn).map_err(Error::unavailable)?;
    Ok(conn)
}

pub(super) fn count(conn: &Connection) -> Result<Gauge> {
    let gauge = Gauge::default();
    let mut statement = conn.prepare(sql::counts)?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        // Rows that are no messages are not counted as any; they are set aside when they are come across.
        if let (Ok(category), Ok(status)) = (rows::category(row), rows::status(row)) {
            gauge.add(category, status, row.get("n")?, row.get("bytes")?);
        }
    }
    let remembered = |row: &rusqlite::Row<'_>| Ok((row.get("n")?, row.get("bytes")?));
    let (n, bytes) = conn.query_row(sql::counts_remembered, [], remembered)?;
    gauge.remember(n, bytes);
    let news = |row: &rusqlite::Row<'_>| {
        gauge.news_waits(row.get("waiting")?, row.get("waiting_bytes")?);
        gauge.news_remembered(row.get("heard")?, row.get("heard_bytes")?);
        Ok(())
    };
    conn.query_row(sql::counts_news, [], news)?;
    Ok(gauge)
}
