//! A consistent copy of the file while everything goes on: one snapshot, copied in one step, so that commits
//! meanwhile neither wait nor make it start over.

use crate::{Error, Result, private};
use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
};

/// Never writes over a file: the one named might be the one in use.
pub(super) fn backup(from: &Connection, to: &Path) -> Result<()> {
    if to.exists() {
        return Err(Error::Conflict(format!("{} exists already", to.display())));
    }
    let partial = partial_path(to);
    let copied = copy(from, &partial).and_then(|()| publish(&partial, to));
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

/// The name appears only when the whole copy is on disk.
fn publish(partial: &Path, to: &Path) -> Result<()> {
    let synced = || -> std::io::Result<()> {
        File::open(partial)?.sync_all()?;
        fs::rename(partial, to)?;
        let folder = to
            .parent()
            .filter(|p| !p.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        File::open(folder)?.sync_all()
    };
    synced().map_err(|e| Error::unavailable(format!("{}: {e}", to.display())))
}
