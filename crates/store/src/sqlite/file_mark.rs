//! Whether a log belongs to the file beside it, as far as what stands in both can tell: a file that was written over in
//! place is still the same file to the system.

use std::{fmt, fs::File, io, os::unix::fs::FileExt, path::Path, str::FromStr};

/// A log that was begun anew counts its number up by one. So many times at most since it was noted.
const LOGS_SINCE_NOTED: u32 = 1 << 16;

/// What stands in the first page of a file: the number it got when it was opened, and how often that page was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileMark {
    pub generation: u32,
    changes: u32,
}

impl FileMark {
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        Ok(Self {
            generation: word(file, 60)?,
            changes: word(file, 24)?,
        })
    }

    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        Self::of(&File::open(path)?)
    }

    /// Whether a file with this mark can have become one with that: moving a log into it only ever counts changes up.
    pub(crate) fn can_become(self, later: Self) -> bool {
        self.generation == later.generation && self.changes <= later.changes
    }
}

/// The number of the log at this path; none while nothing was written to it.
pub(crate) fn log_number(path: &Path) -> Option<u32> {
    let log = File::open(path).ok()?;
    // What a log begins with, whichever way its checksums are.
    let is_log = word(&log, 0).is_ok_and(|magic| magic & !1 == 0x377f_0682);
    is_log.then(|| word(&log, 16).ok()).flatten()
}

/// Whether a log that had that number when it was noted can have this one now.
pub(crate) fn is_same_log(noted: u32, now: u32) -> bool {
    now.wrapping_sub(noted) < LOGS_SINCE_NOTED
}

fn word(file: &File, at: u64) -> io::Result<u32> {
    let mut bytes = [0; 4];
    file.read_exact_at(&mut bytes, at)?;
    Ok(u32::from_be_bytes(bytes))
}

impl fmt::Display for FileMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.generation, self.changes)
    }
}

impl FromStr for FileMark {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (generation, changes) = text.split_once(':').ok_or(())?;
        Ok(Self {
            generation: generation.parse().map_err(drop)?,
            changes: changes.parse().map_err(drop)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_earlier_or_of_another_start_is_not_the_one_that_was_noted() {
        let mark = |generation, changes| FileMark { generation, changes };
        assert!(mark(7, 10).can_become(mark(7, 10)));
        assert!(mark(7, 10).can_become(mark(7, 12)));
        assert!(!mark(7, 10).can_become(mark(7, 9)));
        assert!(!mark(7, 10).can_become(mark(8, 12)));
        assert_eq!(mark(7, 10).to_string().parse(), Ok(mark(7, 10)));
        assert!(is_same_log(5, 5) && is_same_log(u32::MAX, 0) && !is_same_log(5, 4));
    }
}
