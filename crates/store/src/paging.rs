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
mod tests {
    use super::*;

    fn place(seq: i64) -> Cursor {
        Cursor {
            at: Timestamp::EPOCH,
            seq,
        }
    }

    /// Reads as the databases do: steps of candidates from `count` down to 1, of which `passes` are wanted.
    fn page(limit: u32, after: i64, passes: impl Fn(i64) -> bool) -> (Vec<i64>, Option<i64>, usize) {
        let mut paging = Paging::new(&Page { limit, after: None });
        let (mut from, mut read) = (after, 0);
        'full: loop {
            let step = paging.step();
            let candidates: Vec<i64> = (1..from).rev().take(step).collect();
            read += candidates.len();
            for seq in &candidates {
                if paging.take(place(*seq), passes(*seq).then_some(*seq)) {
                    break 'full;
                }
                from = *seq;
            }
            if candidates.len() < step {
                break;
            }
        }
        let (rows, next) = paging.finish();
        (rows, next.map(|cursor| cursor.seq), read)
    }

    #[test]
    fn a_full_page_reads_one_candidate_more_and_goes_on_after_its_last_row() {
        assert_eq!(page(3, 11, |_| true), (vec![10, 9, 8], Some(8), 4));
        assert_eq!(page(3, 4, |_| true), (vec![3, 2, 1], None, 3));
        assert_eq!(
            page(0, 3, |_| true),
            (vec![2], Some(2), 2),
            "no page is empty by request"
        );
    }

    #[test]
    fn a_page_that_reached_the_bound_goes_on_where_it_stopped_looking() {
        let bound = i64::from(SCAN_BOUND);
        let (rows, next, read) = page(5, 3 * bound + 1, |_| false);
        assert_eq!((rows, next), (vec![], Some(2 * bound + 1)));
        assert_eq!(read, SCAN_BOUND as usize + 1);
        let (rows, next, _) = page(5, bound + 1, |seq| seq == 1);
        assert_eq!(
            (rows, next),
            (vec![1], None),
            "what is just within it is found, and is the end"
        );
        let (_, next, read) = page(u32::MAX, 3 * bound, |_| true);
        assert_eq!((next, read), (Some(2 * bound), SCAN_BOUND as usize + 1));
    }

    #[test]
    fn a_page_begins_before_the_end_of_the_time_asked_for_and_after_the_last_page() {
        let at = |millis, seq| Cursor {
            at: Timestamp::from_millis(millis),
            seq,
        };
        let to = Some(Timestamp::from_millis(10));
        assert_eq!(Cursor::newest(None, None), Cursor::END);
        assert_eq!(Cursor::newest(to, None), at(10, i64::MIN));
        assert_eq!(Cursor::newest(to, Some(at(9, 7))), at(9, 7));
        assert_eq!(Cursor::newest(to, Some(at(11, 7))), at(10, i64::MIN));
    }
}
