//! Reads what can be read of a file that is damaged. Nothing in it is changed.
//!
//! Which messages there are is told by the table and by each of its indexes, from both ends: a page that is damaged hides
//! a few rows of one of them. What none of them can lead to, nobody knows of.

use crate::{
    Error, Result,
    sqlite::{
        connection::{self, Caches},
        file_id::with_suffix,
    },
};
use rusqlite::{
    Connection, Row, ToSql,
    types::{ToSqlOutput, ValueRef},
};
use std::{
    collections::BTreeSet,
    fs::{self, File},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

/// A value as it stands in the file: text need not be text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
    Blob(Vec<u8>),
}

impl ToSql for Cell {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(n) => ValueRef::Integer(*n),
            Self::Real(n) => ValueRef::Real(*n),
            Self::Text(text) => ValueRef::Text(text),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl From<ValueRef<'_>> for Cell {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(n) => Self::Integer(n),
            ValueRef::Real(n) => Self::Real(n),
            ValueRef::Text(text) => Self::Text(text.to_vec()),
            ValueRef::Blob(bytes) => Self::Blob(bytes.to_vec()),
        }
    }
}

/// A row of `sf_messages`: the columns of `salvage_row`.
pub(super) type Salvaged = Vec<Cell>;

/// A file that is being read.
pub(super) struct Source {
    conn: Connection,
    image: Option<Image>,
}

/// What there is to read.
#[derive(Debug)]
pub(super) struct Contents {
    /// Places of messages that the file knows of, in their order.
    pub places: Vec<i64>,
    /// Where the file could not be read, in words.
    pub trouble: Option<String>,
}

impl Source {
    /// Opens the file, or an image of it where its log is all that is left. `empty` is a buffer that was just made: its
    /// pages stand in for those that are gone.
    pub(super) fn open(file: &Path, empty: &Path) -> Result<Self> {
        let size = fs::metadata(file).map_or(0, |found| found.len());
        if size > 0 {
            let conn = connection::reader(file, Caches::SITE)?;
            return Ok(Self { conn, image: None });
        }
        let image = Image::of(file, empty)?;
        let conn = connection::reader(&image.0, Caches::SITE)?;
        Ok(Self {
            conn,
            image: Some(image),
        })
    }

    pub(super) fn contents(&self) -> Contents {
        let mut places = BTreeSet::new();
        let mut trouble = self.image.as_ref().map(|_| {
            "there was nothing in the file itself, only in its log; what was not there is lost".to_owned()
        });
        for statement in super::sql::SALVAGE_PLACES {
            if let Err(error) = self.walk(statement, &mut places) {
                trouble = Some(error.to_string());
            }
        }
        Contents {
            places: places.into_iter().collect(),
            trouble,
        }
    }

    /// Goes as far as it can.
    fn walk(&self, statement: &str, places: &mut BTreeSet<i64>) -> rusqlite::Result<()> {
        let mut statement = self.conn.prepare(statement)?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            places.insert(row.get(0)?);
        }
        Ok(())
    }

    /// The message at this place, if it can be read and has not ended by what else the file says.
    pub(super) fn message(&self, place: i64) -> rusqlite::Result<Option<Salvaged>> {
        let mut statement = self.conn.prepare_cached(super::sql::salvage_row)?;
        let mut found = statement.query([place])?;
        let Some(row) = found.next()? else {
            return Ok(None);
        };
        let cells = cells(row)?;
        let has_ended = self
            .conn
            .prepare_cached(super::sql::salvage_ended)
            .and_then(|mut ended| ended.query_row([&cells[0]], |row| row.get(0)))
            .unwrap_or(false);
        Ok((!has_ended).then_some(cells))
    }
}

fn cells(row: &Row<'_>) -> rusqlite::Result<Salvaged> {
    (0..row.as_ref().column_count())
        .map(|i| row.get_ref(i).map(Cell::from))
        .collect()
}

impl Drop for Source {
    fn drop(&mut self) {
        if let Some(Image(path)) = &self.image {
            for part in ["", "-wal", "-shm"] {
                let _ = fs::remove_file(with_suffix(path, part));
            }
        }
    }
}

/// A copy that SQLite reads although the file itself has nothing in it: an empty buffer, as long as the log says, with
/// the log beside it. Removed with its [`Source`].
struct Image(PathBuf);

impl Image {
    fn of(file: &Path, empty: &Path) -> Result<Self> {
        let path = with_suffix(file, ".image");
        let log = with_suffix(file, "-wal");
        let make = || -> std::io::Result<()> {
            let (page, pages) = log_length(&File::open(&log)?)?;
            fs::copy(empty, &path)?;
            let image = File::options().write(true).open(&path)?;
            let size = page * pages;
            if image.metadata()?.len() < size {
                image.set_len(size)?;
            }
            fs::copy(&log, with_suffix(&path, "-wal"))?;
            Ok(())
        };
        make().map_err(|e| Error::unavailable(format!("{}: {e}", log.display())))?;
        Ok(Self(path))
    }
}

/// The size of a page, and how many the file has after the last commit in this log. What is not of the log's own time
/// (the salt) is what was there before.
fn log_length(log: &File) -> std::io::Result<(u64, u64)> {
    const HEADER: u64 = 32;
    const FRAME: u64 = 24;
    let mut header = [0; HEADER as usize];
    log.read_exact_at(&mut header, 0)?;
    let word = |bytes: &[u8], at: usize| {
        u64::from(u32::from_be_bytes([
            bytes[at],
            bytes[at + 1],
            bytes[at + 2],
            bytes[at + 3],
        ]))
    };
    let page = word(&header, 8);
    if !(512..=65_536).contains(&page) {
        return Err(std::io::Error::other("it is no log of SQLite"));
    }
    let (mut at, mut pages) = (HEADER, 0);
    let mut frame = [0; FRAME as usize];
    while log.read_exact_at(&mut frame, at).is_ok() && frame[8..16] == header[16..24] {
        if word(&frame, 4) > 0 {
            pages = word(&frame, 4);
        }
        at += FRAME + page;
    }
    Ok((page, pages))
}
