//! Rows of a table that were read before anybody asked for them.

use super::image::cells;
use crate::Result;
use domain::pair::Row;
use rusqlite::{Statement, params};
use std::{collections::VecDeque, ops::RangeInclusive};

/// Rows that are read at once at most, and about how many bytes: what is not asked for was read in vain.
const MOST_ROWS: i64 = 64;
const MOST_BYTES: usize = 64 << 10;

/// Of one snapshot. Keys are asked for in any order, and most often one after the other.
#[derive(Debug)]
pub(super) struct Ahead {
    /// What there is of these keys is in `rows`.
    known: RangeInclusive<i64>,
    rows: VecDeque<(i64, Row)>,
    /// How many were read at once the last time.
    width: i64,
}

impl Default for Ahead {
    fn default() -> Self {
        Self {
            known: NOTHING,
            rows: VecDeque::new(),
            width: 1,
        }
    }
}

#[allow(clippy::reversed_empty_ranges, reason = "no key is in it")]
const NOTHING: RangeInclusive<i64> = 0..=-1;

impl Ahead {
    /// The row with this key, if it is there. `image` reads rows from a key to another, so many at most, the key first.
    pub fn row(&mut self, image: &mut Statement<'_>, key: i64) -> Result<Option<Row>> {
        if !self.known.contains(&key) {
            self.read(image, key)?;
        }
        while self.rows.front().is_some_and(|(number, _)| *number < key) {
            self.rows.pop_front();
        }
        // Whoever asks for an earlier one later finds it in the file.
        self.known = key.saturating_add(1)..=*self.known.end();
        let is_next = self.rows.front().is_some_and(|(number, _)| *number == key);
        Ok(is_next
            .then(|| self.rows.pop_front())
            .flatten()
            .map(|(_, row)| row))
    }

    fn read(&mut self, image: &mut Statement<'_>, first: i64) -> Result<()> {
        let goes_on = first == self.known.end().saturating_add(1);
        self.width = if goes_on {
            (2 * self.width).min(MOST_ROWS)
        } else {
            1
        };
        let read = self.fill(image, first);
        if read.is_err() && self.width > 1 {
            // It may be a damaged row that nobody asks for.
            self.width = 1;
            return self.fill(image, first);
        }
        read
    }

    fn fill(&mut self, image: &mut Statement<'_>, first: i64) -> Result<()> {
        self.rows.clear();
        self.known = NOTHING;
        let mut last = first.saturating_add(self.width - 1);
        let mut found = image.query(params![first, last, self.width])?;
        let mut bytes = 0;
        while let Some(row) = found.next()? {
            let (number, row) = (row.get(0)?, cells(row)?);
            bytes += row.weight();
            self.rows.push_back((number, row));
            if bytes >= MOST_BYTES {
                last = number;
                break;
            }
        }
        self.known = first..=last;
        Ok(())
    }
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
