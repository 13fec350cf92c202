//! What a sweep counted, in words.

use super::Swept;
use domain::chain;
use std::error::Error;

/// What a sweep counted: only what there was some of is named, and one of a thing is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    pub words: String,
    /// There was something to do.
    pub any: bool,
}

/// How many of what: one of it, several of it.
pub type Count = (u64, &'static str, &'static str);

impl Work {
    /// Something was done, which is not counted.
    pub fn done(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            any: true,
        }
    }

    pub fn nothing(words: impl Into<String>) -> Self {
        Self {
            words: words.into(),
            any: false,
        }
    }

    /// "parked 2 notifications, 1 event"; `nothing` where every count is zero. `did` is empty where the counts say it themselves.
    pub fn of(did: &str, counts: &[Count], nothing: &str) -> Self {
        let some = counts.iter().filter(|(n, ..)| *n > 0);
        let named: Vec<_> = some
            .map(|(n, one, many)| format!("{n} {}", if *n == 1 { one } else { many }))
            .collect();
        match named.is_empty() {
            true => Self::nothing(nothing),
            false => Self::done(format!("{did} {}", named.join(", ")).trim_start()),
        }
    }
}

impl From<Work> for Swept {
    fn from(work: Work) -> Self {
        match work.any {
            true => Self::did(work.words),
            false => Self::idle(work.words),
        }
    }
}

impl<E: Error> From<Result<Work, E>> for Swept {
    fn from(result: Result<Work, E>) -> Self {
        result.map_or_else(|error| Self::failed(chain(&error)), Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_there_was_some_of_is_named_and_one_of_a_thing_is_one() {
        let counts = |a, b, c| [(a, "event", "events"), (b, "key", "keys"), (c, "count", "counts")];
        let work = Work::of("purged", &counts(1, 0, 2), "nothing was past its time");
        assert_eq!(
            (work.words.as_str(), work.any),
            ("purged 1 event, 2 counts", true)
        );
        let itself = Work::of("", &counts(0, 1, 0), "nothing");
        assert_eq!(itself.words, "1 key");
        let none = Work::of("purged", &counts(0, 0, 0), "nothing was past its time");
        assert_eq!(
            (none.words.as_str(), none.any),
            ("nothing was past its time", false)
        );
    }
}
