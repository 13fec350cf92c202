//! Pages while they are put together. Candidates come newest first, in steps, and no page looks at more than
//! [`SCAN_BOUND`] of them.
//!
//! Always true: a page that is not the last says where to go on, and the next one begins there, with neither gap nor
//! repeat.

use crate::query::{Counted, Cursor, Page, SCAN_BOUND};
use domain::Timestamp;

/// Candidates that are read at a time once the first step was not enough.
const STEP: usize = 1_000;

/// `R` is what is kept of a candidate that passes the filter.
#[derive(Debug)]
pub(crate) struct Paging<R> {
    limit: usize,
    seen: usize,
    rows: Vec<R>,
    last_row: Option<Cursor>,
    last_seen: Option<Cursor>,
    next: Option<Cursor>,
}

impl<R> Paging<R> {
    pub fn new(page: &Page) -> Self {
        Self {
            limit: page.limit.max(1) as usize,
            seen: 0,
            rows: vec![],
            last_row: None,
            last_seen: None,
            next: None,
        }
    }

    /// Keeps every candidate that passes, up to the bound: for who only wants to know how many there are.
    pub fn counting() -> Self {
        Self::new(&Page {
            limit: SCAN_BOUND,
            after: None,
        })
    }

    /// How many candidates to read next. First one more than fits, because only then is there a next page to offer.
    pub fn step(&self) -> usize {
        let step = match self.seen {
            0 => self.limit.min(STEP) + 1,
            _ => STEP,
        };
        step.min(SCAN_BOUND as usize + 1 - self.seen)
    }

    /// The next candidate, with its row if it passes the filter. Answers whether the page ends here although there may
    /// be more.
    pub fn take(&mut self, place: Cursor, row: Option<R>) -> bool {
        if self.seen == SCAN_BOUND as usize {
            self.next = self.last_seen;
            return true;
        }
        self.seen += 1;
        self.last_seen = Some(place);
        let Some(row) = row else { return false };
        if self.rows.len() == self.limit {
            self.next = self.last_row;
            return true;
        }
        self.rows.push(row);
        self.last_row = Some(place);
        false
    }

    /// The rows, and where the next page begins if there is one.
    pub fn finish(self) -> (Vec<R>, Option<Cursor>) {
        (self.rows, self.next)
    }

    /// How many passed.
    pub fn count(self) -> Counted {
        let passed = self.rows.len() as u64;
        match self.next {
            None => Counted::Exactly(passed),
            Some(_) => Counted::AmongNewest(passed),
        }
    }
}

impl Cursor {
    /// Where a page begins: before `to`, and after the last page.
    pub(crate) fn newest(to: Option<Timestamp>, after: Option<Cursor>) -> Cursor {
        let before = to.map_or(Cursor::END, |at| Cursor { at, seq: i64::MIN });
        after.map_or(before, |cursor| before.min(cursor))
    }

    /// Above every place.
    pub(crate) const END: Cursor = Cursor {
        at: Timestamp::from_millis(i64::MAX),
        seq: i64::MAX,
    };
}

#[cfg(test)]
#[path = "paging_tests.rs"]
mod tests;
