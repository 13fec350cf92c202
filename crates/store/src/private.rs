//! Files and folders that are their owner's business: what is in them are other people's messages.
//!
//! Always true: a file is private before the first byte is in it, not after.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io,
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

const FILE_MODE: u32 = 0o600;
const FOLDER_MODE: u32 = 0o700;
/// What anybody at all on the machine may do.
const OTHERS: u32 = 0o007;

/// Makes the folder and those above it, as far as they are missing.
pub fn create_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(folder)
}

/// Makes the file if it is not there.
pub(crate) fn create_file(path: &Path) -> io::Result<()> {
    let made = options().write(true).create_new(true).open(path);
    match made {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.map(drop),
    }
}

/// Opens the file for writing, made if need be, with what is in it.
pub(crate) fn open_file(path: &Path) -> io::Result<File> {
    options().write(true).create(true).truncate(false).open(path)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(FILE_MODE);
    options
}

/// A database that everybody may read, as earlier versions made them, is closed to others, its log included. One that
/// somebody opened to a group stays as it is.
pub(crate) fn close_to_others(database: &Path) -> io::Result<()> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = database.as_os_str().to_owned();
        name.push(suffix);
        let file = PathBuf::from(name);
        match fs::metadata(&file) {
            Ok(found) if found.permissions().mode() & OTHERS != 0 => {
                fs::set_permissions(&file, Permissions::from_mode(FILE_MODE))?;
            }
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
