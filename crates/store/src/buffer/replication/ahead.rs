//! Rows of a table that were read before anybody asked for them.

use super::image::cells;
use crate::Result;
use domain::pair::{Value, change::Row};
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
            bytes += row.iter().map(Value::weight).sum::<usize>();
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
mod tests {
    use super::*;
    use crate::{buffer::sql, schema::BUFFER};
    use rusqlite::Connection;

    fn file(numbers: impl IntoIterator<Item = i64>, bytes: usize) -> Connection {
        let mut conn = Connection::open_in_memory().unwrap();
        put(&mut conn, numbers.into_iter().map(|number| (number, bytes)));
        conn
    }

    fn put(conn: &mut Connection, rows: impl IntoIterator<Item = (i64, usize)>) {
        BUFFER.runner().unwrap().run(conn).unwrap();
        for (number, bytes) in rows {
            let body = format!("\"{:bytes$}\"", "");
            conn.execute(sql::put_telemetry, params![number, body, None::<i64>])
                .unwrap();
        }
    }

    fn asked(conn: &Connection, keys: impl IntoIterator<Item = i64>) -> Vec<Option<i64>> {
        let (mut image, mut ahead) = (conn.prepare(sql::image_telemetry).unwrap(), Ahead::default());
        let mut number = |key| match ahead.row(&mut image, key).unwrap()?.first()? {
            Value::Integer(number) => Some(*number),
            _ => None,
        };
        keys.into_iter().map(&mut number).collect()
    }

    #[test]
    fn each_row_is_found_by_its_key_in_whichever_order_and_none_that_is_not_there() {
        let conn = file((1..=400).filter(|n| n % 7 != 0), 1);
        let found = |key: i64| ((1..=400).contains(&key) && key % 7 != 0).then_some(key);
        let onward = 1..=410;
        let back = (1..=400).rev();
        let jumps = (0..400).map(|n| 1 + (n * 37) % 400);
        let keys: Vec<_> = onward
            .chain(back)
            .chain(jumps)
            .chain([i64::MAX, i64::MIN])
            .collect();
        let expected: Vec<_> = keys.iter().map(|key| found(*key)).collect();
        assert_eq!(asked(&conn, keys), expected);
    }

    #[test]
    fn large_rows_are_found_although_few_of_them_are_read_at_once() {
        let conn = file(1..=60, MOST_BYTES / 3);
        let expected: Vec<_> = (1..=60).map(Some).collect();
        assert_eq!(asked(&conn, 1..=60), expected);
    }

    #[test]
    fn a_row_that_cannot_be_read_keeps_nobody_from_the_rows_before_and_behind_it() {
        const DAMAGED: i64 = 12;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("buffer.db");
        let size = |number| if number == DAMAGED { 60_000 } else { 1 };
        let mut conn = Connection::open(&path).unwrap();
        put(&mut conn, (1..=40).map(|number| (number, size(number))));
        drop(conn);
        // Where its pages say which page is next.
        let mut bytes = std::fs::read(&path).unwrap();
        let (mut lost, is_of_its_body) = (0, |page: &[u8]| page[4..].iter().all(|byte| *byte == b' '));
        for page in bytes.chunks_exact_mut(4096).filter(|page| is_of_its_body(page)) {
            page[..4].fill(0xff);
            lost += 1;
        }
        assert!(lost > 0);
        std::fs::write(&path, bytes).unwrap();
        let conn = Connection::open(&path).unwrap();
        let (mut image, mut ahead) = (conn.prepare(sql::image_telemetry).unwrap(), Ahead::default());
        for key in 1..=40 {
            let found = ahead.row(&mut image, key);
            let is_there = found.is_ok_and(|row| row.is_some());
            assert_eq!(is_there, key != DAMAGED, "{key}");
        }
    }
}
