use super::*;
use crate::{buffer::sql, schema::BUFFER};
use domain::pair::RowValue;
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
        RowValue::Integer(number) => Some(number),
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
