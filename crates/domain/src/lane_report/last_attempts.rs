//! How the last attempts of a lane went.

use crate::code;

/// Attempts of a lane that are looked at, from the newest.
pub const LAST_ATTEMPTS: usize = 5;

/// How the last attempts went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastAttempts {
    /// At most [`LAST_ATTEMPTS`], newest first: the code of each that failed, the far end's own where it has one.
    codes: Vec<Option<String>>,
}

impl LastAttempts {
    /// The next older one, with the codes of its failure. One that failed for its message's or its recipient's sake says
    /// nothing against the far end, which answered.
    pub fn add(&mut self, code: Option<String>, own: Option<String>) {
        if self.codes.len() < LAST_ATTEMPTS {
            let of_far_end = code.filter(|code| !code::is_of_one_message(code));
            self.codes.push(of_far_end.map(|code| own.unwrap_or(code)));
        }
    }

    pub fn count(&self) -> usize {
        self.codes.len()
    }

    pub fn failed(&self) -> usize {
        self.codes.iter().flatten().count()
    }

    /// Of the newest that failed.
    pub fn code(&self) -> Option<&str> {
        self.codes.iter().flatten().next().map(String::as_str)
    }

    /// More of them failed than not. A single failure is only worth another try.
    pub(super) fn is_failing(&self) -> bool {
        self.failed() > 1 && 2 * self.failed() > self.count()
    }
}
