//! Files beside the buffer of a standby. A whole copy is made in one: when it is complete it takes the buffer's place, and until
//! then the buffer stays as it was. The other has messages that the standby accepted itself, which a copy has no place for.

use crate::{
    Error, Result,
    sqlite::{
        file_id::with_suffix,
        publish::publish,
        safeguard::{stamp, unused_name},
    },
};
use domain::Clock;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

const SIDE: &str = ".copy";
const OWN: &str = ".own";
const REPLACED: &str = ".replaced-";
const PARTS: [&str; 3] = ["", "-wal", "-shm"];

/// Where a whole copy is made. What an earlier one left there is gone afterwards.
pub fn side_file(buffer: &Path) -> Result<PathBuf> {
    let side = with_suffix(buffer, SIDE);
    for part in PARTS.into_iter().chain([".reserve"]) {
        remove(&with_suffix(&side, part))?;
    }
    Ok(side)
}

/// Where a standby keeps what it accepted itself.
pub fn own_file(buffer: &Path) -> PathBuf {
    with_suffix(buffer, OWN)
}

/// Everything of that is somewhere else. Nobody may have it open.
pub fn remove_own_file(buffer: &Path) -> Result<()> {
    let own = own_file(buffer);
    // The log first: without its file it would be taken for damage.
    for part in ["-wal", "-shm", "", ".reserve", ".lock"] {
        remove(&with_suffix(&own, part))?;
    }
    Ok(())
}

/// Puts a complete copy in the place of the buffer. Nobody may have either of them open. With `keep` the file that was
/// there stays beside it under another name, which is told. A crash in between leaves the one or the other.
pub fn put_in_place(buffer: &Path, keep: bool, clock: &dyn Clock) -> Result<Option<PathBuf>> {
    let side = with_suffix(buffer, SIDE);
    for file in [buffer, &side] {
        let log = with_suffix(file, "-wal");
        if fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
            return Err(Error::unavailable(format!("{} was not closed", file.display())));
        }
    }
    let aside = keep.then(|| unused_name(buffer, REPLACED, &stamp(clock.now())));
    if let Some(aside) = &aside {
        missing_is_fine(fs::hard_link(buffer, aside))
            .map_err(|e| Error::unavailable(format!("{}: {e}", aside.display())))?;
    }
    for part in ["-wal", "-shm"] {
        remove(&with_suffix(buffer, part))?;
    }
    // For good: a power cut that took the name back would leave the old file beside the log of the new one.
    publish(&side, buffer)
        .map_err(|e| Error::unavailable(format!("{} cannot be renamed: {e}", side.display())))?;
    for part in ["-wal", "-shm", ".reserve", ".lock"] {
        remove(&with_suffix(&side, part))?;
    }
    Ok(aside)
}

fn remove(path: &Path) -> Result<()> {
    missing_is_fine(fs::remove_file(path))
        .map_err(|e| Error::unavailable(format!("{} cannot be removed: {e}", path.display())))
}

fn missing_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
