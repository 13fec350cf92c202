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

    /// Keeps the room, unless it is kept already.
    pub(super) fn keep(&self) -> io::Result<()> {
        if fs::metadata(&self.path).is_ok_and(|found| found.len() == self.bytes) {
            return Ok(());
        }
        self.write().inspect_err(|_| self.release())
    }

    fn write(&self) -> io::Result<()> {
        let mut file = File::create(&self.path)?;
        let (mut left, mut piece) = (self.bytes, [0u8; PIECE]);
        let mut noise: u32 = 0x9e37_79b9;
        while left > 0 {
            // Nothing that a file system could store in less than its length.
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
    fn what_cannot_be_kept_as_a_whole_takes_no_room() {
        let folder = tempfile::tempdir().unwrap();
        let nowhere = Reserve::beside(&folder.path().join("gone/sf.db"), 100_000).unwrap();
        assert!(nowhere.keep().is_err());
        assert!(Reserve::beside(folder.path(), 0).is_none());
    }
}
