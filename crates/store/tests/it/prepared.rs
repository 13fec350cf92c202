//! Every statement is prepared against a migrated database: instead of checking SQL when compiling, when testing.

use crate::harness::open_sqlite_at;
use rusqlite::Connection;

/// The statements of a folder by name.
pub fn statements(folder: &str) -> Vec<(String, String)> {
    let folder = format!("{}/{folder}", env!("CARGO_MANIFEST_DIR"));
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    found.sort();
    found
}

/// A migrated database of its own, and what keeps it.
pub fn migrated() -> (Connection, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("waypost.db");
    drop(open_sqlite_at(&path));
    (Connection::open(path).unwrap(), folder)
}

#[test]
fn every_sqlite_statement_is_one_and_fits_the_schema() {
    let (conn, _folder) = migrated();
    for (name, sql) in statements("src/sqlite/sql") {
        let prepared = conn.prepare(&sql);
        assert!(prepared.is_ok(), "{name}: {}", prepared.unwrap_err());
        assert!(
            !sql.trim_end().ends_with(';') && !sql.contains(";\n"),
            "{name}: one statement, no semicolon"
        );
    }
}
