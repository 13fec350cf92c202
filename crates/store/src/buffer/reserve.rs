//! Room on the disk that is kept for getting messages out: a file beside the buffer that is deleted when the disk is
//! full. New messages are refused from then on until the file can be made again; what takes messages out also has to
//! write, and has this much to do it with.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

#[derive(Debug)]
pub(super) struct Reserve {
    path: PathBuf,
    bytes: u64,
}

/// Written at once.
const PIECE: usize = 64 << 10;

impl Reserve {
    /// None where nothing is to be kept.
    pub(super) fn beside(buffer: &Path, bytes: u64) -> Option<Self> {
        let mut path = buffer.as_os_str().to_owned();
        path.push(".reserve");
        let path = path.into();
        (bytes > 0).then_some(Self { path, bytes })
    }

    /// Keeps the room, unless it is kept already. Half of it will do: a buffer that has used some of it to empty
    /// itself gives that back to new messages, not to the disk.
    pub(super) fn keep(&self) -> io::Result<()> {
        let half = self.bytes / 2;
        if fs::metadata(&self.path).is_ok_and(|found| found.len() >= half) {
            return Ok(());
        }
        let mut file = File::create(&self.path)?;
        if let Err(full) = fill(&mut file, half) {
            self.release();
            return Err(full);
        }
        match fill(&mut file, self.bytes - half) {
            Ok(()) => Ok(()),
            Err(_) => file.set_len(half),
        }
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

/// Adds so many bytes that no file system could store in fewer.
fn fill(file: &mut File, bytes: u64) -> io::Result<()> {
    let (mut left, mut piece) = (bytes, [0u8; PIECE]);
    let mut noise: u32 = 0x9e37_79b9;
    while left > 0 {
        for byte in &mut piece {
            noise ^= noise << 13;
            noise ^= noise >> 17;
            noise ^= noise << 5;
            *byte = noise.to_le_bytes()[0];
        }
        let n = left.min(PIECE as u64);
        file.write_all(&piece[..n as usize])?;
        left -= n;
    }
    file.sync_all()
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
