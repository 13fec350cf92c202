//! Which file a path leads to. A file that was deleted or replaced can still be written to by whoever has it open, and
//! all of that is gone with the process.

use std::{
    fmt, fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    str::FromStr,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self {
            device: found.dev(),
            inode: found.ino(),
        })
    }

    /// Why the path does not lead to this file any more, if it does not.
    pub(crate) fn still_at(self, path: &Path) -> Result<(), String> {
        match Self::at(path) {
            Ok(found) if found == self => Ok(()),
            Ok(_) => Err(format!(
                "{} is another file than the one that was opened",
                path.display()
            )),
            Err(error) => Err(format!("{} is gone: {error}", path.display())),
        }
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.device, self.inode)
    }
}

impl FromStr for FileId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (device, inode) = text.split_once(':').ok_or(())?;
        Ok(Self {
            device: device.parse().map_err(drop)?,
            inode: inode.parse().map_err(drop)?,
        })
    }
}

/// The name of a file that belongs to this one.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
