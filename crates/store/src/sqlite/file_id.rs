//! Which file a path leads to. A file that was deleted or replaced can still be written to by whoever has it open, and
//! all of that is gone with the process.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    str::FromStr,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Asks for nothing but which file it is. Who asks for its times as well makes the next write to it, and the sync after that, put
    /// down a new time: a quarter of what a commit takes, where each is followed by such a question.
    #[cfg(target_os = "linux")]
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        use rustix::fs::{AtFlags, CWD, StatxFlags, makedev, statx};
        let found = statx(CWD, path, AtFlags::empty(), StatxFlags::INO)?;
        Ok(Self {
            device: makedev(found.stx_dev_major, found.stx_dev_minor),
            inode: found.stx_ino,
        })
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::metadata(path)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    /// What an earlier program wrote down of a file is compared with this.
    #[test]
    fn a_file_is_named_as_its_metadata_names_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let metadata = file.as_file().metadata().unwrap();
        let found = FileId::at(file.path()).unwrap();
        assert_eq!((found.device, found.inode), (metadata.dev(), metadata.ino()));
    }
}
