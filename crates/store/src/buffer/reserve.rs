//! Room on the disk that is kept for getting messages out: a file beside the buffer that is deleted when the disk is
//! full. New messages are refused from then on until the file can be made again; what takes messages out also has to
//! write, and has this much to do it with.

use crate::sqlite::{file_id::with_suffix, filler};
use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

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

    /// Keeps the room, unless it is kept already. Half of it will do: a buffer that has used some of it to empty
    /// itself gives that back to new messages, not to the disk.
    pub(super) fn keep(&self) -> io::Result<()> {
        let half = self.bytes / 2;
        if fs::metadata(&self.path).is_ok_and(|found| found.len() >= half) {
            return Ok(());
        }
        let file = File::create(&self.path)?;
        let half_kept = filler::extend(&file, 0, half).and_then(|()| file.sync_all());
        if let Err(full) = half_kept {
            self.release();
            return Err(full);
        }
        let _ = filler::extend(&file, half, self.bytes).and_then(|()| file.sync_all());
        Ok(())
    }

    /// Gives the room to whoever needs it.
    pub(super) fn release(&self) {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::warn!(file = %self.path.display(), %error, "the reserve cannot be released");
            }
            Ok(()) | Err(_) => {}
        }
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
        assert_eq!(size().unwrap(), 100_000);
        reserve.release();
        reserve.release();
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
