//! Opening the file: the lock, the integrity check, the schema, the first count.
//!
//! Always true: a damaged file is put aside under another name and never deleted; the site goes on with a fresh one.

use super::{Buffer, Options, Shared, Wake, gauge::Gauge, reserve::Reserve, room::Room, rows, sql};
use crate::{
    Error, Result, private,
    sqlite::{
        connection::{self, Caches},
        error,
        open::{lock, schema_version},
        readers::Readers,
        writer::Writer,
    },
};
use domain::Clock;
use rusqlite::Connection;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicI64},
};

mod embedded {
    refinery::embed_migrations!("migrations/buffer");
}

/// Queries that may run at once.
const READERS: u32 = 2;

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
        let set_aside = match sound(path) {
            Ok(()) => None,
            Err(damage) if is_damage(&damage) => Some(set_aside(path, &damage, clock.as_ref())?),
            Err(other) => return Err(other),
        };
        let conn = migrate(path)?;
        let shared = Arc::new(Shared {
            gauge: count(&conn)?,
            room: Room::new(options.max_bytes, Reserve::beside(path, options.reserve_bytes)),
            wake: Wake::default(),
            node: options.node.clone(),
            ops: AtomicI64::new(conn.query_row(sql::highest_op, [], |row| row.get(0))?),
        });
        drop(conn);
        let (writer, readers) = if options.inline {
            (
                Writer::inline(path, clock.clone(), Some(lock))?,
                Readers::open(path, READERS, Caches::SITE)?.inline(),
            )
        } else {
            (
                Writer::start(path, clock.clone(), Some(lock), Caches::SITE)?,
                Readers::open(path, READERS, Caches::SITE)?,
            )
        };
        Ok(Self {
            clock,
            writer,
            readers,
            shared,
            set_aside,
        })
    }
}

/// Reads every page. A file that is not there yet is sound.
fn sound(path: &Path) -> Result<()> {
    if !path.exists() {
        // A log without its file: the last process ended while it set a damaged one aside.
        return match with_suffix(path, "-wal").exists() {
            true => Err(Error::corrupt("the buffer", "there is a log without its file")),
            false => Ok(()),
        };
    }
    // Only reading: should it be damaged, whoever looks into it later finds it as it was.
    let conn = connection::reader(path, Caches::SITE)?;
    let said = connection::quick_check(&conn)?;
    if said == "ok" {
        Ok(())
    } else {
        Err(Error::corrupt("the buffer", said))
    }
}

fn is_damage(error: &Error) -> bool {
    let not_a_database = |e: &rusqlite::Error| {
        matches!(
            e.sqlite_error_code(),
            Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase)
        )
    };
    match error {
        Error::Corrupt { .. } => true,
        Error::Unavailable(cause) => cause.downcast_ref().is_some_and(not_a_database),
        _ => error::is_disk_failure(error),
    }
}

/// Renames the file and its log, in this order: SQLite would delete a log beside a file it has just made, so the log
/// must be known to be an orphan if we end in between.
fn set_aside(path: &Path, damage: &Error, clock: &dyn Clock) -> Result<PathBuf> {
    let stamp = clock.now().to_string().replace([':', '.'], "-");
    let aside = with_suffix(path, &format!(".damaged-{stamp}"));
    for suffix in ["", "-wal", "-shm"] {
        let (from, to) = (with_suffix(path, suffix), with_suffix(&aside, suffix));
        if from.exists() {
            std::fs::rename(&from, &to).map_err(|e| {
                Error::unavailable(format!(
                    "{} is damaged and cannot be renamed to {}: {e}",
                    from.display(),
                    to.display()
                ))
            })?;
        }
    }
    tracing::error!(
        file = %path.display(),
        aside = %aside.display(),
        error = %damage,
        "THE BUFFER IS DAMAGED. It was set aside and is not deleted; messages in it have not been delivered. \
         This site goes on with an empty buffer"
    );
    Ok(aside)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn migrate(path: &Path) -> Result<Connection> {
    let mut conn = connection::read_write(path)?;
    let runner = embedded::migrations::runner();
    let known = runner
        .get_migrations()
        .iter()
        .map(|m| i64::from(m.version()))
        .max();
    let (found, known) = (schema_version(&conn)?, known.unwrap_or(0));
    if found > known {
        return Err(Error::NewerSchema { found, known });
    }
    runner.run(&mut conn).map_err(Error::unavailable)?;
    Ok(conn)
}

pub(super) fn count(conn: &Connection) -> Result<Gauge> {
    let gauge = Gauge::default();
    let mut statement = conn.prepare(sql::counts)?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        gauge.add(
            rows::category(row)?,
            rows::status(row)?,
            row.get("n")?,
            row.get("bytes")?,
        );
    }
    Ok(gauge)
}
