//! Files that cannot be used as they are: finding that out before SQLite touches them, and putting them aside.
//!
//! Always true: nothing is deleted and nothing is written over. A file that was set aside is called `….pending-TIME`
//! until what it holds was taken in, and `….damaged-TIME` from then on.

use crate::{
    Error, Result,
    sqlite::{
        connection::{self, Caches},
        error,
        file_id::{FileId, with_suffix},
        file_mark::{FileMark, is_same_log, log_number},
        open,
        safeguard::{PENDING, stamp, unused_name},
    },
};
use domain::Clock;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

const DAMAGED: &str = ".damaged-";
/// The parts of a database on disk.
const PARTS: [&str; 3] = ["", "-wal", "-shm"];

/// Puts aside what SQLite could not use, or would make nothing of.
pub(super) fn inspect(path: &Path, clock: &dyn Clock) -> Result<()> {
    if let Some(why) = foreign_log(path) {
        set_aside(path, &["-wal", "-shm"], &why, clock)?;
    }
    match sound(path) {
        Ok(()) => Ok(()),
        Err(damage) if is_damage(&damage) => set_aside(path, &PARTS, &damage.to_string(), clock),
        Err(other) => Err(other),
    }
}

/// Why the log beside the file is not its own, if it is not. SQLite would apply it all the same.
fn foreign_log(path: &Path) -> Option<String> {
    let noted = open::noted(path)?;
    let log = with_suffix(path, "-wal");
    let written_over = match (noted.mark, FileMark::at(path)) {
        (Some(noted), Ok(found)) => !noted.can_become(found),
        // What has no first page is found out below.
        (None, _) | (_, Err(_)) => false,
    };
    let same_file = FileId::at(path).ok()? == noted.file && !written_over;
    let same_number = match (noted.log_number, log_number(&log)) {
        (Some(noted), Some(found)) => is_same_log(noted, found),
        (None, _) | (_, None) => true,
    };
    let same_log = FileId::at(&log).ok()? == noted.log && same_number;
    // Where both are others, they were moved together; a new log beside the same file is that of another program.
    (!same_file && same_log)
        .then(|| "the log does not belong to the file beside it; one of them was replaced".into())
}

/// Reads every page. A file that is not there yet is sound.
pub(super) fn sound(path: &Path) -> Result<()> {
    let size = |suffix| fs::metadata(with_suffix(path, suffix)).map(|found| found.len());
    let log = size("-wal").unwrap_or(0);
    match size("") {
        // The last process ended while it set a damaged one aside, or somebody deleted the file alone.
        Err(_) if size("-wal").is_ok() => {
            return Err(Error::corrupt("the buffer", "there is a log without its file"));
        }
        Err(_) => return Ok(()),
        // SQLite takes this for a new file and deletes the log.
        Ok(0) if log > 0 => {
            return Err(Error::corrupt(
                "the buffer",
                "the file is empty and its log is not",
            ));
        }
        Ok(_) => {}
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

/// Whether there is a log, be it empty.
pub(super) fn has_log(path: &Path) -> bool {
    with_suffix(path, "-wal").exists()
}

/// The file turned out to be damaged after all.
pub(super) fn set_file_aside(path: &Path, damage: &str, clock: &dyn Clock) -> Result<()> {
    set_aside(path, &PARTS, damage, clock)
}

pub(super) fn is_damage(error: &Error) -> bool {
    matches!(error, Error::Corrupt { .. }) || error::is_damage(error)
}

/// Renames the file and its log, in this order: SQLite would delete a log beside a file it has just made, so the log
/// must be known to be an orphan if we end in between.
fn set_aside(path: &Path, parts: &[&str], damage: &str, clock: &dyn Clock) -> Result<()> {
    let aside = unused_name(path, PENDING, &stamp(clock.now()));
    rename(path, &aside, parts)?;
    tracing::error!(
        file = %path.display(),
        aside = %aside.display(),
        error = damage,
        "THE BUFFER IS DAMAGED. It is set aside and not deleted; what can be read in it is taken into a new one"
    );
    Ok(())
}

fn rename(from: &Path, to: &Path, parts: &[&str]) -> Result<()> {
    for part in parts {
        let (from, to) = (with_suffix(from, part), with_suffix(to, part));
        match fs::rename(&from, &to) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                let words = format!("{} cannot be renamed to {}: {e}", from.display(), to.display());
                return Err(Error::unavailable(words));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Puts a copy in the place of the file and its log, which are kept under another name.
pub(super) fn replace(path: &Path, copy: &Path, replaced: &Path) -> Result<()> {
    rename(path, replaced, &PARTS)?;
    rename(copy, path, &PARTS)?;
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
    let synced = fs::File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all());
    synced.map_err(|e| Error::unavailable(format!("{}: {e}", path.display())))
}

/// What was set aside beside this file and has not been taken in, oldest first: as it is called now, and from then on.
pub(super) fn pending(path: &Path) -> Vec<(PathBuf, PathBuf)> {
    let folder = path.parent().filter(|f| !f.as_os_str().is_empty());
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else {
        return vec![];
    };
    let mut stamps: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|entry| Some(entry.strip_prefix(&name)?.strip_prefix(PENDING)?.to_owned()))
        // What has a dot in it was being made from one of them.
        .filter(|stamp| !stamp.contains('.'))
        .map(|stamp| {
            let part = PARTS
                .iter()
                .find(|part| !part.is_empty() && stamp.ends_with(**part));
            stamp[..stamp.len() - part.map_or(0, |part| part.len())].to_owned()
        })
        .collect();
    stamps.sort();
    stamps.dedup();
    let named = |stamp: &String| {
        let pending = with_suffix(path, &format!("{PENDING}{stamp}"));
        (pending, unused_name(path, DAMAGED, stamp))
    };
    stamps.iter().map(named).collect()
}

/// What it holds was taken in.
pub(super) fn taken_in(pending: &Path, damaged: &Path) -> Result<()> {
    rename(pending, damaged, &PARTS)
}
