//! Room on the disk that is kept for getting messages out: a file beside the buffer that is deleted when the disk is
//! full. New messages are refused from then on until the file can be made again; what takes messages out also has to
//! write, and has this much to do it with.

use crate::sqlite::{file_id::with_suffix, filler};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

/// Taken at once beyond the half that has to be there.
const PIECE: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
    bytes: u64,
}

impl Reserve {
    /// None where nothing is to be kept.
    pub(super) fn beside(buffer: &Path, bytes: u64) -> Option<Self> {
        let path = with_suffix(buffer, ".reserve");
        (bytes > 0).then_some(Self { path, bytes })
    }

    /// Keeps the room for now, unless it is kept already. Half of it will do: a buffer that has used some of it to empty
    /// itself gives that back to new messages, not to the disk. Nothing is synced: where it has to be let go again at
    /// once, the disk was not written to.
    pub(super) fn keep(&self) -> io::Result<()> {
        if self.is_kept() {
            return Ok(());
        }
        let half = self.bytes / 2;
        let file = File::create(&self.path)?;
        if let Err(full) = filler::extend(&file, 0, half) {
            self.release();
            return Err(full);
        }
        // As much of the rest as there is: what is not kept would go to messages at once.
        let mut kept = half;
        while kept < self.bytes && filler::extend(&file, kept, self.bytes.min(kept + PIECE)).is_ok() {
            kept += PIECE;
        }
        Ok(())
    }

    /// Keeps it for good. Some file systems find out only here that they have no room.
    pub(super) fn settle(&self) -> io::Result<()> {
        let settled = File::open(&self.path).and_then(|file| file.sync_all());
        settled.inspect_err(|_| {
            self.release();
        })
    }

    pub(super) fn is_kept(&self) -> bool {
        fs::metadata(&self.path).is_ok_and(|found| found.len() >= self.bytes / 2)
    }

    /// Gives the room to whoever needs it. Whether there was some.
    pub(super) fn release(&self) -> bool {
        let removed = fs::remove_file(&self.path);
        if let Err(error) = &removed
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(file = %self.path.display(), %error, "the reserve cannot be released");
        }
        removed.is_ok()
    }

    /// What the disk has besides; none where it does not say.
    pub(super) fn free_beside(&self) -> Option<u64> {
        let folder = self.path.parent().filter(|f| !f.as_os_str().is_empty());
        let found = rustix::fs::statvfs(folder.unwrap_or(Path::new("."))).ok()?;
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_takes_its_room_and_what_is_released_takes_none() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = Reserve::beside(&folder.path().join("sf.db"), 100_000).unwrap();
        let size = || fs::metadata(folder.path().join("sf.db.reserve")).map(|found| found.len());
        reserve.keep().unwrap();
        reserve.keep().unwrap();
        reserve.settle().unwrap();
        assert_eq!(size().unwrap(), 100_000);
        assert!(reserve.is_kept() && reserve.release());
        assert!(!reserve.is_kept() && !reserve.release());
        assert!(size().is_err());
    }

    #[test]
    fn half_of_it_will_do_and_less_is_made_whole() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = Reserve::beside(&folder.path().join("sf.db"), 100_000).unwrap();
        for (found, kept) in [(50_000, 50_000), (49_999, 100_000)] {
            fs::write(&reserve.path, vec![7; found]).unwrap();
            reserve.keep().unwrap();
            assert_eq!(fs::metadata(&reserve.path).unwrap().len(), kept);
        }
    }

    #[test]
    fn what_cannot_be_kept_at_all_takes_no_room() {
        let folder = tempfile::tempdir().unwrap();
        let nowhere = Reserve::beside(&folder.path().join("gone/sf.db"), 100_000).unwrap();
        assert!(nowhere.keep().is_err());
        assert!(Reserve::beside(folder.path(), 0).is_none());
    }
}
