//! What a process saved when its files went away under it ([`Safeguard::rescue`](crate::sqlite::safeguard)): all that was in
//! them, the last commit included. Put back in their place it is the buffer as it was; read like a damaged file it would
//! only add to a file that knows less.
//!
//! Always true: it takes the place of the very file it was made of, and only where nobody has had that open since: each
//! start gives the file another number. What it takes the place of is kept.

use super::{
    aside,
    damage::{self, Found},
    event::{self, About, What},
    open,
};
use crate::{
    Error, Result,
    sqlite::{connection, file_mark::FileMark, open::noted, safeguard::WHOLE},
};
use domain::Timestamp;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Puts a copy of the file at this path in its place, if there is one; whether there was.
pub(super) fn put_back(path: &Path, now: Timestamp) -> Result<bool> {
    let Some(number) = last_number(path) else {
        return Ok(false);
    };
    for (copy, replaced) in aside::pending(path) {
        if !copy.to_string_lossy().contains(WHOLE) || number_of(&copy) != Some(number) {
            continue;
        }
        match aside::sound(&copy) {
            Ok(()) => {}
            Err(damaged) if aside::is_damage(&damaged) => continue,
            Err(other) => return Err(other),
        }
        let replaces = fs::metadata(path).is_ok_and(|found| found.len() > 0);
        say(&copy, replaces.then_some(&replaced), now)?;
        aside::replace(path, &copy, &replaced)?;
        tracing::error!(
            file = %path.display(),
            "the buffer was deleted, or its log; all that was in it had been saved, and is in its place again"
        );
        return Ok(true);
    }
    Ok(false)
}

/// The number that the file at this path got at its last start, as it tells itself; where it is gone, as was noted.
fn last_number(path: &Path) -> Option<u32> {
    match fs::metadata(path) {
        Ok(found) if found.len() > 0 => number_of(path),
        Ok(_) | Err(_) => noted(path)?.mark.map(|mark| mark.generation),
    }
    .filter(|number| *number > 0)
}

fn number_of(path: &Path) -> Option<u32> {
    Some(FileMark::at(path).ok()?.generation)
}

/// Before it is in its place: from then on nobody would know.
fn say(copy: &Path, replaced: Option<&PathBuf>, now: Timestamp) -> Result<()> {
    let conn = open::migrate(copy)?;
    let depth = open::count(&conn)?.depth();
    let all = depth.waiting() + depth.all_parked();
    let found = Found {
        what: "the buffer was deleted or replaced, or its log was, while the agent ran; all that was in it was saved and is \
               in its place again"
            .to_owned(),
        file: replaced.map(|file| file.display().to_string()),
        recovered: all,
        lost: 0,
    };
    connection::begin(&conn)?;
    damage::insert(&conn, now, &found)?;
    event::of_file(
        &conn,
        now,
        What::Damaged,
        About::many(all as usize).because(&found.what),
    )?;
    connection::commit(&conn)?;
    conn.close().map_err(|(_, error)| Error::from(error))
}
