//! A consistent copy of the file while everything goes on: one snapshot, copied in one step, so that commits
//! meanwhile neither wait nor make it start over.

use super::publish::publish;
use crate::{Error, Result, private};
use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Never writes over a file: the one named might be the one in use.
pub(super) fn backup(from: &Connection, to: &Path) -> Result<()> {
    if to.exists() {
        return Err(Error::Conflict(format!("{} exists already", to.display())));
    }
    let partial = partial_path(to);
    let unpublished = |e| Error::unavailable(format!("{}: {e}", to.display()));
    let copied = copy(from, &partial).and_then(|()| publish(&partial, to).map_err(unpublished));
    if copied.is_err() {
        let _ = fs::remove_file(&partial);
    }
    copied
}

fn partial_path(to: &Path) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

fn copy(from: &Connection, partial: &Path) -> Result<()> {
    let _ = fs::remove_file(partial);
    private::create_file(partial).map_err(|e| Error::unavailable(format!("{}: {e}", partial.display())))?;
    let mut copy = Connection::open(partial)?;
    {
        let backup = Backup::new(from, &mut copy)?;
        match backup.step(-1)? {
            StepResult::Done => {}
            other => return Err(Error::unavailable(format!("the copy ended as {other:?}"))),
        }
    }
    copy.close().map_err(|(_, error)| error.into())
}
