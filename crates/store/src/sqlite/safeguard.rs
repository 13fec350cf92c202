//! What the writer of a site's file sees to beyond SQLite: nobody looks after the machine it is on.
//!
//! Always true: a page is on the disk before a commit needs it, so that moving the log into the file takes no room that
//! somebody else could have taken; nothing is acknowledged that was written to a file which is not at its path any more.

use super::{
    backup, connection,
    file_id::{FileId, with_suffix},
    file_mark::{FileMark, log_number},
    filler, open,
};
use crate::{Error, Result, private};
use domain::Timestamp;
use rusqlite::Connection;
use std::{
    cell::Cell,
    fmt::Write,
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

/// The file grows by so many bytes at a time.
const GROWTH: u64 = 256 << 10;

/// Files that were set aside and not looked into yet are called like the database and this.
pub(crate) const PENDING: &str = ".pending-";

/// Their names go on like this where all that was in the database is in them.
pub(crate) const WHOLE: &str = "-whole";

#[derive(Debug)]
pub(crate) struct Safeguard {
    path: PathBuf,
    log: PathBuf,
    file_id: FileId,
    log_id: FileId,
    /// For taking room, and for the first page. To be closed after the connections: closing it ends the locks that SQLite has on the file.
    file: File,
    page_size: u64,
    /// So many bytes of the file are known to be on the disk.
    taken: Cell<u64>,
    /// The number that the file got when it was opened; none where it has not got one.
    generation: Option<u32>,
    /// Where it is noted which files these are, for whoever opens them next.
    lock: Option<File>,
    /// Whether the log was noted with its number: it has none before the first commit.
    log_noted: Cell<bool>,
}

/// Why there is no room for what is to be committed.
pub(super) enum NoRoom {
    Disk(io::Error),
    Sqlite(rusqlite::Error),
}

impl Safeguard {
    /// For the file this connection has open.
    pub(super) fn of(path: &Path, conn: &Connection, lock: Option<File>) -> Result<Self> {
        let log = with_suffix(path, "-wal");
        // The log is there once something was read.
        connection::pages(conn)?;
        let found = || -> io::Result<(FileId, FileId, File)> {
            let file = OpenOptions::new().read(true).write(true).open(path)?;
            Ok((FileId::at(path)?, FileId::at(&log)?, file))
        };
        let (file_id, log_id, file) =
            found().map_err(|e| Error::unavailable(format!("{}: {e}", path.display())))?;
        let generation = connection::generation(conn)?;
        // A number that stands in the log only would be missed in the file by whoever opens them next.
        let is_in_file = FileMark::of(&file).is_ok_and(|mark| mark.generation == generation);
        let safeguard = Self {
            path: path.to_owned(),
            log,
            file_id,
            log_id,
            file,
            page_size: connection::page_size(conn)?,
            taken: Cell::new(0),
            generation: Some(generation).filter(|number| is_in_file && *number > 0),
            lock,
            log_noted: Cell::new(false),
        };
        safeguard.note();
        Ok(safeguard)
    }

    /// Notes which files these are, and how far the file has come.
    fn note(&self) {
        let Some(lock) = &self.lock else {
            return;
        };
        let mut files = format!("{} {}", self.file_id, self.log_id);
        let mark = FileMark::of(&self.file).ok();
        if let Some(mark) = mark.filter(|mark| Some(mark.generation) == self.generation) {
            let _ = write!(files, " {mark}");
            if let Some(number) = log_number(&self.log) {
                let _ = write!(files, " {number}");
                self.log_noted.set(true);
            }
        }
        open::note(lock, &files);
    }

    /// Before a commit: takes room on the disk for every page it adds.
    pub(super) fn take_room(&self, conn: &Connection) -> Result<(), NoRoom> {
        let needed = connection::pages(conn).map_err(NoRoom::Sqlite)? * self.page_size;
        if needed <= self.taken.get() {
            return Ok(());
        }
        let size = self.file.metadata().map_err(NoRoom::Disk)?.len();
        if size < needed {
            let some_more = needed.next_multiple_of(GROWTH);
            filler::extend(&self.file, size, some_more)
                .or_else(|_| filler::extend(&self.file, size, needed))
                .map_err(NoRoom::Disk)?;
        }
        self.taken.set(needed.max(size));
        Ok(())
    }

    /// The log was moved into the file, which has the length now that SQLite gave it.
    pub(super) fn log_moved(&self) {
        self.taken.set(0);
        self.note();
    }

    /// After a commit, before anybody is told: whether it went where the next process will look for it.
    pub(super) fn still_there(&self) -> Result<(), String> {
        self.file_id.still_at(&self.path)?;
        self.log_id.still_at(&self.log)?;
        if !self.log_noted.replace(true) {
            self.note();
        }
        Ok(())
    }

    /// The files are gone but still open: writes all that is in them beside, for the next start to take in.
    pub(super) fn rescue(&self, conn: &Connection, now: Timestamp) {
        let copy = unused_name(&self.path, PENDING, &format!("{}{WHOLE}", stamp(now)));
        let folder = copy.parent().filter(|f| !f.as_os_str().is_empty());
        let copied = folder
            .map_or(Ok(()), private::create_folder)
            .map_err(Error::unavailable)
            .and_then(|()| backup::backup(conn, &copy));
        match copied {
            Ok(()) => tracing::error!(
                file = %self.path.display(), copy = %copy.display(),
                "what was in the buffer has been written to a copy; the next start takes it in"
            ),
            Err(error) => tracing::error!(
                file = %self.path.display(), error = domain::chain(&error),
                "WHAT WAS IN THE BUFFER COULD NOT BE SAVED"
            ),
        }
    }
}

/// A name beside this file that neither a file nor the log of one has.
pub(crate) fn unused_name(path: &Path, kind: &str, stamp: &str) -> PathBuf {
    let is_used = |name: &Path| {
        ["", "-wal", "-shm"]
            .iter()
            .any(|part| with_suffix(name, part).exists())
    };
    let mut name = with_suffix(path, &format!("{kind}{stamp}"));
    let mut n = 1;
    while is_used(&name) {
        n += 1;
        name = with_suffix(path, &format!("{kind}{stamp}-{n}"));
    }
    name
}

/// A moment as part of a file's name.
pub(crate) fn stamp(now: Timestamp) -> String {
    now.to_string().replace([':', '.'], "-")
}
