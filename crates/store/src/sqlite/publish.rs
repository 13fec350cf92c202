//! Giving a finished file the name under which it is looked for.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

/// The name appears only when all of the file is on the disk, and when this returns a power cut does not take it back.
pub(crate) fn publish(file: &Path, name: &Path) -> io::Result<()> {
    File::open(file)?.sync_all()?;
    fs::rename(file, name)?;
    let folder = name
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
